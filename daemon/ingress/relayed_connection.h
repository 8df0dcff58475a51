#pragma once
// One client's connection in the relay: its bytes go to gRPC's server and back through a gate.

#include <cstdint>
#include <span>
#include <string>

#include "daemon/ingress/client_stream.h"
#include "daemon/ingress/frame_gate.h"

namespace cuzk::daemon {

/// Never waits: moves what can be moved, and says what it waits for. Not thread-safe.
class RelayedConnection {
 public:
  using Time = FrameGate::Time;
  /// What is waited for, as events of epoll; 0: the side is closed or of no interest.
  struct Interest {
    uint32_t client = 0, server = 0;
  };
  /// More than this is never read ahead of what the other side takes.
  static constexpr size_t kBacklog = size_t{64} << 10;
  /// How long a client whose connection is ended may take to read the last frames, and how much it may send until then.
  static constexpr std::chrono::seconds kLinger{2};
  static constexpr size_t kLingerBytes = size_t{4} << 20;

  /// `server`: the relay's end of a socket pair whose other end gRPC has under `number`.
  RelayedConnection(ClientStream client, Descriptor server, int number, FrameGate::Parts parts, Time now);

  /// Moves bytes both ways, at most a buffer's length each. True if it would move more without waiting.
  bool Pump(std::span<char> buffer, Time now);
  /// To be called about once a second.
  void Tick(Time now);
  Interest Wanted() const;
  /// Pump would read from the client, though no event of its socket will say so.
  bool readable() const { return client_ == Client::kOpen && has_room() && stream_.holds_bytes(); }
  /// Both sides are over.
  bool over() const { return client_ == Client::kGone && !server_.open(); }
  /// Why the gate, or TLS, ended the connection; OK otherwise. Told once.
  Status TakeError();

  int client_fd() const { return stream_.fd(); }
  int server_fd() const { return server_.get(); }
  int number() const { return number_; }
  /// gRPC has closed its end, and its number may be another connection's by now.
  void ForgetNumber() { gate_.Forget(); }
  /// What its calls hold whose first message has not arrived; nothing once it is ended.
  uint64_t waiting_bytes() const { return server_.open() ? gate_.waiting_bytes() : 0; }
  /// Ends it, with an error that TakeError tells: others need the room.
  void GiveRoom();

 private:
  enum class Client {
    kOpen,    ///< read and written
    kEnding,  ///< takes the last bytes; what it sends is dropped
    kGone
  };
  bool ReadClient(std::span<char> buffer, Time now);
  void ReadServer(std::span<char> buffer);
  void WriteServer();
  void WriteClient(Time now);
  bool has_room() const { return gate_.to_server().size() < kBacklog && gate_.to_client().size() < kBacklog; }
  void LoseClient();
  void EndWith(Status why);

  ClientStream stream_;
  Descriptor server_;
  const int number_;
  FrameGate gate_;
  Client client_ = Client::kOpen;
  bool told_end_ = false;  // the client has been told that nothing more comes
  Time gone_by_{};         // when an ending client is given up
  size_t dropped_ = 0;     // of what it sends
  Status error_;
};

}  // namespace cuzk::daemon
