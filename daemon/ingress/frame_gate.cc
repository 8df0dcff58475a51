#include "daemon/ingress/frame_gate.h"

#include <algorithm>
#include <utility>

#include "daemon/ingress/http2_frames.h"

namespace cuzk::daemon {
using namespace http2;  // NOLINT: its names are those of the RFC
namespace {

/// A reset, or a call that is turned away, costs more than other frames of control.
constexpr double kResetCost = 10;

}  // namespace

FrameGate::FrameGate(Parts parts, int connection, Time now)
    : calls_(std::move(parts), connection),
      client_([this](uint32_t stream) {
        const bool refused = calls_.End(stream);
        if (refused) client_.Tell(kResetStream, stream, Number(0));  // the client need not send the rest
      }),
      reader_(*this, now),
      now_(now),
      frames_at_(now) {}

Status FrameGate::FromClient(std::string_view bytes, Time now) {
  now_ = now;
  if (ended_) return absl::OkStatus();
  Status status = reader_.Read(bytes, now);
  ended_ = !status.ok();
  return status;
}

Status FrameGate::Tick(Time now) {
  now_ = now;
  if (ended_) return absl::OkStatus();
  if (const auto since = reader_.waiting_since(); since && now - *since > kPatience) {
    return Break(kEnhanceYourCalm,
                 reader_.greeted() ? "the headers did not end in time" : "the first frame did not arrive in time");
  }
  for (uint32_t stream : calls_.Overdue(now)) {
    Reset(stream, kEnhanceYourCalm);
    calls_.End(stream);
  }
  return absl::OkStatus();
}

void FrameGate::OnPreface() { to_server_ += kPreface; }

Status FrameGate::OnDataFrame(const FrameHead& head) {
  if (head.length >= OpenCalls::kSmallFrame || calls_.TakeSmallFrame(head.stream)) return absl::OkStatus();
  return Spend(1);
}

Status FrameGate::OnData(uint32_t stream, std::string_view piece, bool end) {
  const uint8_t flags = end ? kEndStream : 0;
  if (!calls_.contains(stream)) {  // gRPC drops what arrives for a call that has ended
    AppendFrame(to_server_, kData, flags, stream, piece);
    return absl::OkStatus();
  }
  const OpenCalls::Passed passed = calls_.Pass(stream, piece, end, now_);
  if (!passed.data.empty() || (end && !passed.refused)) {
    AppendFrame(to_server_, kData, passed.refused ? 0 : flags, stream, passed.data);
  }
  if (!passed.refused) return absl::OkStatus();
  Credit(0, passed.dropped);
  if (passed.refusal.empty()) return absl::OkStatus();
  AppendFrame(to_server_, kData, kEndStream, stream, passed.refusal);
  return Spend(1);
}

Status FrameGate::OnHeaders(uint32_t stream, bool end, const std::string& block) {
  const std::optional<uint64_t> bound = headers_.Bound(block);
  if (!bound) return Break(kCompressionError, "headers are malformed");
  if (*bound > kHeaderList) {
    return Break(kEnhanceYourCalm, StrCat("headers may decode to more than ", kHeaderList, " bytes"));
  }
  for (size_t at = 0; at == 0 || at < block.size(); at += kPiece) {
    const bool last = at + kPiece >= block.size();
    const auto flags = static_cast<uint8_t>((at == 0 && end ? kEndStream : 0) | (last ? kEndHeaders : 0));
    AppendFrame(to_server_, at == 0 ? kHeaders : kContinuation, flags, stream,
                std::string_view(block).substr(at, kPiece));
  }
  if (stream <= last_stream_) return absl::OkStatus();  // of a call that is open, or was
  last_stream_ = stream;
  if (calls_.Open(stream, *bound, now_)) return absl::OkStatus();
  Reset(stream, kRefusedStream);
  return Spend(kResetCost);
}

Status FrameGate::OnControl(const FrameHead& head, const std::string& payload) {
  switch (head.type) {
    case kPushPromise:
      return Break(kProtocolError, "a client sent PUSH_PROMISE");
    case kPriority:
      return Spend(1);  // gRPC makes no use of it
    case kResetStream:
      if (payload.size() != 4) return Break(kFrameSizeError, "RST_STREAM does not have 4 bytes");
      CUZK_RETURN_IF_ERROR(Spend(kResetCost));
      calls_.End(head.stream);
      break;
    case kSettings:
      if (payload.size() % 6 != 0) return Break(kFrameSizeError, "the length of SETTINGS is not a multiple of 6");
      CUZK_RETURN_IF_ERROR(Spend(1.0 + static_cast<double>(payload.size()) / 6));
      break;
    case kPing:
      if (payload.size() != 8) return Break(kFrameSizeError, "PING does not have 8 bytes");
      CUZK_RETURN_IF_ERROR(Spend(1));
      break;
    case kWindowUpdate:
      if (payload.size() != 4) return Break(kFrameSizeError, "WINDOW_UPDATE does not have 4 bytes");
      CUZK_RETURN_IF_ERROR(Spend(1));
      break;
    case kGoAway:
      CUZK_RETURN_IF_ERROR(Spend(kResetCost));
      break;
    default:
      return absl::OkStatus();
  }
  AppendFrame(to_server_, head.type, head.flags, head.stream, payload);
  return absl::OkStatus();
}

Status FrameGate::Spend(double frames) {
  const double passed = std::chrono::duration<double>(now_ - frames_at_).count();
  frames_at_ = now_;
  frames_ = std::min(kControlBurst, frames_ + passed * kControlRate) - frames;
  if (frames_ >= 0) return absl::OkStatus();
  return Break(kEnhanceYourCalm, "too many frames that carry no data");
}

Status FrameGate::Break(uint32_t code, const std::string& text) {
  ended_ = true;
  client_.Tell(kGoAway, 0, Number(last_stream_) + Number(code) + text);
  return code == kEnhanceYourCalm ? absl::ResourceExhaustedError(text) : absl::InvalidArgumentError(text);
}

void FrameGate::Reset(uint32_t stream, uint32_t code_for_client) {
  AppendFrame(to_server_, kResetStream, 0, stream, Number(kCancel));
  client_.Tell(kResetStream, stream, Number(code_for_client));
}

void FrameGate::Credit(uint32_t stream, uint64_t bytes) {
  if (bytes == 0) return;
  const std::string size = Number(static_cast<uint32_t>(bytes));
  client_.Tell(kWindowUpdate, 0, size);
  if (stream != 0 && calls_.contains(stream)) client_.Tell(kWindowUpdate, stream, size);
}

}  // namespace cuzk::daemon
