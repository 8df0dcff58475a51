#pragma once
// What a client sends over HTTP/2 (RFC 9113), looked at before gRPC sees it. The library of the distribution keeps
// header blocks of any size, and messages of up to 2 GiB until it refuses them, none of it in its quota; what passes
// here is bounded.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "daemon/ingress/client_frames.h"
#include "daemon/ingress/frame_reader.h"
#include "daemon/ingress/header_block.h"
#include "daemon/ingress/open_calls.h"

namespace cuzk::daemon {

/// One connection between a client and gRPC's server. Bytes and times come in, bytes go out; nothing else is touched
/// but the account. Not thread-safe.
class FrameGate final : private FrameHandler {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Seconds = std::chrono::seconds;
  using Parts = OpenCalls::Parts;

  /// The most that a block of headers may have as decoded. gRPC is told to take as much, so that it never has to refuse
  /// one.
  static constexpr uint64_t kHeaderList = uint64_t{64} << 10;
  /// How long a client may take for its first frame, and for a block of headers.
  static constexpr Seconds kPatience{60};
  /// Frames that carry no data: so many at once, and so many a second.
  static constexpr double kControlBurst = 10'000, kControlRate = 1'000;

  /// `connection` is the number by which gRPC names the connection to handlers ("fd:12").
  FrameGate(Parts parts, int connection, Time now);

  /// Takes what the client sent. An error ends the connection: InvalidArgument for broken frames, ResourceExhausted for
  /// too many or too large ones. `to_client` tells the client.
  Status FromClient(std::string_view bytes, Time now);
  /// Takes what gRPC's server sent.
  void FromServer(std::string_view bytes) { client_.Pass(bytes); }
  /// Ends what takes too long. To be called about once a second; errors as of FromClient.
  Status Tick(Time now);
  /// Nothing of this connection counts any more, and what the client still sends is dropped; to be called once gRPC's
  /// side is closed, before another connection gets its number.
  void Forget() {
    calls_.Forget();
    ended_ = true;
  }
  /// What calls hold whose first message has not arrived.
  uint64_t waiting_bytes() const { return calls_.waiting_bytes(); }

  /// What is to be sent on; the caller takes it out from the front.
  std::string& to_server() { return to_server_; }
  std::string& to_client() { return client_.bytes(); }
  const std::string& to_server() const { return to_server_; }
  const std::string& to_client() const { return client_.bytes(); }

 private:
  void OnPreface() override;
  Status OnDataFrame(const FrameHead& head) override;
  Status OnData(uint32_t stream, std::string_view piece, bool end) override;
  void OnPadding(uint32_t stream, uint64_t bytes) override { Credit(stream, bytes); }
  Status OnHeaders(uint32_t stream, bool end, const std::string& block) override;
  Status OnControl(const FrameHead& head, const std::string& payload) override;
  Status Spend(double frames) override;
  Status Break(uint32_t code, const std::string& text) override;
  void Reset(uint32_t stream, uint32_t code_for_client);
  /// Gives the client room for as many bytes more, on the connection and on the stream unless it is 0.
  void Credit(uint32_t stream, uint64_t bytes);

  OpenCalls calls_;
  ClientFrames client_;
  FrameReader reader_;
  HeaderBlocks headers_;
  std::string to_server_;
  Time now_;
  bool ended_ = false;        // by an error, or by Forget
  uint32_t last_stream_ = 0;  // of the calls that began
  double frames_ = kControlBurst;
  Time frames_at_;
};

}  // namespace cuzk::daemon
