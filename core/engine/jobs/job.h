#pragma once
// What a job is to those outside the engine: the request that made it, its states and stages, its progress, its end.

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/filecoin/types/registry.h"
#include "core/filecoin/types/request.h"
#include "core/store/row.h"

namespace cuzk::engine {

using cuzk::Duration;
using cuzk::TimePoint;

/// The values are those of the message field `priority`.
enum class Priority : uint8_t { kLow = 1, kNormal = 2, kHigh = 3, kCritical = 4 };

enum class JobState : uint8_t { kQueued, kRunning, kCompleted, kFailed, kCancelled };
/// "queued", "running", "completed", "failed", "cancelled".
std::string_view JobStateName(JobState state);
JobState JobStateOf(store::RowState state);
/// kUnfinished for every state that is not final.
store::RowState RowStateOf(JobState state);
inline bool IsFinal(JobState state) { return state >= JobState::kCompleted; }

/// The stage of an unfinished job: the furthest that any of its partitions has reached.
enum class Stage : uint8_t {
  kQueued,
  kParsing,
  kLoadingParameters,
  kSynthesis,
  kWaitingDevice,
  kDevice,
  kFinishing,
  kVerifying
};
inline constexpr size_t kStageCount = 8;
/// "queued", "parsing", "loading-parameters", "synthesis", "waiting-device", "device", "finishing", "verifying".
std::string_view StageName(Stage stage);

/// What a failed job failed for, as far as its caller can do something about it.
enum class JobFailure : uint8_t {
  kOther,
  kInput,      ///< what was sent cannot be proved
  kParameters  ///< they are missing, or not those that are published
};
/// "", "input", "parameters".
std::string_view JobFailureName(JobFailure failure);

/// A request as it arrives. Moved into Engine::Submit; the payload is never copied.
struct ProofRequest {
  std::string request_id;             ///< becomes the job id; empty: the engine makes a UUID v4
  uint64_t priority = 0;              ///< as in the message
  std::optional<TimePoint> deadline;  ///< the job fails if it is not done by then
  filecoin::VanillaRequest vanilla;
};

/// Names one accepted execution. Equal requests share an execution until its proof was fetched.
struct JobTicket {
  std::string job_id;
  uint64_t key = 0;             ///< unique while the process runs, ascending
  uint32_t queue_position = 0;  ///< unfinished jobs that were submitted before
  bool joined = false;          ///< shares the execution of an earlier request with the same id, kind and payload
  bool stored = true;           ///< false: there is a job store, and the job is proved without being stored
};

/// Milliseconds by stage, for the answer.
using JobTimings = store::StageTimes;

/// How a job ended.
struct JobResult {
  std::string job_id;
  uint64_t key = 0;  ///< of the ticket
  filecoin::Kind kind{};
  JobState state{};                          ///< final
  std::shared_ptr<const std::string> proof;  ///< kCompleted: kProofBytes for each partition; never null
  std::string error;                         ///< kFailed, kCancelled: begins with what is wrong where
  JobTimings timings;                        ///< kCompleted
  store::JobTimes spent;                     ///< kCompleted, unless read from the store: what `timings` do not have
};

/// What Watch reports.
struct JobProgress {
  std::string job_id;
  uint64_t key = 0;
  filecoin::Kind kind{};
  JobState state{};
  Stage stage{};
  uint32_t partitions_total = 0, partitions_done = 0;  ///< total is 0 before parsing
  double fraction = 0;                                 ///< 0 to 1, never falls
  /// Until it is done, with what goes before it; once the circuits of all these were proved.
  std::optional<double> seconds_left;
  uint32_t jobs_before = 0;  ///< jobs that wait and go before it; 0 if it does not wait
  std::string worker;        ///< "device.worker" of the latest partition, e.g. "0.1"
  std::string message;       ///< the error, or what is being loaded
  /// Of a PoSt that failed for its sectors: their numbers, all of them, ascending. Empty after a restart, when the
  /// error alone is kept.
  std::vector<uint64_t> bad_sectors;
  JobFailure failure = JobFailure::kOther;  ///< kOther after a restart as well
  Priority priority = Priority::kNormal;
  double age_seconds = 0;  ///< since its submission
};

}  // namespace cuzk::engine
