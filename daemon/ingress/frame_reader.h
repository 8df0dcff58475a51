#pragma once
// Reads the frames of HTTP/2 (RFC 9113) that a client sends, whatever the pieces in which they arrive.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace cuzk::daemon {

/// What stands before the payload of a frame.
struct FrameHead {
  uint32_t length = 0;
  uint8_t type = 0, flags = 0;
  uint32_t stream = 0;
};

/// What is done with the frames that are read. An error ends the reading.
class FrameHandler {
 public:
  virtual ~FrameHandler() = default;
  /// The bytes with which every connection begins have arrived.
  virtual void OnPreface() = 0;
  /// A frame of data begins.
  virtual Status OnDataFrame(const FrameHead& head) = 0;
  /// A piece of the data of a stream, without padding; `end`: the client sends no more on the stream.
  virtual Status OnData(uint32_t stream, std::string_view piece, bool end) = 0;
  /// Bytes of padding, which are not passed on, were sent on a stream.
  virtual void OnPadding(uint32_t stream, uint64_t bytes) = 0;
  /// A whole block of headers; `end` as for OnData.
  virtual Status OnHeaders(uint32_t stream, bool end, const std::string& block) = 0;
  /// Any other frame as a whole, of a type that RFC 9113 knows.
  virtual Status OnControl(const FrameHead& head, const std::string& payload) = 0;
  /// So many frames that carry no data were sent, of those that no other function is told of.
  virtual Status Spend(double frames) = 0;
  /// The client broke a rule: `code` is that of RFC 9113, section 7. Returns an error.
  virtual Status Break(uint32_t code, const std::string& text) = 0;
};

/// Of one connection. Keeps at most one frame of control and one block of headers; data passes in pieces. Not
/// thread-safe.
class FrameReader {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The most that a block of headers may have, as sent.
  static constexpr size_t kHeaderBlock = size_t{32} << 10;

  /// The handler must outlive the reader.
  FrameReader(FrameHandler& handler, Time now);
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;

  /// Takes what the client sent. Errors are those of the handler, and InvalidArgument if the client does not speak
  /// HTTP/2 at all. To be called no more after an error.
  Status Read(std::string_view bytes, Time now);

  /// The first frame has come.
  bool greeted() const { return greeted_; }
  /// Since when the first frame, or the end of a block of headers, is waited for; nothing if neither is.
  std::optional<Time> waiting_since() const;

 private:
  // Each takes what it needs from the front of the bytes.
  Status TakePreface(std::string_view& bytes);
  Status TakeHead(std::string_view& bytes);
  Status TakeControl(std::string_view& bytes);
  Status TakeData(std::string_view& bytes);
  Status BeginFrame();
  Status EndControl();
  Status AddHeaders(std::string_view payload);

  FrameHandler& handler_;
  enum class Step { kPreface, kHead, kControl, kPadLength, kData, kSkip } step_ = Step::kPreface;
  std::string collected_;                    // of what is looked at as a whole
  FrameHead head_, block_head_;              // of the frame, and of the block of headers, that arrive
  uint32_t left_ = 0, padding_ = 0;          // of the frame that arrives
  std::string block_;                        // headers that have not ended
  bool greeted_ = false, in_block_ = false;  // the first frame has come; a block of headers has not ended
  Time now_, waiting_since_;                 // the latter for either of these
};

}  // namespace cuzk::daemon
