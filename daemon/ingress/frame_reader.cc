#include "daemon/ingress/frame_reader.h"

#include <algorithm>
#include <utility>

#include "daemon/ingress/http2_frames.h"

namespace cuzk::daemon {
using namespace http2;  // NOLINT: its names are those of the RFC
namespace {

/// The frame of control that is collected as a whole: any that has no headers is far smaller.
constexpr uint32_t kLargestControl = FrameReader::kHeaderBlock + 262;

}  // namespace

FrameReader::FrameReader(FrameHandler& handler, Time now) : handler_(handler), now_(now), waiting_since_(now) {}

std::optional<FrameReader::Time> FrameReader::waiting_since() const {
  return !greeted_ || in_block_ ? std::optional(waiting_since_) : std::nullopt;
}

Status FrameReader::Read(std::string_view bytes, Time now) {
  now_ = now;
  Status status;
  while (!bytes.empty() && status.ok()) {
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

Status FrameReader::TakePreface(std::string_view& bytes) {
  const bool whole = Collect(bytes, collected_, kPreface.size());
  // No frame would tell anything to a client that speaks something else.
  if (!kPreface.starts_with(collected_)) return absl::InvalidArgumentError("the client does not speak HTTP/2");
  if (!whole) return absl::OkStatus();
  handler_.OnPreface();
  collected_.clear();
  step_ = Step::kHead;
  return absl::OkStatus();
}

Status FrameReader::TakeHead(std::string_view& bytes) {
  if (!Collect(bytes, collected_, kHeadBytes)) return absl::OkStatus();
  const std::string_view head = collected_;
  head_ = {.length = ReadNumber(head.substr(0, 3)),
           .type = static_cast<uint8_t>(head[3]),
           .flags = static_cast<uint8_t>(head[4]),
           .stream = ReadNumber(head.substr(5)) & 0x7FFFFFFF};
  collected_.clear();
  return BeginFrame();
}

Status FrameReader::BeginFrame() {
  if (!greeted_ && head_.type != kSettings) {
    return handler_.Break(kProtocolError, "the first frame is not SETTINGS");
  }
  greeted_ = true;
  if (in_block_ && (head_.type != kContinuation || head_.stream != block_head_.stream)) {
    return handler_.Break(kProtocolError, "a frame interrupts a header block");
  }
  left_ = head_.length;
  padding_ = 0;
  if (head_.type == kData) {
    if (head_.stream == 0) return handler_.Break(kProtocolError, "a DATA frame has no stream");
    CUZK_RETURN_IF_ERROR(handler_.OnDataFrame(head_));
    step_ = (head_.flags & kPadded) != 0 ? Step::kPadLength : Step::kData;
    if (left_ > 0) return absl::OkStatus();
    if (step_ == Step::kPadLength) {
      return handler_.Break(kProtocolError, "a padded frame is too short for the length of its padding");
    }
    step_ = Step::kHead;
    return handler_.OnData(head_.stream, "", (head_.flags & kEndStream) != 0);
  }
  if (head_.type > kContinuation) {  // of no meaning: dropped
    CUZK_RETURN_IF_ERROR(handler_.Spend(1));
    step_ = left_ > 0 ? Step::kSkip : Step::kHead;
    return absl::OkStatus();
  }
  if (head_.length > kLargestControl) {
    return handler_.Break(kFrameSizeError, StrCat("a control frame has ", head_.length, " bytes"));
  }
  step_ = Step::kControl;
  return left_ > 0 ? absl::OkStatus() : EndControl();
}

Status FrameReader::TakeControl(std::string_view& bytes) {
  return Collect(bytes, collected_, left_) ? EndControl() : absl::OkStatus();
}

Status FrameReader::TakeData(std::string_view& bytes) {
  const bool ends = (head_.flags & kEndStream) != 0;
  if (step_ == Step::kPadLength) {
    padding_ = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (padding_ > --left_) {
      return handler_.Break(kProtocolError, "a frame's padding is longer than the frame");
    }
    left_ -= padding_;
    handler_.OnPadding(head_.stream, padding_ + uint64_t{1});
    step_ = Step::kData;
    if (left_ == 0) CUZK_RETURN_IF_ERROR(handler_.OnData(head_.stream, "", ends));
  } else {
    const std::string_view piece = bytes.substr(0, std::min<size_t>(left_, kPiece));
    bytes.remove_prefix(piece.size());
    left_ -= static_cast<uint32_t>(piece.size());
    if (step_ == Step::kData) CUZK_RETURN_IF_ERROR(handler_.OnData(head_.stream, piece, ends && left_ == 0));
  }
  if (left_ > 0) return absl::OkStatus();
  left_ = std::exchange(padding_, 0);
  step_ = left_ > 0 ? Step::kSkip : Step::kHead;
  return absl::OkStatus();
}

Status FrameReader::EndControl() {
  const std::string payload = std::exchange(collected_, {});
  step_ = Step::kHead;
  if (head_.type == kHeaders || head_.type == kContinuation) return AddHeaders(payload);
  return handler_.OnControl(head_, payload);
}

Status FrameReader::AddHeaders(std::string_view payload) {
  if (head_.type == kHeaders) {
    uint32_t padding = 0;
    if ((head_.flags & kPadded) != 0 && !payload.empty()) {
      padding = static_cast<unsigned char>(payload.front());
      payload.remove_prefix(1);
    }
    if ((head_.flags & kWithPriority) != 0) {
      if (payload.size() < 5) return handler_.Break(kProtocolError, "HEADERS is too short for its priority");
      payload.remove_prefix(5);
    }
    if (padding > payload.size()) return handler_.Break(kProtocolError, "HEADERS is too short for its padding");
    payload.remove_suffix(padding);
    if (head_.stream % 2 == 0) return handler_.Break(kProtocolError, "a client opened a stream with an even number");
    block_head_ = head_;
    waiting_since_ = now_;
    block_.clear();
  } else if (!in_block_) {
    return handler_.Break(kProtocolError, "CONTINUATION does not follow headers");
  }
  CUZK_RETURN_IF_ERROR(handler_.Spend(1));
  block_ += payload;
  in_block_ = (head_.flags & kEndHeaders) == 0;
  if (block_.size() > kHeaderBlock) {
    return handler_.Break(kEnhanceYourCalm, StrCat("headers have more than ", kHeaderBlock, " bytes"));
  }
  if (in_block_) return absl::OkStatus();
  const std::string block = std::exchange(block_, {});
  return handler_.OnHeaders(block_head_.stream, (block_head_.flags & kEndStream) != 0, block);
}

}  // namespace cuzk::daemon
