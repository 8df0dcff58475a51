#pragma once
// What `cuzkctl top` shows: one picture of a daemon, put together from its answers.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuzk/v1/proving.pb.h"
#include "cuzkd/v1/operator.pb.h"

namespace cuzk::daemon {

/// Samples of a Prometheus text, as far as top needs them.
class MetricSamples {
 public:
  explicit MetricSamples(std::string_view text);
  /// The sum over all label values; nothing if the metric is not there.
  std::optional<double> Sum(std::string_view name) const;
  /// The sum over samples with that label value.
  std::optional<double> Sum(std::string_view name, std::string_view label, std::string_view value) const;

 private:
  struct Sample {
    std::string name, labels;
    double value;
  };
  std::vector<Sample> samples_;
};

struct TopPicture {
  struct Device {
    uint32_t ordinal = 0;
    std::string name, job;
    uint64_t total_bytes = 0, free_bytes = 0;
    std::optional<double> busy;  ///< 0 to 1 since the picture before
  };
  struct Queue {
    std::string kind;
    uint32_t pending = 0, in_progress = 0;
  };
  struct Parameters {
    std::string circuit;
    uint64_t bytes = 0;
    bool loading = false, in_use = false;
  };
  std::string address;
  std::string trouble;  ///< why there is no answer; the rest is then of the last one
  uint64_t uptime_seconds = 0, completed = 0, failed = 0;
  uint64_t budget_bytes = 0, budget_used_bytes = 0, pool_bytes = 0, pool_used_bytes = 0;
  std::vector<Device> devices;
  std::vector<Queue> queues;
  std::vector<Parameters> parameters;
  std::optional<double> proofs_per_hour;  ///< over the last ten minutes, or since the first answer
  struct Job {
    cuzkd::v1::JobProgress progress;
    double age_seconds = 0;  ///< since its submission, as far as the daemon tells, else since it was first seen
    bool ended = false;
  };
  std::vector<Job> jobs;  ///< unfinished ones first, in the order in which they were seen
};

/// Puts pictures together. One thread at a time.
class TopState {
 public:
  explicit TopState(std::string address) { picture_.address = std::move(address); }

  /// An answer at `seconds` on a clock that does not jump.
  void Answered(const v1::GetStatusResponse& status, std::string_view metrics, double seconds);
  /// None came.
  void Failed(std::string_view why) { picture_.trouble = why; }
  /// News of a job. Ended jobs stay for ten seconds, failed ones for two minutes.
  void Watched(const cuzkd::v1::JobProgress& progress, double seconds);
  /// The stream of news began again: what is unfinished will be told again.
  void WatchRestarted() { jobs_.clear(); }

  TopPicture Picture(double seconds);

 private:
  struct Job {
    uint64_t order;
    std::string key;
    cuzkd::v1::JobProgress progress;
    double submitted;
    std::optional<double> ended;
  };
  void Count(uint64_t completed, double seconds);
  TopPicture picture_;
  std::vector<Job> jobs_;
  uint64_t order_ = 0;
  std::map<uint32_t, double> busy_before_;  // seconds of each device
  std::optional<double> answered_before_;
  std::deque<std::pair<double, uint64_t>> completed_;  // when, and how many proofs then
};

}  // namespace cuzk::daemon
