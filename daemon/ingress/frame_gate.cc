#include "daemon/ingress/frame_gate.h"

#include <algorithm>
#include <utility>

#include "daemon/ingress/http2_frames.h"

namespace cuzk::daemon {
using namespace http2;  // NOLINT: its names are those of the RFC
namespace {

/// The frame of control that is collected as a whole: any that has no headers is far smaller.
constexpr uint32_t kLargestControl = FrameGate::kHeaderBlock + 262;
/// A reset, or a call that is turned away, costs more than other frames of control.
constexpr double kResetCost = 10;

}  // namespace

FrameGate::FrameGate(Parts parts, int connection, Time now)
    : parts_(std::move(parts)),
      memory_(*parts_.memory),
      connection_(connection),
      now_(now),
      waiting_since_(now),
      frames_at_(now) {}

FrameGate::~FrameGate() { Forget(); }

void FrameGate::Forget() {
  if (connection_ >= 0) memory_.Gone(connection_);
  connection_ = -1;
  for (const auto& [stream, call] : calls_) memory_.Return(call.held);
  calls_.clear();
  messages_.clear();
  waiting_bytes_ = 0;
}

Status FrameGate::FromClient(std::string_view bytes, Time now) {
  now_ = now;
  Status status;
  while (!bytes.empty() && !ended_ && status.ok()) {
    switch (step_) {
      case Step::kPreface:
        status = TakePreface(bytes);
        break;
      case Step::kHead:
        status = TakeHead(bytes);
        break;
      case Step::kControl:
        status = TakeControl(bytes);
        break;
      case Step::kPadLength:
      case Step::kData:
      case Step::kSkip:
        status = TakeData(bytes);
        break;
    }
  }
  return status;
}

Status FrameGate::TakePreface(std::string_view& bytes) {
  const bool whole = Collect(bytes, collected_, kPreface.size());
  if (!kPreface.starts_with(collected_)) {
    ended_ = true;  // it speaks something else: no frame would tell it anything
    return absl::InvalidArgumentError("the client does not speak HTTP/2");
  }
  if (!whole) return absl::OkStatus();
  to_server_ += collected_;
  collected_.clear();
  step_ = Step::kHead;
  return absl::OkStatus();
}

Status FrameGate::TakeHead(std::string_view& bytes) {
  if (!Collect(bytes, collected_, kHeadBytes)) return absl::OkStatus();
  const std::string_view head = collected_;
  head_ = {.length = ReadNumber(head.substr(0, 3)),
           .type = static_cast<uint8_t>(head[3]),
           .flags = static_cast<uint8_t>(head[4]),
           .stream = ReadNumber(head.substr(5)) & 0x7FFFFFFF};
  collected_.clear();
  return BeginFrame();
}

Status FrameGate::BeginFrame() {
  if (!greeted_ && head_.type != kSettings) return End(kProtocolError, "the first frame is not SETTINGS");
  greeted_ = true;
  if (in_block_ && (head_.type != kContinuation || head_.stream != block_head_.stream)) {
    return End(kProtocolError, "a frame stands within a block of headers");
  }
  left_ = head_.length;
  padding_ = 0;
  if (head_.type == kData) {
    if (head_.stream == 0) return End(kProtocolError, "a frame of data has no stream");
    if (head_.length < kSmallFrame) {
      auto call = calls_.find(head_.stream);
      const bool counted = call != calls_.end() && call->second.left > 0 && call->second.small_frames > 0;
      if (counted) --call->second.small_frames;
      if (!counted) CUZK_RETURN_IF_ERROR(Spend(1));
    }
    step_ = (head_.flags & kPadded) != 0 ? Step::kPadLength : Step::kData;
    if (left_ > 0) return absl::OkStatus();
    if (step_ == Step::kPadLength) return End(kProtocolError, "a padded frame has no room for its padding");
    step_ = Step::kHead;
    return PassData("", (head_.flags & kEndStream) != 0);
  }
  if (head_.type > kContinuation) {  // of no meaning: dropped
    CUZK_RETURN_IF_ERROR(Spend(1));
    step_ = left_ > 0 ? Step::kSkip : Step::kHead;
    return absl::OkStatus();
  }
  if (head_.length > kLargestControl)
    return End(kFrameSizeError, StrCat("a frame of control has ", head_.length, " bytes"));
  step_ = Step::kControl;
  return left_ > 0 ? absl::OkStatus() : EndControl();
}

Status FrameGate::TakeControl(std::string_view& bytes) {
  return Collect(bytes, collected_, left_) ? EndControl() : absl::OkStatus();
}

Status FrameGate::TakeData(std::string_view& bytes) {
  const bool ends = (head_.flags & kEndStream) != 0;
  if (step_ == Step::kPadLength) {
    padding_ = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (padding_ > --left_) return End(kProtocolError, "a frame's padding is longer than the frame");
    left_ -= padding_;
    Credit(head_.stream, padding_ + uint64_t{1});
    step_ = Step::kData;
    if (left_ == 0) CUZK_RETURN_IF_ERROR(PassData("", ends));
  } else {
    const std::string_view piece = bytes.substr(0, std::min<size_t>(left_, kPiece));
    bytes.remove_prefix(piece.size());
    left_ -= static_cast<uint32_t>(piece.size());
    if (step_ == Step::kData) CUZK_RETURN_IF_ERROR(PassData(piece, ends && left_ == 0));
  }
  if (left_ > 0) return absl::OkStatus();
  left_ = std::exchange(padding_, 0);
  step_ = left_ > 0 ? Step::kSkip : Step::kHead;
  return absl::OkStatus();
}

Status FrameGate::EndControl() {
  const std::string payload = std::exchange(collected_, {});
  step_ = Step::kHead;
  switch (head_.type) {
    case kHeaders:
    case kContinuation:
      return AddHeaders(payload);
    case kPushPromise:
      return End(kProtocolError, "a client promised a stream");
    case kPriority:
      return Spend(1);  // gRPC makes no use of it
    case kResetStream:
      if (payload.size() != 4) return End(kFrameSizeError, "RST_STREAM has not 4 bytes");
      CUZK_RETURN_IF_ERROR(Spend(kResetCost));
      EndCall(head_.stream);
      break;
    case kSettings:
      if (payload.size() % 6 != 0) return End(kFrameSizeError, "SETTINGS is not a number of settings");
      CUZK_RETURN_IF_ERROR(Spend(1.0 + static_cast<double>(payload.size()) / 6));
      break;
    case kPing:
      if (payload.size() != 8) return End(kFrameSizeError, "PING has not 8 bytes");
      CUZK_RETURN_IF_ERROR(Spend(1));
      break;
    case kWindowUpdate:
      if (payload.size() != 4) return End(kFrameSizeError, "WINDOW_UPDATE has not 4 bytes");
      CUZK_RETURN_IF_ERROR(Spend(1));
      break;
    case kGoAway:
      CUZK_RETURN_IF_ERROR(Spend(kResetCost));
      break;
    default:
      return absl::OkStatus();
  }
  AppendFrame(to_server_, head_.type, head_.flags, head_.stream, payload);
  return absl::OkStatus();
}

Status FrameGate::AddHeaders(std::string_view payload) {
  if (head_.type == kHeaders) {
    uint32_t padding = 0;
    if ((head_.flags & kPadded) != 0 && !payload.empty()) {
      padding = static_cast<unsigned char>(payload.front());
      payload.remove_prefix(1);
    }
    if ((head_.flags & kWithPriority) != 0) {
      if (payload.size() < 5) return End(kProtocolError, "HEADERS is too short for its priority");
      payload.remove_prefix(5);
    }
    if (padding > payload.size()) return End(kProtocolError, "HEADERS is too short for its padding");
    payload.remove_suffix(padding);
    if (head_.stream % 2 == 0) return End(kProtocolError, "a client's stream has an odd number");
    block_head_ = head_;
    waiting_since_ = now_;
    block_.clear();
  } else if (!in_block_) {
    return End(kProtocolError, "CONTINUATION follows no headers");
  }
  CUZK_RETURN_IF_ERROR(Spend(1));
  block_ += payload;
  in_block_ = (head_.flags & kEndHeaders) == 0;
  if (block_.size() > kHeaderBlock)
    return End(kEnhanceYourCalm, StrCat("headers have more than ", kHeaderBlock, " bytes"));
  return in_block_ ? absl::OkStatus() : EndHeaders();
}

Status FrameGate::EndHeaders() {
  const std::string block = std::exchange(block_, {});
  const std::optional<uint64_t> bound = headers_.Bound(block);
  if (!bound) return End(kCompressionError, "headers are malformed");
  if (*bound > kHeaderList)
    return End(kEnhanceYourCalm, StrCat("headers may decode to more than ", kHeaderList, " bytes"));
  const uint32_t stream = block_head_.stream;
  for (size_t at = 0; at == 0 || at < block.size(); at += kPiece) {
    const bool last = at + kPiece >= block.size();
    const auto flags = static_cast<uint8_t>((at == 0 ? block_head_.flags & kEndStream : 0) | (last ? kEndHeaders : 0));
    AppendFrame(to_server_, at == 0 ? kHeaders : kContinuation, flags, stream,
                std::string_view(block).substr(at, kPiece));
  }
  if (stream <= last_stream_) return absl::OkStatus();  // of a call that is open, or was
  last_stream_ = stream;
  const uint64_t held = kCallBytes + 2 * *bound;
  while (!memory_.Take(held)) {
    if (parts_.make_room && parts_.make_room()) continue;
    Reset(stream, kRefusedStream);
    return Spend(kResetCost);
  }
  calls_[stream] = {.held = held, .overdue = now_ + kPatience};
  waiting_bytes_ += held;
  return absl::OkStatus();
}

Status FrameGate::Tick(Time now) {
  now_ = now;
  if (ended_) return absl::OkStatus();
  if ((!greeted_ || in_block_) && now - waiting_since_ > kPatience) {
    return End(kEnhanceYourCalm, greeted_ ? "headers do not end" : "the first frame does not come");
  }
  std::vector<uint32_t> overdue;
  for (const auto& [stream, call] : calls_) {
    if (call.overdue < now) overdue.push_back(stream);
  }
  for (uint32_t stream : overdue) {
    Reset(stream, kEnhanceYourCalm);
    EndCall(stream);
  }
  return absl::OkStatus();
}

Status FrameGate::Spend(double frames) {
  const double passed = std::chrono::duration<double>(now_ - frames_at_).count();
  frames_at_ = now_;
  frames_ = std::min(kControlBurst, frames_ + passed * kControlRate) - frames;
  if (frames_ >= 0) return absl::OkStatus();
  return End(kEnhanceYourCalm, "too many frames that carry no data");
}

Status FrameGate::End(uint32_t code, const std::string& text) {
  ended_ = true;
  TellClient(kGoAway, 0, Number(last_stream_) + Number(code) + text);
  return code == kEnhanceYourCalm ? absl::ResourceExhaustedError(text) : absl::InvalidArgumentError(text);
}

void FrameGate::Credit(uint32_t stream, uint64_t bytes) {
  if (bytes == 0) return;
  const std::string size = Number(static_cast<uint32_t>(bytes));
  TellClient(kWindowUpdate, 0, size);
  if (stream != 0 && calls_.contains(stream)) TellClient(kWindowUpdate, stream, size);
}

}  // namespace cuzk::daemon
