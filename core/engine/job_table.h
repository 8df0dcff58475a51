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

#include "core/engine/job_record.h"

namespace cuzk::engine {

/// Ended jobs beyond `age` are forgotten. Of those that are too many first the ones whose result somebody has got, then
/// those that failed or were cancelled, then proofs that nobody fetched; each the longest ended first.
struct Retention {
  uint32_t max_results = 1000;
  std::chrono::seconds age{3600};
};

/// Not thread-safe: the engine's mutex guards it.
class JobTable {
 public:
  explicit JobTable(Retention retention) : retention_(retention) {}

  /// The job with the same id, kind and payload that is not over, or that completed and was not fetched yet;
  /// null if there is none.
  std::shared_ptr<Job> FindEqual(const std::string& id, filecoin::Kind kind, const Bytes32& digest) const;
  /// A job of its own; keys ascend.
  std::shared_ptr<Job> Add(Submission submission, TimePoint now);

  /// A job that had ended before a restart, `ago` before `now`.
  std::shared_ptr<Job> AddEnded(std::shared_ptr<Job> job, TimePoint now, Duration ago);

  /// Null if unknown or no longer kept.
  std::shared_ptr<Job> Find(uint64_t key) const;
  /// The newest submitted of that id that is still known.
  std::shared_ptr<Job> Newest(const std::string& id) const;

  /// Ends an unfinished job, drops what it held, and stops those who work for it. `proof` for kCompleted, `error` for
  /// the others. False, with no effect, if it had ended before.
  bool Finish(Job& job, JobState state, std::string proof, std::string error, TimePoint now);
  /// Somebody has got the result. False if somebody had before.
  bool Fetched(Job& job);
  /// What is kept from the next Prune on.
  void SetRetention(Retention retention) { retention_ = retention; }
  /// Forgets ended jobs beyond the retention.
  void Prune(TimePoint now);
  /// Rows of the store that belonged to jobs forgotten since the last call.
  std::vector<int64_t> TakeForgottenRows() { return std::exchange(forgotten_rows_, {}); }

  /// In order of submission.
  const std::map<uint64_t, std::shared_ptr<Job>>& jobs() const { return jobs_; }
  uint32_t unfinished() const { return unfinished_; }
  uint64_t ended() const;

 private:
  /// In the order in which they are forgotten.
  enum Worth : size_t { kFetched, kFailed, kProof, kWorths };
  static Worth WorthOf(const Job& job);
  std::set<std::pair<TimePoint, uint64_t>>& Peers(const Job& job) { return ended_[WorthOf(job)]; }
  void Forget(const Job& job);

  Retention retention_;
  uint64_t next_key_ = 1;
  uint32_t unfinished_ = 0;
  std::map<uint64_t, std::shared_ptr<Job>> jobs_;
  std::map<std::string, std::set<uint64_t>> by_id_;
  std::array<std::set<std::pair<TimePoint, uint64_t>>, kWorths> ended_;  // when, and key
  std::vector<int64_t> forgotten_rows_;
};

/// What Await answers for a job that has ended.
JobResult ResultOf(const Job& job);

}  // namespace cuzk::engine
