#pragma once
// What a client sends over HTTP/2 (RFC 9113), looked at before gRPC sees it. The library of the distribution keeps
// header blocks of any size, and messages of up to 2 GiB until it refuses them, none of it in its quota; what passes
// here is bounded.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "daemon/ingress/header_block.h"
#include "daemon/ingress/ingress_memory.h"

namespace cuzk::daemon {

/// A message that is refused reaches its handler as this byte, which begins no message of protobuf, a status code and a
/// text.
inline constexpr char kRefusalMark = '\0';

/// One connection between a client and gRPC's server. Bytes and times come in, bytes go out; nothing else is touched
/// but the account. Not thread-safe.
class FrameGate {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Seconds = std::chrono::seconds;

  /// The most that a block of headers may have, as sent and as decoded. gRPC is told to take as much as the second, so
  /// that it never has to refuse one.
  static constexpr size_t kHeaderBlock = size_t{32} << 10;
  static constexpr uint64_t kHeaderList = uint64_t{64} << 10;
  /// What an open call takes of the account, headers not counted.
  static constexpr uint64_t kCallBytes = uint64_t{16} << 10;
  /// How long a client may take for its first frame, for a block of headers, and for the first message of a call. A
  /// message has as long, and a second more for each kSlowestRate bytes.
  static constexpr Seconds kPatience{60};
  static constexpr uint64_t kSlowestRate = uint64_t{256} << 10;
  /// Frames that carry no data: so many at once, and so many a second.
  static constexpr double kControlBurst = 10'000, kControlRate = 1'000;
  /// Frames of data below this size cost gRPC more than what is in them: a message may have kSmallFrames of them, and
  /// one more for each kSmallFrame bytes.
  static constexpr uint32_t kSmallFrame = 256, kSmallFrames = 64;

  struct Parts {
    IngressMemory* memory = nullptr;  ///< must outlive the gate
    uint64_t max_message = 0;
    /// Called where a call finds no room: ends another connection, or returns false.
    std::function<bool()> make_room = {};
  };

  /// `connection` is the number by which gRPC names the connection to handlers ("fd:12").
  FrameGate(Parts parts, int connection, Time now);
  ~FrameGate();
  FrameGate(const FrameGate&) = delete;
  FrameGate& operator=(const FrameGate&) = delete;

  /// Takes what the client sent. An error ends the connection: InvalidArgument for broken frames, ResourceExhausted for
  /// too many or too large ones. `to_client` tells the client.
  Status FromClient(std::string_view bytes, Time now);
  /// Takes what gRPC's server sent.
  void FromServer(std::string_view bytes);
  /// Ends what takes too long. To be called about once a second; errors as of FromClient.
  Status Tick(Time now);
  /// Nothing of this connection counts any more; to be called once gRPC's side is closed, before another connection
  /// gets its number.
  void Forget();
  /// What calls hold whose first message has not arrived.
  uint64_t waiting_bytes() const { return waiting_bytes_; }

  /// What is to be sent on; the caller takes it out from the front.
  std::string& to_server() { return to_server_; }
  std::string& to_client() { return to_client_; }
  const std::string& to_server() const { return to_server_; }
  const std::string& to_client() const { return to_client_; }

 private:
  struct Head {
    uint32_t length = 0;
    uint8_t type = 0, flags = 0;
    uint32_t stream = 0;
  };
  /// A call that the server has not ended.
  struct Call {
    uint64_t held = 0;                    // of the account
    std::string prefix;                   // what has arrived of a message's prefix
    uint64_t left = 0;                    // of the message that arrives
    uint64_t small_frames = 0;            // that it may still have
    Time overdue{};                       // when what is waited for must have arrived
    bool waiting = true;                  // for its first message
    bool refused = false;                 // what the client sends further is dropped
    std::map<uint64_t, size_t> messages;  // by length, how many began
  };
  using Calls = std::map<uint32_t, Call>;

  // Each takes what it needs from the front of the bytes.
  Status TakePreface(std::string_view& bytes);
  Status TakeHead(std::string_view& bytes);
  Status TakeControl(std::string_view& bytes);
  Status TakeData(std::string_view& bytes);
  Status BeginFrame();
  Status EndControl();
  Status AddHeaders(std::string_view payload);
  Status EndHeaders();
  Status PassData(std::string_view piece, bool end);
  bool PassMessages(Calls::iterator call, std::string_view piece, std::string& passed);
  bool BeginMessage(Calls::iterator call);
  void Refuse(Calls::iterator call, absl::StatusCode code, const std::string& text);
  void Reset(uint32_t stream, uint32_t code_for_client);
  void EndCall(uint32_t stream);
  void HasArrived(Call& call);
  Status Spend(double frames);
  Status End(uint32_t code, const std::string& text);
  void Credit(uint32_t stream, uint64_t bytes);
  void TellClient(uint8_t type, uint32_t stream, std::string_view payload);
  void EndServerFrame();

  const Parts parts_;
  IngressMemory& memory_;
  int connection_;
  uint64_t waiting_bytes_ = 0;
  std::string to_server_, to_client_;
  Time now_;
  bool ended_ = false;

  // From the client.
  enum class Step { kPreface, kHead, kControl, kPadLength, kData, kSkip } step_ = Step::kPreface;
  std::string collected_;                    // of what is looked at as a whole
  Head head_, block_head_;                   // of the frame, and of the block of headers, that arrive
  uint32_t left_ = 0, padding_ = 0;          // of the frame that arrives
  std::string block_;                        // headers that have not ended
  bool greeted_ = false, in_block_ = false;  // the first frame has come; a block of headers has not ended
  Time waiting_since_;                       // for either of these
  uint32_t last_stream_ = 0;
  HeaderBlocks headers_;
  Calls calls_;
  std::map<uint64_t, size_t> messages_;  // of all calls, by length
  double frames_ = kControlBurst;
  Time frames_at_;

  // From the server.
  std::string server_head_;
  uint32_t server_left_ = 0;
  bool server_in_block_ = false;
  uint32_t server_ends_ = 0;  // the call that ends with the frame, or the block, that passes
  std::string held_back_;     // for the client, once that is over
};

}  // namespace cuzk::daemon
