#pragma once
// Which job is served next. Has no threads, no clock and no memory accounting: the caller passes times and says what is
// ready.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/engine/jobs/job.h"

namespace cuzk::engine {

/// Not thread-safe. The unit of scheduling is a turn: parsing a request, or proving one partition of it.
class Scheduler {
 public:
  /// `overtakes` is the number of turns of other jobs that may pass a job while it is ready; after that it goes first.
  explicit Scheduler(uint32_t overtakes) : overtakes_(overtakes) {}

  /// Keys ascend with submission. A job begins with nothing ready.
  void Add(uint64_t key, Priority priority, std::optional<TimePoint> deadline);
  /// Takes the priority and deadline that an equal request asked for. No effect if the job is unknown.
  void Change(uint64_t key, Priority priority, std::optional<TimePoint> deadline);
  /// Forgets a job. No effect if it is unknown.
  void Remove(uint64_t key);
  /// Sets how many turns of the job could be served now.
  void SetReady(uint64_t key, uint32_t turns);

  /// The job to serve next among those that `may_go` admits: a job that was passed too often (of several, the one
  /// passed most), otherwise the highest priority, and of equal priorities the earliest submission. nullopt: none.
  /// Changes nothing.
  std::optional<uint64_t> Next(const std::function<bool(uint64_t key)>& may_go) const;
  /// Records that one turn of the job was served: the job has one turn fewer ready, and every other ready job that was
  /// submitted earlier or has another priority was passed once more.
  void Served(uint64_t key);

  /// Jobs whose deadline is not after `now`, by key.
  std::vector<uint64_t> Expired(TimePoint now) const;
  /// The earliest deadline of all.
  std::optional<TimePoint> NextDeadline() const;

  size_t size() const { return jobs_.size(); }

 private:
  struct Entry {
    Priority priority;
    std::optional<TimePoint> deadline;
    uint32_t ready = 0;
    uint32_t passed = 0;  // turns of others since this one was ready and last served
  };
  const uint32_t overtakes_;
  std::map<uint64_t, Entry> jobs_;
};

}  // namespace cuzk::engine
