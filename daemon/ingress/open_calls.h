#pragma once
// The calls of one connection and what they take of the account of arriving messages.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "daemon/ingress/ingress_memory.h"

namespace cuzk::daemon {

/// A message that is refused reaches its handler as this byte, which begins no message of protobuf, a status code and a
/// text.
inline constexpr char kRefusalMark = '\0';

/// The calls that gRPC's server has not ended, by their streams. Not thread-safe.
class OpenCalls {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Seconds = std::chrono::seconds;

  /// What an open call takes of the account, headers not counted.
  static constexpr uint64_t kCallBytes = uint64_t{16} << 10;
  /// How long a client may take for the first message of a call. A message has as long, and a second more for each
  /// kSlowestRate bytes.
  static constexpr Seconds kPatience{60};
  static constexpr uint64_t kSlowestRate = uint64_t{256} << 10;
  /// Frames of data below this size cost gRPC more than what is in them: a message may have kSmallFrames of them, and
  /// one more for each kSmallFrame bytes.
  static constexpr uint32_t kSmallFrame = 256, kSmallFrames = 64;

  struct Parts {
    IngressMemory* memory = nullptr;  ///< must outlive the calls
    uint64_t max_message = 0;
    /// Called where a call finds no room: ends another connection, or returns false.
    std::function<bool()> make_room = {};
  };
  /// What becomes of a piece of data.
  struct Passed {
    std::string data;          ///< goes on to gRPC
    bool refused = false;      ///< the call was refused, by this piece or before: nothing after `data` goes on
    uint64_t dropped = 0;      ///< bytes that were sent and do not go on
    std::string refusal = {};  ///< if this piece was refused: the message that gRPC gets instead, the last of the call
  };

  /// `connection` is the number by which gRPC names the connection to handlers ("fd:12").
  OpenCalls(Parts parts, int connection);
  ~OpenCalls();
  OpenCalls(const OpenCalls&) = delete;
  OpenCalls& operator=(const OpenCalls&) = delete;

  bool contains(uint32_t stream) const { return calls_.contains(stream); }
  /// A call begins whose headers may decode to `header_list` bytes. False, and nothing taken, if there is no room.
  bool Open(uint32_t stream, uint64_t header_list, Time now);
  /// Counts a frame of data below kSmallFrame; false if the call's message may have no more of them.
  bool TakeSmallFrame(uint32_t stream);
  /// Takes data of an open call.
  Passed Pass(uint32_t stream, std::string_view piece, bool end, Time now);
  /// The call ends, and its messages count no more; whether it was refused. Nothing happens if it is not open.
  bool End(uint32_t stream);
  /// The calls of which something should have arrived before `now`.
  std::vector<uint32_t> Overdue(Time now) const;
  /// Nothing of this connection counts any more.
  void Forget();
  /// What calls hold whose first message has not arrived.
  uint64_t waiting_bytes() const { return waiting_bytes_; }

 private:
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

  bool PassMessages(Call& call, std::string_view piece, Time now, std::string& passed);
  bool BeginMessage(Call& call, Time now);
  void Refuse(Call& call, const std::string& text);
  void HasArrived(Call& call);

  const Parts parts_;
  IngressMemory& memory_;
  int connection_;
  uint64_t waiting_bytes_ = 0;
  std::map<uint32_t, Call> calls_;
  std::map<uint64_t, size_t> messages_;  // of all calls, by length
};

}  // namespace cuzk::daemon
