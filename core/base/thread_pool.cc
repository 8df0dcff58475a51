#include "core/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "core/base/thread.h"

namespace cuzk {
namespace {

/// One ParallelFor. Tasks left in the queue after it ended find nothing to do.
struct Loop {
  Loop(size_t n, size_t piece, const std::function<void(size_t, size_t)>* body) : n(n), piece(piece), body(body) {}

  void Work() {
    for (;;) {
      size_t begin = next.fetch_add(piece);
      if (begin >= n) return;
      size_t end = std::min(n, begin + piece);
      (*body)(begin, end);
      if (done.fetch_add(end - begin) + (end - begin) == n) {
        MutexLock lock(mutex);
        finished = true;
        all_done.NotifyAll();
      }
    }
  }

  const size_t n, piece;
  const std::function<void(size_t, size_t)>* body;  // valid until all pieces are done
  std::atomic<size_t> next{0}, done{0};
  Mutex mutex;
  Condition all_done;
  bool finished ABSL_GUARDED_BY(mutex) = false;
};

}  // namespace

ThreadPool::ThreadPool(size_t threads) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  for (size_t i = 1; i < threads; ++i) {
    StatusOr<std::jthread> thread = StartThread("computing", [this] { Run(); });
    if (!thread.ok()) break;
    threads_.push_back(*std::move(thread));
  }
}

ThreadPool::~ThreadPool() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
}

void ThreadPool::Run() {
  MutexLock lock(mutex_);
  for (;;) {
    while (!stop_ && queue_.empty()) wake_.Wait(mutex_);
    if (queue_.empty()) return;
    auto task = std::move(queue_.front());
    queue_.pop_front();
    lock.Unlock();
    task();
    lock.Lock();
  }
}

void ThreadPool::ParallelFor(size_t n, size_t grain, const std::function<void(size_t, size_t)>& body) {
  if (n == 0) return;
  grain = std::max<size_t>(1, grain);
  // About eight pieces a thread keep the threads busy to the end when pieces differ in cost.
  size_t piece = std::max(grain, n / (8 * size()) + 1);
  size_t pieces = (n + piece - 1) / piece;
  if (pieces == 1 || threads_.empty()) {
    for (size_t begin = 0; begin < n; begin += piece) body(begin, std::min(n, begin + piece));
    return;
  }
  auto loop = std::make_shared<Loop>(n, piece, &body);
  {
    MutexLock lock(mutex_);
    for (size_t i = 0; i < std::min(pieces - 1, threads_.size()); ++i) queue_.emplace_back([loop] { loop->Work(); });
  }
  wake_.NotifyAll();
  loop->Work();
  Loop& whole = *loop;
  MutexLock lock(whole.mutex);
  while (!whole.finished) whole.all_done.Wait(whole.mutex);
}

}  // namespace cuzk
