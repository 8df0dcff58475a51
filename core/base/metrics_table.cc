#include <array>

#include "core/base/metrics.h"

namespace cuzk {
namespace {

using enum MetricId;
using enum MetricType;

// Chosen around what the chain allows: seconds for a WinningPoSt, half an hour for a WindowPoSt.
constexpr double kWinningSeconds[] = {0.5, 1, 2, 3, 5, 8, 12, 18, 25, 30, 60};
constexpr double kWindowSeconds[] = {10, 30, 60, 120, 240, 480, 900, 1200, 1500, 1800, 3600};
constexpr double kSectorSeconds[] = {5, 10, 20, 30, 45, 60, 90, 120, 240, 480, 900, 1800};
constexpr double kStageSeconds[] = {0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300};
constexpr double kLoadSeconds[] = {1, 5, 15, 30, 60, 120, 300, 600};

constexpr BucketRow kProofBuckets[] = {
    {"winning_post", kWinningSeconds}, {"window_post", kWindowSeconds}, {"", kSectorSeconds}};
constexpr BucketRow kStageBuckets[] = {{"", kStageSeconds}};
constexpr BucketRow kLoadBuckets[] = {{"", kLoadSeconds}};

// clang-format off
constexpr MetricRow kRows[] = {
    // Jobs.
    {kProofsCompleted, kCounter, "cuzk_proofs_completed_total", "proof_kind",
     "Jobs that ended with a verified proof.", {}},
    {kProofsFailed, kCounter, "cuzk_proofs_failed_total", "proof_kind", "Jobs that ended without a proof.", {}},
    {kProofsCancelled, kCounter, "cuzk_proofs_cancelled_total", "proof_kind", "Jobs that were cancelled.", {}},
    {kProofDuration, kHistogram, "cuzk_proof_duration_seconds", "proof_kind", "From acceptance to the verified proof.",
     kProofBuckets},
    {kStageDuration, kHistogram, "cuzk_stage_duration_seconds", "stage", "Time of one partition or job in a stage.",
     kStageBuckets},
    {kParametersLoad, kHistogram, "cuzk_parameters_load_seconds", "proof_kind",
     "From a job's need of parameters to their being ready on a device.", kLoadBuckets},
    {kReady, kGauge, "cuzk_ready", "", "1 while jobs are accepted, 0 while they are refused.", {}},
    {kQueueDepth, kGauge, "cuzk_queue_depth", "", "Accepted jobs of which nothing runs yet.", {}},
    {kRunningJobs, kGauge, "cuzk_running_jobs", "", "Jobs of which something runs.", {}},
    {kOldestJobAge, kGauge, "cuzk_oldest_job_age_seconds", "proof_kind",
     "How long ago the oldest unfinished job was accepted; 0 without one.", {}},
    {kJobsSubmitted, kCounter, "cuzk_jobs_submitted_total", "", "Requests that became jobs.", {}},
    {kJobsJoined, kCounter, "cuzk_jobs_joined_total", "", "Requests that joined an equal job.", {}},
    {kJobsRefused, kCounter, "cuzk_jobs_refused_total", "", "Requests that were refused.", {}},
    {kResultsKept, kGauge, "cuzk_results_kept", "", "Ended jobs whose result is kept.", {}},

    // Synthesis, devices.
    {kSchedulerTurns, kCounter, "cuzk_scheduler_turns_total", "",
     "Turns of the scheduler; at least one a second while it lives.", {}},
    {kSynthesisThreads, kGauge, "cuzk_synthesis_threads", "", "Partitions whose witness can be written at once.", {}},
    {kSynthesisActive, kGauge, "cuzk_synthesis_active", "", "Of those, in use.", {}},
    {kGpuWorkers, kGauge, "cuzk_gpu_workers", "", "Device workers.", {}},
    {kPartitionsProved, kCounter, "cuzk_partitions_proved_total", "", "Partitions that were proved.", {}},
    {kPartitionsRetried, kCounter, "cuzk_partitions_retried_total", "", "Partitions that were proved once more.", {}},
    {kProofsRefusedByVerifier, kCounter, "cuzk_partitions_refused_total", "",
     "Partitions whose proof was wrong and was not returned.", {}},
    {kVerifierDisagreements, kCounter, "cuzk_verifier_disagreements_total", "",
     "Jobs whose proofs verified one by one, but not together.", {}},
    {kStoreErrors, kCounter, "cuzk_job_store_errors_total", "",
     "Ends and results that could not be written to the job store.", {}},
    {kStoreWait, kGauge, "cuzk_job_store_wait_seconds", "",
     "For how long the job store has not answered the oldest of what it was asked; 0 while nothing waits.", {}},
    {kStoreDamaged, kCounter, "cuzk_job_store_damaged_total", "",
     "Jobs that were found damaged in the job store: proved again, or failed.", {}},
    {kDeviceErrors, kCounter, "cuzk_device_errors_total", "", "Partitions that a device gave back with an error.", {}},
    {kDevicesLost, kCounter, "cuzk_devices_lost_total", "", "Devices that were lost.", {}},
    {kDevicesPresent, kGauge, "cuzk_devices_present", "", "NVIDIA cards that the PCI bus showed at the start.", {}},
    {kDevicesUsable, kGauge, "cuzk_devices_usable", "",
     "Devices that take partitions: cards that work, or the CPU where it proves.", {}},
    {kFallbackToCpu, kGauge, "cuzk_device_fallback_to_cpu", "",
     "1 while the CPU proves because devices.use = auto found no card, 0 otherwise.", {}},

    // Memory.
    {kMemoryBudget, kGauge, "cuzk_memory_budget_bytes", "", "What the budget allows: memory.budget less grpc.ingress_memory.", {}},
    {kMemoryUsed, kGauge, "cuzk_memory_used_bytes", "class", "What is reserved in the budget.", {}},
    {kMemoryPeak, kGauge, "cuzk_memory_peak_bytes", "", "The most that was ever reserved.", {}},
    {kMemoryRefusals, kCounter, "cuzk_memory_refusals_total", "class", "Reservations that found no room.", {}},
    {kPinnedPoolTotal, kGauge, "cuzk_pinned_pool_total_bytes", "", "Bytes that the pools of witness buffers hold.", {}},
    {kPinnedPoolUsed, kGauge, "cuzk_pinned_pool_used_bytes", "", "Of those, bytes that are leased.", {}},
    {kPinnedPoolLeases, kCounter, "cuzk_pinned_pool_leases_total", "", "Buffers that were lent.", {}},
    {kPinnedPoolAllocations, kCounter, "cuzk_pinned_pool_allocations_total", "", "Buffers that were allocated.", {}},
    {kPinnedPoolFailures, kCounter, "cuzk_pinned_pool_allocation_failures_total", "",
     "Buffers that could not be allocated.", {}},
    {kParametersBytes, kGauge, "cuzk_parameters_bytes", "circuit", "Bytes of loaded parameters.", {}},
    {kDevelopmentParameters, kGauge, "cuzk_development_parameters_loaded", "",
     "Loaded circuits whose parameters are for development; 0 in production.", {}},

    // Each device. The CPU device is gpu="cpu".
    {kDeviceInfo, kGauge, "cuzk_gpu_info", "gpu,gpu_uuid,name,driver,cc", "Always 1.", {}},
    {kDeviceHealthy, kGauge, "cuzk_gpu_healthy", "gpu,gpu_uuid", "1 while the device proves, 0 once it is lost.", {}},
    {kDeviceMemoryTotal, kGauge, "cuzk_gpu_memory_total_bytes", "gpu,gpu_uuid", "Device memory.", {}},
    {kDeviceMemoryUsed, kGauge, "cuzk_gpu_memory_used_bytes", "gpu,gpu_uuid", "Device memory in use, as last seen.",
     {}},
    {kDeviceTelemetryAge, kGauge, "cuzk_gpu_telemetry_age_seconds", "gpu,gpu_uuid",
     "How long ago the device's memory was looked at: when a partition ended or parameters were loaded.", {}},
    {kDeviceBusy, kCounter, "cuzk_gpu_busy_seconds_total", "gpu,gpu_uuid",
     "Time in which kernels ran on the device, of ended partitions: transforms and sums, each moment once.", {}},
    {kDeviceCopied, kCounter, "cuzk_gpu_copied_bytes_total", "gpu,gpu_uuid,direction",
     "Bytes of witnesses that were copied to the device, of ended partitions.", {}},
    {kDeviceCopy, kCounter, "cuzk_gpu_copy_seconds_total", "gpu,gpu_uuid,direction",
     "Time in which witnesses were copied to the device or results from it, of ended partitions.", {}},
    {kDeviceStage, kCounter, "cuzk_gpu_stage_seconds_total", "gpu,gpu_uuid,stage",
     "Time of ended partitions in each stage on the device; workers overlap.", {}},
    {kDevicePartitions, kCounter, "cuzk_gpu_partitions_total", "gpu,gpu_uuid", "Partitions that the device computed.",
     {}},
    {kDeviceQueued, kGauge, "cuzk_gpu_queued_partitions", "gpu,gpu_uuid", "Witnesses that wait for a worker.", {}},
    {kDeviceXids, kCounter, "cuzk_gpu_xid_total", "gpu,gpu_uuid",
     "Errors of the card that the driver reported (Xid) since the daemon started; absent where it does not report.", {}},

    // The process.
    {kGrpcRequests, kCounter, "cuzk_grpc_requests_total", "grpc_method,grpc_code", "Calls answered.", {}},
    {kResultsNotTaken, kCounter, "cuzk_results_not_taken_total", "",
     "Answers with a proof that the client did not take; the proof is kept for who asks again.", {}},
    {kLogDropped, kCounter, "cuzk_log_dropped_total", "",
     "Lines of the log that were dropped because nobody took them.", {}},
    {kConfigReloadSuccessful, kGauge, "cuzk_config_last_reload_successful", "",
     "1 if the settings were read without a mistake the last time, 0 if the ones before are still in force.", {}},
    {kConfigReloadTime, kGauge, "cuzk_config_last_reload_success_timestamp_seconds", "",
     "When settings were last taken over, in seconds since 1970.", {}},
    {kTlsExpiry, kGauge, "cuzk_tls_certificate_expiry_timestamp_seconds", "",
     "When the server's certificate ends, in seconds since 1970; absent without TLS.", {}},
    {kUptime, kGauge, "cuzk_uptime_seconds", "", "Since the daemon started.", {}},
    {kBuildInfo, kGauge, "cuzk_build_info", "version,revision,cuda,arch,compiler", "Always 1.", {}},
    {kProcessCpu, kCounter, "process_cpu_seconds_total", "", "User and system time.", {}},
    {kProcessResident, kGauge, "process_resident_memory_bytes", "", "Resident memory.", {}},
    {kProcessVirtual, kGauge, "process_virtual_memory_bytes", "", "Virtual memory.", {}},
    {kProcessOpenFds, kGauge, "process_open_fds", "", "Open file descriptors.", {}},
    {kProcessMaxFds, kGauge, "process_max_fds", "", "The most file descriptors that may be open.", {}},
    {kProcessStartTime, kGauge, "process_start_time_seconds", "", "Start, in seconds since 1970.", {}},
    {kProcessThreads, kGauge, "process_threads", "", "Threads.", {}},
};
// clang-format on

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
