#pragma once
// Operations that wait inside, as on a disk that hangs, for as long as a test wants.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace cuzk::testing_support {

/// Thread-safe.
class Hanging {
 public:
  /// From now on the operations that are named in the text wait; those named before go on.
  void Hold(std::string_view operations) {
    std::lock_guard lock(mutex_);
    held_ = operations;
    changed_.notify_all();
  }
  void Release() { Hold(""); }
  /// Until an operation waits.
  void AwaitOne() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return inside_ > 0; });
  }
  /// For StoreOptions::seam.
  std::function<void(std::string_view)> seam() {
    return [this](std::string_view operation) {
      std::unique_lock lock(mutex_);
      auto held = [&] { return held_.find(operation) != std::string::npos; };
      if (!held()) return;
      ++inside_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return !held(); });
      --inside_;
    };
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string held_;
  int inside_ = 0;
};

}  // namespace cuzk::testing_support
