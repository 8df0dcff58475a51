#pragma once
// Threads are passed in, never hidden: a function that computes in parallel takes a ThreadPool& and uses no others.

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "core/base/mutex.h"

namespace cuzk {

/// A fixed number of threads. ParallelFor may be called from several threads at once and from inside a task: the
/// caller always works too, so it cannot wait for itself. The destructor runs what is queued and joins.
class ThreadPool {
 public:
  /// `threads` counts the caller of ParallelFor: 1 means that everything runs in the caller. 0 means one per core.
  explicit ThreadPool(size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t size() const { return threads_.size() + 1; }

  /// Calls body(begin, end) over disjoint pieces that cover [0, n), each of at least `grain` items but the last;
  /// returns when all have returned. Pieces are handed out dynamically.
  void ParallelFor(size_t n, size_t grain, const std::function<void(size_t, size_t)>& body);

 private:
  void Run();
  Mutex mutex_;
  Condition wake_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::jthread> threads_;
};

}  // namespace cuzk
