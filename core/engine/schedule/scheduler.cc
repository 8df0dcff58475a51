#include "core/engine/schedule/scheduler.h"

#include <algorithm>

#include "core/base/check.h"

namespace cuzk::engine {

void Scheduler::Add(uint64_t key, Priority priority, std::optional<TimePoint> deadline) {
  bool added = jobs_.emplace(key, Entry{.priority = priority, .deadline = deadline}).second;
  CUZK_CHECK(added);
}

void Scheduler::Change(uint64_t key, Priority priority, std::optional<TimePoint> deadline) {
  auto it = jobs_.find(key);
  if (it == jobs_.end()) return;
  it->second.priority = priority;
  it->second.deadline = deadline;
}

void Scheduler::Remove(uint64_t key) { jobs_.erase(key); }

void Scheduler::SetReady(uint64_t key, uint32_t turns) {
  auto it = jobs_.find(key);
  if (it == jobs_.end()) return;
  if (it->second.ready == 0) it->second.passed = 0;
  it->second.ready = turns;
}

std::optional<uint64_t> Scheduler::Next(const std::function<bool(uint64_t key)>& may_go) const {
  const std::pair<const uint64_t, Entry>* best = nullptr;
  bool best_overdue = false;
  for (const auto& job : jobs_) {
    const Entry& entry = job.second;
    if (entry.ready == 0 || !may_go(job.first)) continue;
    bool overdue = entry.passed >= overtakes_;
    bool better;
    if (best == nullptr) {
      better = true;
    } else if (overdue != best_overdue) {
      better = overdue;
    } else if (overdue) {
      better = entry.passed > best->second.passed;
    } else {
      better = entry.priority > best->second.priority;  // equal: the map goes by submission
    }
    if (!better) continue;
    best = &job;
    best_overdue = overdue;
  }
  if (best == nullptr) return std::nullopt;
  return best->first;
}

void Scheduler::Served(uint64_t key) {
  auto served = jobs_.find(key);
  CUZK_CHECK(served != jobs_.end() && served->second.ready > 0);
  for (auto& [other_key, other] : jobs_) {
    if (other_key == key || other.ready == 0) continue;
    // Who waits behind an earlier job of its own priority is in its place, not passed.
    bool in_place = other.priority == served->second.priority && other_key > key;
    if (!in_place) other.passed++;
  }
  served->second.ready--;
  served->second.passed = 0;
}

std::vector<uint64_t> Scheduler::Expired(TimePoint now) const {
  std::vector<uint64_t> keys;
  for (const auto& [key, entry] : jobs_) {
    if (entry.deadline && *entry.deadline <= now) keys.push_back(key);
  }
  return keys;
}

std::optional<TimePoint> Scheduler::NextDeadline() const {
  std::optional<TimePoint> next;
  for (const auto& [key, entry] : jobs_) {
    if (entry.deadline && (!next || *entry.deadline < *next)) next = entry.deadline;
  }
  return next;
}

}  // namespace cuzk::engine
