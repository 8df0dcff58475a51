#pragma once
// What takes much memory while it is read is given to few at once.

#include <atomic>
#include <memory>

namespace cuzk::daemon {

/// Thread-safe. Must outlive its places.
class FewAtOnce {
 public:
  explicit FewAtOnce(int most) : left_(most) {}

  /// A place until the last copy goes; null if all are taken.
  std::shared_ptr<void> Enter() {
    if (left_.fetch_sub(1) > 0) return {&left_, [](std::atomic<int>* left) { left->fetch_add(1); }};
    left_.fetch_add(1);
    return nullptr;
  }

 private:
  std::atomic<int> left_;
};

}  // namespace cuzk::daemon
