#pragma once
// Addresses of listeners and clients, in the forms that gRPC's own name syntax has.

#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace cuzk::daemon {

struct Address {
  enum class Kind { kUnixPath, kUnixAbstract, kTcp } kind = Kind::kTcp;
  std::string path;  ///< of the socket, or the abstract name
  std::string host;
  unsigned port = 0;

  /// Whether only this machine can reach it.
  bool IsLocal() const;
  /// As gRPC takes it.
  std::string Target() const;
};

/// unix:PATH, unix:///PATH, unix-abstract:NAME, HOST:PORT, [IPV6]:PORT, dns:///HOST:PORT. InvalidArgument otherwise, or
/// if a path is longer than a socket's name may be.
StatusOr<Address> ParseAddress(std::string_view text);
/// Several, separated by commas; at least one.
StatusOr<std::vector<Address>> ParseAddresses(std::string_view text);

/// Whether a process cannot listen on both: the same one, or the same port where one stands for every address. Port 0
/// is a free one.
bool Collide(const Address& a, const Address& b);

/// OK if a socket may be made at the path: nothing is there, or a socket that no process serves (it is replaced).
/// FailedPrecondition, naming what is in the way.
Status CheckSocketPath(const std::string& path);

/// The socket file that was bound at a path, told from whatever has the path later.
class BoundSocket {
 public:
  /// Of the file that is there now.
  explicit BoundSocket(std::string path);
  BoundSocket(BoundSocket&& other) noexcept;
  BoundSocket& operator=(BoundSocket&&) = delete;
  ~BoundSocket();
  /// Removes it, unless the path is another file's by now.
  void Remove() const;

 private:
  std::string path_;
  int file_;  // holds the inode, so that no other file gets its number
};

}  // namespace cuzk::daemon
