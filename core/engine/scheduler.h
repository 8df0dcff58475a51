#pragma once
// Which job goes next. No threads, no clock, no memory: times are given, and the caller says what is ready.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/engine/job.h"

namespace cuzk::engine {

/// Not thread-safe. The unit is one turn: parsing a request, or one partition of it.
class Scheduler {
 public:
  /// `overtakes`: how many turns of other jobs may pass a job that is ready and not served before it goes first.
  explicit Scheduler(uint32_t overtakes) : overtakes_(overtakes) {}

  /// Keys ascend with submission. A job begins with nothing ready.
  void Add(uint64_t key, Priority priority, std::optional<TimePoint> deadline);
  /// What equal requests that joined the job asked for. No effect if it is unknown.
  void Change(uint64_t key, Priority priority, std::optional<TimePoint> deadline);
  /// The job is over, or unknown.
  void Remove(uint64_t key);
  /// How many turns of the job could be served now.
  void SetReady(uint64_t key, uint32_t turns);

  /// Who is to be served among the jobs that `may_go` admits: a job that was passed too often (the longest waiting of
  /// those), else the highest priority, the earliest submission first. nullopt: nobody. Changes nothing.
  std::optional<uint64_t> Next(const std::function<bool(uint64_t key)>& may_go) const;
  /// One turn of the job was served: it has one fewer ready, and the others that are ready and were submitted earlier
  /// or have another priority were passed once more.
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
