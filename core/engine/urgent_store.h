#pragma once
// Storing a request that cannot wait for a disk.

#include <deque>
#include <memory>
#include <optional>
#include <thread>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/store/job_store.h"

namespace cuzk::engine {

/// Accepts requests in a thread of its own, so that no caller waits for a disk that hangs. Thread-safe.
class UrgentStore {
 public:
  explicit UrgentStore(store::JobStore& store);
  ~UrgentStore();

  /// As JobStore::Accept, but UNAVAILABLE if the store has not answered within kUrgentPatience; what it stores later is
  /// deleted again. The request is copied: the disk may need it for longer than its caller waits.
  StatusOr<int64_t> Accept(const store::StoredJob& job, const filecoin::VanillaRequest& request, uint64_t most_bytes);

 private:
  struct Attempt {
    store::StoredJob job;
    filecoin::VanillaRequest request;
    uint64_t most_bytes = 0;
    std::optional<StatusOr<int64_t>> answer;
    bool abandoned = false;
  };
  void Run(const std::stop_token& stop);

  store::JobStore& store_;
  Mutex mutex_;
  Condition asked_, answered_;
  std::deque<std::shared_ptr<Attempt>> attempts_ ABSL_GUARDED_BY(mutex_);  // an attempt is guarded as well
  std::jthread thread_;                                                    // last: joined first
};

}  // namespace cuzk::engine
