#pragma once
// Records the timeline of a partition, stage by stage, and passes progress on.

#include <algorithm>
#include <utility>

#include "core/prover/device/device.h"

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
  /// Tells how much of the running stage is done. One thread at a time, and only while Begin and End are not called.
  void Within(uint64_t done, uint64_t total) {
    const double part = static_cast<double>(work_) * static_cast<double>(done) / static_cast<double>(total);
    const uint64_t now = done_ + std::min(work_, static_cast<uint64_t>(part));
    // Often enough for any bar, seldom enough to cost nothing.
    if (!progress_ || now < told_ + total_ / kReports) return;
    told_ = now;
    progress_(std::min(now, total_), total_);
  }
  void End() {
    if (!running_) return;
    running_ = false;
    timeline_.back().end = std::chrono::steady_clock::now();
    done_ += work_;
    told_ = done_;
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
  static constexpr uint64_t kReports = 500;
  uint64_t done_ = 0, work_ = 0;
  uint64_t told_ = 0;  // what was reported last
  bool running_ = false;
};

}  // namespace cuzk::prover
