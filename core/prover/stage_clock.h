#pragma once
// Records the timeline of a partition, stage by stage, and passes progress on.

#include <algorithm>
#include <utility>

#include "core/prover/device.h"

namespace cuzk::prover {

/// One thread. Each stage lasts until the next begins.
class StageClock {
 public:
  /// `total` is the work of all stages in any unit.
  StageClock(uint64_t total, Progress progress) : total_(total), progress_(std::move(progress)) {}

  /// Ends the stage that runs, whose work was `work`, and begins `stage`.
  void Begin(std::string_view stage, uint64_t work) {
    End();
    timeline_.push_back({stage, std::chrono::steady_clock::now(), {}});
    running_ = true;
    work_ = work;
  }
  void End() {
    if (!running_) return;
    running_ = false;
    timeline_.back().end = std::chrono::steady_clock::now();
    done_ += work_;
    if (progress_) progress_(std::min(done_, total_), total_);
  }
  /// The timeline so far; the last stage is ended.
  Timeline Take() {
    End();
    return std::move(timeline_);
  }

 private:
  Timeline timeline_;
  const uint64_t total_;
  const Progress progress_;
  uint64_t done_ = 0, work_ = 0;
  bool running_ = false;
};

}  // namespace cuzk::prover
