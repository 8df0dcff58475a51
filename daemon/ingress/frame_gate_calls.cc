// FrameGate: calls and their messages, and what gRPC's server sends.

#include <algorithm>
#include <utility>

#include "daemon/ingress/frame_gate.h"
#include "daemon/ingress/http2_frames.h"

namespace cuzk::daemon {
using namespace http2;  // NOLINT: its names are those of the RFC

Status FrameGate::PassData(std::string_view piece, bool end) {
  const uint8_t flags = end ? kEndStream : 0;
  auto call = calls_.find(head_.stream);
  if (call == calls_.end()) {  // gRPC drops what arrives for a call that has ended
    AppendFrame(to_server_, kData, flags, head_.stream, piece);
    return absl::OkStatus();
  }
  if (call->second.refused) {
    Credit(0, piece.size());
    return absl::OkStatus();
  }
  const uint64_t before = call->second.prefix.size() + piece.size();
  std::string passed;
  const bool refused = !PassMessages(call, piece, passed);
  if (end && !refused) passed += std::exchange(call->second.prefix, {});
  const bool passes = !passed.empty() || (end && !refused);
  if (passes) AppendFrame(to_server_, kData, refused ? 0 : flags, head_.stream, passed);
  if (!refused) return absl::OkStatus();
  Credit(0, before - passed.size());
  const std::string text = std::exchange(call->second.prefix, {});
  AppendFrame(to_server_, kData, kEndStream, head_.stream, text);
  return Spend(1);
}

bool FrameGate::PassMessages(Calls::iterator call, std::string_view piece, std::string& passed) {
  Call& c = call->second;
  while (!piece.empty()) {
    if (c.left > 0) {
      const std::string_view inside = piece.substr(0, std::min<uint64_t>(c.left, piece.size()));
      passed += inside;
      piece.remove_prefix(inside.size());
      c.left -= inside.size();
    } else {
      if (!Collect(piece, c.prefix, kPrefixBytes)) break;
      if (!BeginMessage(call)) return false;
      passed += std::exchange(c.prefix, {});
    }
    if (c.left == 0) HasArrived(c);
  }
  return true;
}

void FrameGate::HasArrived(Call& call) {
  call.overdue = Time::max();
  if (std::exchange(call.waiting, false)) waiting_bytes_ -= call.held;
}

bool FrameGate::BeginMessage(Calls::iterator call) {
  Call& c = call->second;
  const uint64_t length = ReadNumber(std::string_view(c.prefix).substr(1));
  const uint64_t largest = std::min(parts_.max_message, memory_.LargestMessage());
  if (length > largest) {
    Refuse(call, absl::StatusCode::kResourceExhausted,
           StrCat("message larger than max (", length, " vs. ", largest,
                  largest < parts_.max_message ? "): more do not fit in grpc.ingress_memory" : "): grpc.max_message"));
    return false;
  }
  if (!memory_.Arrive(connection_, length)) {
    Refuse(call, absl::StatusCode::kResourceExhausted,
           StrCat("no room for a message of ", length,
                  " bytes: other messages are arriving (grpc.ingress_memory); try again"));
    return false;
  }
  ++c.messages[length];
  ++messages_[length];
  c.left = length;
  c.small_frames = kSmallFrames + length / kSmallFrame;
  c.overdue = now_ + kPatience + Seconds(length / kSlowestRate);
  return true;
}

void FrameGate::Refuse(Calls::iterator call, absl::StatusCode code, const std::string& text) {
  Call& c = call->second;
  std::string message{kRefusalMark, static_cast<char>(code)};
  message += text;
  c.refused = true;
  HasArrived(c);
  c.prefix = StrCat(std::string(1, '\0'), Number(static_cast<uint32_t>(message.size())), message);
}

void FrameGate::Reset(uint32_t stream, uint32_t code_for_client) {
  AppendFrame(to_server_, kResetStream, 0, stream, Number(kCancel));
  TellClient(kResetStream, stream, Number(code_for_client));
}

void FrameGate::EndCall(uint32_t stream) {
  auto call = calls_.find(stream);
  if (call == calls_.end()) return;
  for (const auto& [length, count] : call->second.messages) {
    auto all = messages_.find(length);
    all->second -= count;
    if (connection_ >= 0) memory_.Limit(connection_, length, all->second);
    if (all->second == 0) messages_.erase(all);
  }
  HasArrived(call->second);
  memory_.Return(call->second.held);
  calls_.erase(call);
}

void FrameGate::TellClient(uint8_t type, uint32_t stream, std::string_view payload) {
  const bool between = server_left_ == 0 && !server_in_block_;
  AppendFrame(between ? to_client_ : held_back_, type, 0, stream, payload);
}

void FrameGate::FromServer(std::string_view bytes) {
  while (!bytes.empty()) {
    if (server_left_ > 0) {
      const std::string_view inside = bytes.substr(0, server_left_);
      to_client_ += inside;
      bytes.remove_prefix(inside.size());
      server_left_ -= static_cast<uint32_t>(inside.size());
    } else {
      if (!Collect(bytes, server_head_, kHeadBytes)) return;
      const std::string head = std::exchange(server_head_, {});
      const auto type = static_cast<uint8_t>(head[3]), flags = static_cast<uint8_t>(head[4]);
      const uint32_t stream = ReadNumber(std::string_view(head).substr(5)) & 0x7FFFFFFF;
      server_left_ = ReadNumber(std::string_view(head).substr(0, 3));
      if (type == kHeaders || type == kContinuation) server_in_block_ = (flags & kEndHeaders) == 0;
      const bool ends = type == kResetStream || ((type == kData || type == kHeaders) && (flags & kEndStream) != 0);
      if (ends) server_ends_ = stream;
      to_client_ += head;
    }
    if (server_left_ == 0 && !server_in_block_) EndServerFrame();
  }
}

void FrameGate::EndServerFrame() {
  if (const uint32_t stream = std::exchange(server_ends_, 0); stream != 0) {
    auto call = calls_.find(stream);
    const bool refused = call != calls_.end() && call->second.refused;
    EndCall(stream);
    if (refused) TellClient(kResetStream, stream, Number(0));  // it need not send the rest
  }
  to_client_ += std::exchange(held_back_, {});
}

}  // namespace cuzk::daemon
