#pragma once
// The jobs by key and by id, the joining of equal ones, and how long ended ones are kept. No threads and no clock.

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/jobs/job_record.h"

namespace cuzk::engine {

/// Ended jobs older than `age` are forgotten. Of more than `max_results`, those go first whose result a caller has
/// received, then those that failed or were cancelled, then proofs that no caller has received; each the longest ended
/// first.
struct Retention {
  uint32_t max_results{};
  std::chrono::seconds age{};
};

class JobTable {
 public:
  explicit JobTable(Retention retention) : retention_(retention) {}

  /// The job with the same id, kind and payload that is not over, or whose proof was given to no caller so far; null if
  /// there is none.
  std::shared_ptr<Job> FindEqual(const std::string& id, filecoin::Kind kind, const Bytes32& digest) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// A job of its own; keys ascend.
  std::shared_ptr<Job> Add(Submission submission, TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// A job that had ended before a restart, `ago` before `now`.
  std::shared_ptr<Job> AddEnded(std::shared_ptr<Job> job, TimePoint now, Duration ago)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

  /// Null if unknown or no longer kept.
  std::shared_ptr<Job> Find(uint64_t key) const;
  /// The newest submitted of that id that is still known.
  std::shared_ptr<Job> Newest(const std::string& id) const;

  /// Ends a job: `to` is kReporting or kEnded, `by` the thread. Drops what the job held, and stops what works for it.
  void Finish(Job& job, Outcome outcome, TimePoint now, Life to, Actor by) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// A caller has received the result. False, with no effect, if one had before, or if the job is no longer kept.
  bool Fetched(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// What is kept from the next Prune on.
  void SetRetention(Retention retention) { retention_ = retention; }
  /// Forgets ended jobs beyond the retention.
  void Prune(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Rows of the store that belonged to jobs forgotten since the last call.
  std::vector<int64_t> TakeForgottenRows() { return std::exchange(forgotten_rows_, {}); }

  /// In order of submission.
  const std::map<uint64_t, std::shared_ptr<Job>>& jobs() const { return jobs_; }
  uint32_t unfinished() const { return unfinished_; }
  uint64_t ended() const;

 private:
  /// In the order in which they are forgotten.
  enum Worth : size_t { kFetched, kFailed, kProof, kWorths };
  using Ended = std::set<std::pair<TimePoint, uint64_t>>;  // when, and key
  static Worth WorthOf(const Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  Ended& Peers(const Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { return ended_[WorthOf(job)]; }
  void Forget(const Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

  Retention retention_;
  uint64_t next_key_ = 1;
  uint32_t unfinished_ = 0;
  std::map<uint64_t, std::shared_ptr<Job>> jobs_;
  std::map<std::string, std::set<uint64_t>> by_id_;
  std::array<Ended, kWorths> ended_;
  std::vector<int64_t> forgotten_rows_;
};

/// What Await answers for a job that has ended.
JobResult ResultOf(const Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

}  // namespace cuzk::engine
