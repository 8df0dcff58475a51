#include "daemon/ingress/client_frames.h"

#include <utility>

#include "daemon/ingress/http2_frames.h"

namespace cuzk::daemon {
using namespace http2;  // NOLINT: its names are those of the RFC

ClientFrames::ClientFrames(std::function<void(uint32_t stream)> call_ended) : call_ended_(std::move(call_ended)) {}

void ClientFrames::Tell(uint8_t type, uint32_t stream, std::string_view payload) {
  const bool between = left_ == 0 && !in_block_;
  AppendFrame(between ? bytes_ : held_back_, type, 0, stream, payload);
}

void ClientFrames::Pass(std::string_view bytes) {
  while (!bytes.empty()) {
    if (left_ > 0) {
      const std::string_view inside = bytes.substr(0, left_);
      bytes_ += inside;
      bytes.remove_prefix(inside.size());
      left_ -= static_cast<uint32_t>(inside.size());
    } else {
      if (!Collect(bytes, head_, kHeadBytes)) return;
      BeginFrame(std::exchange(head_, {}));
    }
    if (left_ == 0 && !in_block_) EndFrame();
  }
}

void ClientFrames::BeginFrame(const std::string& head) {
  const auto type = static_cast<uint8_t>(head[3]), flags = static_cast<uint8_t>(head[4]);
  const uint32_t stream = ReadNumber(std::string_view(head).substr(5)) & 0x7FFFFFFF;
  left_ = ReadNumber(std::string_view(head).substr(0, 3));
  if (type == kHeaders || type == kContinuation) in_block_ = (flags & kEndHeaders) == 0;
  const bool ends = type == kResetStream || ((type == kData || type == kHeaders) && (flags & kEndStream) != 0);
  if (ends) ends_ = stream;
  bytes_ += head;
}

void ClientFrames::EndFrame() {
  if (const uint32_t stream = std::exchange(ends_, 0); stream != 0) call_ended_(stream);
  bytes_ += std::exchange(held_back_, {});
}

}  // namespace cuzk::daemon
