#pragma once
// What is sent to a client over HTTP/2: the frames of gRPC's server, with those of the gate between them.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace cuzk::daemon {

/// Of one connection. A frame of the gate stands neither within a frame nor within a block of headers of the server; it
/// is kept back until these end. Not thread-safe.
class ClientFrames {
 public:
  /// `call_ended` is called with the stream of each call that the server ended, once its last frame has passed; it may
  /// call Tell.
  explicit ClientFrames(std::function<void(uint32_t stream)> call_ended);

  /// Takes what gRPC's server sent.
  void Pass(std::string_view bytes);
  /// Adds a frame of the gate.
  void Tell(uint8_t type, uint32_t stream, std::string_view payload);

  /// What is to be sent on; the caller takes it out from the front.
  std::string& bytes() { return bytes_; }
  const std::string& bytes() const { return bytes_; }

 private:
  void BeginFrame(const std::string& head);
  void EndFrame();

  const std::function<void(uint32_t stream)> call_ended_;
  std::string bytes_;
  std::string head_;       // what has arrived of the server's frame's head
  uint32_t left_ = 0;      // of the server's frame
  bool in_block_ = false;  // a block of headers has not ended
  uint32_t ends_ = 0;      // the call that ends with the frame, or the block, that passes
  std::string held_back_;  // frames of the gate, until that is over
};

}  // namespace cuzk::daemon
