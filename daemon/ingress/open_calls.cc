#include "daemon/ingress/open_calls.h"

#include <algorithm>
#include <utility>

#include "daemon/ingress/http2_frames.h"

namespace cuzk::daemon {
using http2::Collect;
using http2::kPrefixBytes;
using http2::Number;
using http2::ReadNumber;

OpenCalls::OpenCalls(Parts parts, int connection)
    : parts_(std::move(parts)), memory_(*parts_.memory), connection_(connection) {}

OpenCalls::~OpenCalls() { Forget(); }

void OpenCalls::Forget() {
  if (connection_ >= 0) memory_.Gone(connection_);
  connection_ = -1;
  for (const auto& [stream, call] : calls_) memory_.Return(call.held);
  calls_.clear();
  messages_.clear();
  waiting_bytes_ = 0;
}

bool OpenCalls::Open(uint32_t stream, uint64_t header_list, Time now) {
  const uint64_t held = kCallBytes + 2 * header_list;
  while (!memory_.Take(held)) {
    if (!parts_.make_room || !parts_.make_room()) return false;
  }
  calls_[stream] = {.held = held, .overdue = now + kPatience};
  waiting_bytes_ += held;
  return true;
}

bool OpenCalls::TakeSmallFrame(uint32_t stream) {
  auto call = calls_.find(stream);
  if (call == calls_.end() || call->second.left == 0 || call->second.small_frames == 0) return false;
  --call->second.small_frames;
  return true;
}

OpenCalls::Passed OpenCalls::Pass(uint32_t stream, std::string_view piece, bool end, Time now) {
  Call& call = calls_.at(stream);
  if (call.refused) return {.refused = true, .dropped = piece.size()};
  const uint64_t before = call.prefix.size() + piece.size();
  Passed passed;
  passed.refused = !PassMessages(call, piece, now, passed.data);
  if (passed.refused) {
    passed.dropped = before - passed.data.size();
    passed.refusal = std::exchange(call.prefix, {});
  } else if (end) {
    passed.data += std::exchange(call.prefix, {});
  }
  return passed;
}

bool OpenCalls::PassMessages(Call& call, std::string_view piece, Time now, std::string& passed) {
  while (!piece.empty()) {
    if (call.left > 0) {
      const std::string_view inside = piece.substr(0, std::min<uint64_t>(call.left, piece.size()));
      passed += inside;
      piece.remove_prefix(inside.size());
      call.left -= inside.size();
    } else {
      if (!Collect(piece, call.prefix, kPrefixBytes)) break;
      if (!BeginMessage(call, now)) return false;
      passed += std::exchange(call.prefix, {});
    }
    if (call.left == 0) HasArrived(call);
  }
  return true;
}

void OpenCalls::HasArrived(Call& call) {
  call.overdue = Time::max();
  if (std::exchange(call.waiting, false)) waiting_bytes_ -= call.held;
}

bool OpenCalls::BeginMessage(Call& call, Time now) {
  const uint64_t length = ReadNumber(std::string_view(call.prefix).substr(1));
  const uint64_t largest = std::min(parts_.max_message, memory_.LargestMessage());
  if (length > largest) {
    Refuse(call,
           StrCat("message larger than max (", length, " vs. ", largest,
                  largest < parts_.max_message ? "): more do not fit in grpc.ingress_memory" : "): grpc.max_message"));
    return false;
  }
  if (!memory_.Arrive(connection_, length)) {
    Refuse(call, StrCat("no room for a message of ", length,
                        " bytes: other messages are arriving (grpc.ingress_memory); try again"));
    return false;
  }
  ++call.messages[length];
  ++messages_[length];
  call.left = length;
  call.small_frames = kSmallFrames + length / kSmallFrame;
  call.overdue = now + kPatience + Seconds(length / kSlowestRate);
  return true;
}

void OpenCalls::Refuse(Call& call, const std::string& text) {
  std::string message{kRefusalMark, static_cast<char>(absl::StatusCode::kResourceExhausted)};
  message += text;
  call.refused = true;
  HasArrived(call);
  call.prefix = StrCat(std::string(1, '\0'), Number(static_cast<uint32_t>(message.size())), message);
}

bool OpenCalls::End(uint32_t stream) {
  auto call = calls_.find(stream);
  if (call == calls_.end()) return false;
  for (const auto& [length, count] : call->second.messages) {
    auto all = messages_.find(length);
    all->second -= count;
    if (connection_ >= 0) memory_.Limit(connection_, length, all->second);
    if (all->second == 0) messages_.erase(all);
  }
  HasArrived(call->second);
  memory_.Return(call->second.held);
  const bool refused = call->second.refused;
  calls_.erase(call);
  return refused;
}

std::vector<uint32_t> OpenCalls::Overdue(Time now) const {
  std::vector<uint32_t> overdue;
  for (const auto& [stream, call] : calls_) {
    if (call.overdue < now) overdue.push_back(stream);
  }
  return overdue;
}

}  // namespace cuzk::daemon
