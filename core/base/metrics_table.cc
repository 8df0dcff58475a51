#include <array>

#include "core/base/metrics.h"

namespace cuzk {
namespace {

using enum MetricId;
using enum MetricType;

// Chosen around what the chain allows: seconds for a WinningPoSt, half an hour for a WindowPoSt.
constexpr double kProofSeconds[] = {0.5, 1,  2,   3,   5,   8,   12,   18,   25,   30,  45,
                                    60,  90, 120, 240, 480, 900, 1200, 1500, 1800, 3600};
constexpr double kStageSeconds[] = {0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300};

constexpr MetricRow kRows[] = {
    {kProofsCompleted,
     kCounter,
     "cuzk_proofs_completed_total",
     "proof_kind",
     "Jobs that ended with a verified proof.",
     {}},
    {kProofsFailed, kCounter, "cuzk_proofs_failed_total", "proof_kind", "Jobs that ended without a proof.", {}},
    {kProofsCancelled, kCounter, "cuzk_proofs_cancelled_total", "proof_kind", "Jobs that were cancelled.", {}},
    {kProofDuration, kHistogram, "cuzk_proof_duration_seconds", "proof_kind", "From acceptance to the verified proof.",
     kProofSeconds},
    {kStageDuration, kHistogram, "cuzk_stage_duration_seconds", "stage", "Time of one partition or job in a stage.",
     kStageSeconds},
    {kQueueDepth, kGauge, "cuzk_queue_depth", "", "Accepted jobs of which nothing runs yet.", {}},
    {kRunningJobs, kGauge, "cuzk_running_jobs", "", "Jobs of which something runs.", {}},
    {kGpuWorkers, kGauge, "cuzk_gpu_workers", "", "Device workers.", {}},
    {kPartitionsRetried, kCounter, "cuzk_partitions_retried_total", "", "Partitions that were proved once more.", {}},
    {kProofsRefusedByVerifier,
     kCounter,
     "cuzk_partitions_refused_total",
     "",
     "Partitions whose proof was wrong and was not returned.",
     {}},
    {kMemoryBudget, kGauge, "cuzk_memory_budget_bytes", "", "What the budget allows.", {}},
    {kMemoryUsed, kGauge, "cuzk_memory_used_bytes", "class", "What is reserved in the budget.", {}},
    {kPinnedPoolTotal, kGauge, "cuzk_pinned_pool_total_bytes", "", "Bytes that the pools of witness buffers hold.", {}},
    {kPinnedPoolUsed, kGauge, "cuzk_pinned_pool_used_bytes", "", "Of those, bytes that are leased.", {}},
    {kParametersBytes, kGauge, "cuzk_parameters_bytes", "circuit", "Bytes of loaded parameters.", {}},
    {kDevelopmentParameters,
     kGauge,
     "cuzk_development_parameters_loaded",
     "",
     "Loaded circuits whose parameters are for development; 0 in production.",
     {}},
    {kDeviceHealthy, kGauge, "cuzk_gpu_healthy", "gpu", "1 while the device proves, 0 once it is lost.", {}},
    {kDeviceMemoryUsed, kGauge, "cuzk_gpu_memory_used_bytes", "gpu", "Device memory in use.", {}},
    {kGrpcRequests, kCounter, "cuzk_grpc_requests_total", "grpc_method,grpc_code", "Calls answered.", {}},
    {kUptime, kGauge, "cuzk_uptime_seconds", "", "Since the daemon started.", {}},
    {kBuildInfo, kGauge, "cuzk_build_info", "version,cuda,compiler", "Always 1.", {}},
    {kProcessCpu, kCounter, "process_cpu_seconds_total", "", "User and system time.", {}},
    {kProcessResident, kGauge, "process_resident_memory_bytes", "", "Resident memory.", {}},
    {kProcessVirtual, kGauge, "process_virtual_memory_bytes", "", "Virtual memory.", {}},
    {kProcessOpenFds, kGauge, "process_open_fds", "", "Open file descriptors.", {}},
    {kProcessMaxFds, kGauge, "process_max_fds", "", "The most file descriptors that may be open.", {}},
    {kProcessStartTime, kGauge, "process_start_time_seconds", "", "Start, in seconds since 1970.", {}},
    {kProcessThreads, kGauge, "process_threads", "", "Threads.", {}},
};

constexpr bool InOrder() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (static_cast<size_t>(kRows[i].id) != i) return false;
  }
  return std::size(kRows) == static_cast<size_t>(kCount);
}
static_assert(InOrder());

}  // namespace

std::span<const MetricRow> MetricTable() { return kRows; }

}  // namespace cuzk
