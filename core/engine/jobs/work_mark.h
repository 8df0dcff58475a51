#pragma once
// Says in the job store that a worker is on a job, as long as it is.

#include "core/engine/jobs/job_record.h"
#include "core/store/job_store.h"

namespace cuzk::engine {

/// The store may be null, the job not stored: then it does nothing. A mark that cannot be written is only missing.
class WorkMark {
 public:
  WorkMark(store::JobStore* store, unsigned worker, const Job& job)
      : store_(job.row == 0 ? nullptr : store), worker_(worker) {
    if (store_ != nullptr) (void)store_->Mark(worker_, job.row);
  }
  ~WorkMark() {
    if (store_ != nullptr) (void)store_->Mark(worker_, 0);
  }
  WorkMark(const WorkMark&) = delete;
  WorkMark& operator=(const WorkMark&) = delete;

 private:
  store::JobStore* const store_;
  const unsigned worker_;
};

}  // namespace cuzk::engine
