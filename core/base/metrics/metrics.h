#pragma once
// The one table of metrics and their registry. Labels are bounded: never a job, miner, sector, request id or error
// text.

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace cuzk {

enum class MetricType { kCounter, kGauge, kHistogram };

enum class MetricId : uint8_t {
  kProofsCompleted,
  kProofsFailed,
  kProofsCancelled,
  kProofDuration,
  kStageDuration,
  kParametersLoad,
  kReady,
  kQueueDepth,
  kRunningJobs,
  kOldestJobAge,
  kJobsSubmitted,
  kJobsJoined,
  kJobsRefused,
  kResultsKept,
  kHistoryLost,
  kSchedulerTurns,
  kSynthesisThreads,
  kSynthesisActive,
  kGpuWorkers,
  kPartitionsProved,
  kPartitionsRetried,
  kProofsRefusedByVerifier,
  kVerifierDisagreements,
  kStoreErrors,
  kStoreWait,
  kStoreDamaged,
  kDeviceErrors,
  kDevicesLost,
  kQuarantines,
  kDevicesPresent,
  kDevicesUsable,
  kFallbackToCpu,
  kMemoryBudget,
  kMemoryUsed,
  kMemoryPeak,
  kMemoryRefusals,
  kPinnedPoolTotal,
  kPinnedPoolUsed,
  kPinnedPoolLeases,
  kPinnedPoolAllocations,
  kPinnedPoolFailures,
  kParametersBytes,
  kDevelopmentParameters,
  kDeviceInfo,
  kDeviceHealthy,
  kDeviceQuarantined,
  kDeviceDoubted,
  kDeviceMemoryTotal,
  kDeviceMemoryUsed,
  kDeviceTelemetryAge,
  kDeviceBusy,
  kDeviceCopied,
  kDeviceCopy,
  kDeviceStage,
  kDevicePartitions,
  kDeviceQueued,
  kDeviceXids,
  kGrpcRequests,
  kGrpcConnectionsEnded,
  kResultsNotTaken,
  kLogDropped,
  kConfigReloadSuccessful,
  kConfigReloadTime,
  kTlsExpiry,
  kUptime,
  kBuildInfo,
  kProcessCpu,
  kProcessResident,
  kProcessVirtual,
  kProcessOpenFds,
  kProcessMaxFds,
  kProcessStartTime,
  kProcessThreads,
  kCount
};

/// Upper bounds of a histogram for one value of its first label; an empty value: for all that have no row of their own.
struct BucketRow {
  std::string_view label;
  std::span<const double> bounds;
};

struct MetricRow {
  MetricId id;
  MetricType type;
  std::string_view name;
  std::string_view labels;  ///< names separated by commas; empty: none
  std::string_view help;
  std::span<const BucketRow> buckets;  ///< of a histogram; the last one is for every label
};

/// Row i has id i.
std::span<const MetricRow> MetricTable();

/// A label that rows have, and what its values are.
struct LabelRow {
  std::string_view name, meaning;
};
std::span<const LabelRow> LabelTable();

/// Values of every row, by label values in the order of the row's labels. Any thread may call anything. A wrong number
/// of labels or a wrong type ends the process: that is a mistake of the caller.
class Metrics {
 public:
  using Labels = std::initializer_list<std::string_view>;

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void Increment(MetricId counter, Labels labels = {}, double by = 1);
  /// Raises a counter to a total that is counted elsewhere; a smaller total changes nothing.
  void RaiseTo(MetricId counter, Labels labels, double total);
  void Set(MetricId gauge, Labels labels, double value);
  void Observe(MetricId histogram, Labels labels, double value);
  /// Sets every child of a gauge with one label, and drops those that are not among them.
  void SetAll(MetricId gauge, const std::map<std::string, double>& values);

  /// Prometheus' text format, version 0.0.4.
  std::string Text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

/// Sets the process_* rows from /proc/self; what cannot be read stays as it is.
void UpdateProcessMetrics(Metrics& metrics);

}  // namespace cuzk
