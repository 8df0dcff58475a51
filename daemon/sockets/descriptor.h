#pragma once
// A file descriptor with an owner.

#include <unistd.h>

#include <utility>

namespace cuzk::daemon {

/// Closes the descriptor when it goes. -1 stands for none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    Reset(other.Release());
    return *this;
  }
  ~Descriptor() { Reset(-1); }

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  /// Gives up the ownership.
  int Release() { return std::exchange(fd_, -1); }
  void Reset(int fd) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace cuzk::daemon
