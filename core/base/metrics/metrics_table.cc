#include <array>

#include "core/base/metrics/metrics.h"

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
    {kProofsFailed, kCounter, "cuzk_proofs_failed_total", "proof_kind", "Jobs that failed.", {}},
    {kProofsCancelled, kCounter, "cuzk_proofs_cancelled_total", "proof_kind", "Jobs that were cancelled.", {}},
    {kProofDuration, kHistogram, "cuzk_proof_duration_seconds", "proof_kind",
     "Time from a job's acceptance to its verified proof.", kProofBuckets},
    {kStageDuration, kHistogram, "cuzk_stage_duration_seconds", "stage",
     "Time that one partition or job spent in a stage.", kStageBuckets},
    {kParametersLoad, kHistogram, "cuzk_parameters_load_seconds", "proof_kind",
     "Time from the moment when a loader is free for a job's parameters until a device has them.", kLoadBuckets},
    {kReady, kGauge, "cuzk_ready", "", "1 while jobs are accepted, 0 while they are refused.", {}},
    {kQueueDepth, kGauge, "cuzk_queue_depth", "", "Jobs that wait for their turn: of which no partition has begun.", {}},
    {kRunningJobs, kGauge, "cuzk_running_jobs", "", "Jobs that have started and not ended.", {}},
    {kOldestJobAge, kGauge, "cuzk_oldest_job_age_seconds", "proof_kind",
     "Time since the oldest unfinished job was accepted; 0 if there is none.", {}},
    {kJobsSubmitted, kCounter, "cuzk_jobs_submitted_total", "", "Requests that became jobs.", {}},
    {kJobsJoined, kCounter, "cuzk_jobs_joined_total", "",
     "Requests that joined an existing job with the same content.", {}},
    {kJobsRefused, kCounter, "cuzk_jobs_refused_total", "", "Requests for a proof that were read and refused.", {}},
    {kResultsKept, kGauge, "cuzk_results_kept", "", "Ended jobs whose results are kept.", {}},
    {kHistoryLost, kCounter, "cuzk_history_lost_total", "",
     "Ended jobs that are missing in the history because the job store could not write them.", {}},

    // Synthesis, devices.
    {kSchedulerTurns, kCounter, "cuzk_scheduler_turns_total", "",
     "Iterations of the scheduler; at least one a second while it works.", {}},
    {kSynthesisThreads, kGauge, "cuzk_synthesis_threads", "",
     "Partitions whose witnesses can be written at the same time.", {}},
    {kSynthesisActive, kGauge, "cuzk_synthesis_active", "", "Partitions whose witnesses are being written.", {}},
    {kGpuWorkers, kGauge, "cuzk_gpu_workers", "", "Device workers.", {}},
    {kPartitionsProved, kCounter, "cuzk_partitions_proved_total", "", "Partitions that were proved.", {}},
    {kPartitionsRetried, kCounter, "cuzk_partitions_retried_total", "",
     "Partitions that were proved again after an error.", {}},
    {kProofsRefusedByVerifier, kCounter, "cuzk_partitions_refused_total", "",
     "Partitions whose proof did not verify. Such a proof is not returned; the partition is proved again.", {}},
    {kVerifierDisagreements, kCounter, "cuzk_verifier_disagreements_total", "",
     "Jobs whose proofs verified one by one but not together.", {}},
    {kStoreErrors, kCounter, "cuzk_job_store_errors_total", "",
     "Writes to the job store that failed. A request that is refused because it cannot be stored is not counted.", {}},
    {kStoreWait, kGauge, "cuzk_job_store_wait_seconds", "",
     "Time for which the job store has not answered its oldest pending operation; 0 if there is none.", {}},
    {kStoreDamaged, kCounter, "cuzk_job_store_damaged_total", "",
     "Jobs that were found damaged in the job store at start. They are proved again if their request is whole, "
     "and fail otherwise.", {}},
    {kDeviceErrors, kCounter, "cuzk_device_errors_total", "", "Partitions that a device returned with an error.", {}},
    {kDevicesLost, kCounter, "cuzk_devices_lost_total", "", "Devices that were lost.", {}},
    {kQuarantines, kCounter, "cuzk_device_quarantines_total", "",
     "Devices that were taken out of service because of their faults (devices.quarantine).", {}},
    {kDevicesPresent, kGauge, "cuzk_devices_present", "", "NVIDIA cards that the PCI bus showed at the start.", {}},
    {kDevicesUsable, kGauge, "cuzk_devices_usable", "",
     "Devices that accept partitions: cards that work, or the CPU if it proves.", {}},
    {kFallbackToCpu, kGauge, "cuzk_device_fallback_to_cpu", "",
     "1 while the CPU proves because devices.use = auto found no card, 0 otherwise.", {}},

    // Memory.
    {kMemoryBudget, kGauge, "cuzk_memory_budget_bytes", "", "The budget: memory.budget less grpc.ingress_memory.", {}},
    {kMemoryUsed, kGauge, "cuzk_memory_used_bytes", "class", "Memory that is reserved in the budget.", {}},
    {kMemoryPeak, kGauge, "cuzk_memory_peak_bytes", "", "The most memory that was reserved at any time.", {}},
    {kMemoryRefusals, kCounter, "cuzk_memory_refusals_total", "class",
     "Reservations that did not fit into the budget.", {}},
    {kPinnedPoolTotal, kGauge, "cuzk_pinned_pool_total_bytes", "",
     "Memory that the pools of witness buffers hold.", {}},
    {kPinnedPoolUsed, kGauge, "cuzk_pinned_pool_used_bytes", "", "Memory of witness buffers that are leased.", {}},
    {kPinnedPoolLeases, kCounter, "cuzk_pinned_pool_leases_total", "", "Leases of witness buffers.", {}},
    {kPinnedPoolAllocations, kCounter, "cuzk_pinned_pool_allocations_total", "", "Allocations of witness buffers.", {}},
    {kPinnedPoolFailures, kCounter, "cuzk_pinned_pool_allocation_failures_total", "",
     "Allocations of witness buffers that failed.", {}},
    {kParametersBytes, kGauge, "cuzk_parameters_bytes", "circuit", "Memory of loaded parameters.", {}},
    {kDevelopmentParameters, kGauge, "cuzk_development_parameters_loaded", "",
     "Circuits that are loaded with development parameters; 0 in production.", {}},

    // Each device. The CPU device is gpu="cpu".
    {kDeviceInfo, kGauge, "cuzk_gpu_info", "gpu,gpu_uuid,name,driver,cc",
     "The identity of the device, in the labels; always 1.", {}},
    {kDeviceHealthy, kGauge, "cuzk_gpu_healthy", "gpu,gpu_uuid", "1 while the device proves, 0 after it was lost.", {}},
    {kDeviceQuarantined, kGauge, "cuzk_gpu_quarantined", "gpu,gpu_uuid",
     "1 while the device gets no work because of its faults, 0 otherwise.", {}},
    {kDeviceDoubted, kGauge, "cuzk_gpu_doubted", "gpu,gpu_uuid",
     "1 while the device is faulty but stays in service because no other device works, 0 otherwise.", {}},
    {kDeviceMemoryTotal, kGauge, "cuzk_gpu_memory_total_bytes", "gpu,gpu_uuid", "Memory of the device.", {}},
    {kDeviceMemoryUsed, kGauge, "cuzk_gpu_memory_used_bytes", "gpu,gpu_uuid",
     "Device memory in use when it was last read.", {}},
    {kDeviceTelemetryAge, kGauge, "cuzk_gpu_telemetry_age_seconds", "gpu,gpu_uuid",
     "Time since the device's memory was last read, which happens when a partition ends and when parameters are "
     "loaded.", {}},
    {kDeviceBusy, kCounter, "cuzk_gpu_busy_seconds_total", "gpu,gpu_uuid",
     "Time during which kernels ran on the device for partitions that have ended. Kernels that overlap count once.", {}},
    {kDeviceCopied, kCounter, "cuzk_gpu_copied_bytes_total", "gpu,gpu_uuid,direction",
     "Bytes of witnesses that were copied to the device for partitions that have ended.", {}},
    {kDeviceCopy, kCounter, "cuzk_gpu_copy_seconds_total", "gpu,gpu_uuid,direction",
     "Time during which witnesses were copied to the device, or results from it, for partitions that have ended.", {}},
    {kDeviceStage, kCounter, "cuzk_gpu_stage_seconds_total", "gpu,gpu_uuid,stage",
     "Time that ended partitions spent in each stage on the device. Workers overlap.", {}},
    {kDevicePartitions, kCounter, "cuzk_gpu_partitions_total", "gpu,gpu_uuid",
     "Partitions that the device computed.", {}},
    {kDeviceQueued, kGauge, "cuzk_gpu_queued_partitions", "gpu,gpu_uuid", "Witnesses that wait for a worker.", {}},
    {kDeviceXids, kCounter, "cuzk_gpu_xid_total", "gpu,gpu_uuid",
     "Errors of the card (Xid) that the driver has reported since the daemon started. Absent if the driver "
     "reports none.", {}},

    // The process.
    {kGrpcRequests, kCounter, "cuzk_grpc_requests_total", "grpc_method,grpc_code", "Calls that were answered.", {}},
    {kGrpcConnectionsEnded, kCounter, "cuzk_grpc_connections_ended_total", "reason",
     "Connections that were refused or ended, by reason: malformed or excessive (their frames), no_memory, "
     "no_descriptors.", {}},
    {kResultsNotTaken, kCounter, "cuzk_results_not_taken_total", "",
     "Responses with a proof that the client did not read. The proof is kept for the next equal request.", {}},
    {kLogDropped, kCounter, "cuzk_log_dropped_total", "",
     "Log lines that were dropped because stderr was not read fast enough.", {}},
    {kConfigReloadSuccessful, kGauge, "cuzk_config_last_reload_successful", "",
     "1 if the last reload of the settings succeeded, 0 if it failed and the previous settings are in force.", {}},
    {kConfigReloadTime, kGauge, "cuzk_config_last_reload_success_timestamp_seconds", "",
     "Time of the last successful reload, in seconds since 1970.", {}},
    {kTlsExpiry, kGauge, "cuzk_tls_certificate_expiry_timestamp_seconds", "",
     "Time at which the server's certificate expires, in seconds since 1970. Absent without TLS.", {}},
    {kUptime, kGauge, "cuzk_uptime_seconds", "", "Time since the daemon started.", {}},
    {kBuildInfo, kGauge, "cuzk_build_info", "version,revision,cuda,arch,compiler",
     "The version and the build of cuzkd, in the labels; always 1.", {}},
    {kProcessCpu, kCounter, "process_cpu_seconds_total", "", "User and system CPU time.", {}},
    {kProcessResident, kGauge, "process_resident_memory_bytes", "", "Resident memory.", {}},
    {kProcessVirtual, kGauge, "process_virtual_memory_bytes", "", "Virtual memory.", {}},
    {kProcessOpenFds, kGauge, "process_open_fds", "", "Open file descriptors.", {}},
    {kProcessMaxFds, kGauge, "process_max_fds", "", "Limit of open file descriptors.", {}},
    {kProcessStartTime, kGauge, "process_start_time_seconds", "", "Time of the start, in seconds since 1970.", {}},
    {kProcessThreads, kGauge, "process_threads", "", "Threads.", {}},
};

constexpr LabelRow kLabels[] = {
    {"proof_kind", "The kind of proof: porep_c2, window_post, winning_post or snap_update."},
    {"stage", "A stage of a job, such as parsing, synthesis or device; for a device, a stage there, such as transforms or msm h."},
    {"class", "The purpose of the memory: requests, witnesses, pinned or parameters."},
    {"circuit", "A circuit id, such as porep-32g."},
    {"gpu", "The number of the card, or cpu for the CPU device."},
    {"gpu_uuid", "The UUID of the card; empty for the CPU device."},
    {"direction", "The direction of a copy: to_device or to_host."},
    {"name", "The name of the device."},
    {"driver", "The version of the driver."},
    {"cc", "The compute capability of the card."},
    {"grpc_method", "The method that was called."},
    {"grpc_code", "The status code of the answer."},
    {"reason", "The reason for which a connection was refused or ended."},
    {"version", "The version of cuzkd."},
    {"revision", "The source revision of the build."},
    {"cuda", "The CUDA version of the build, or none."},
    {"arch", "The GPU architectures of the build."},
    {"compiler", "The compiler that built cuzkd."},
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
std::span<const LabelRow> LabelTable() { return kLabels; }

}  // namespace cuzk
