#include "core/engine/reports/events.h"

#include <algorithm>

namespace cuzk::engine {

void Watcher::Offer(const JobProgress& progress) {
  if (key_ && *key_ != progress.key) return;
  {
    MutexLock lock(mutex_);
    if (ended_) return;
    entries_[progress.key].latest = progress;
  }
  changed_.NotifyAll();
}

void Watcher::End() {
  {
    MutexLock lock(mutex_);
    ended_ = true;
  }
  changed_.NotifyAll();
}

bool Watcher::over() const {
  MutexLock lock(mutex_);
  if (!ended_) return false;
  return std::none_of(entries_.begin(), entries_.end(),
                      [](const auto& entry) { return entry.second.latest.has_value(); });
}

std::optional<JobProgress> Watcher::Next(TimePoint until, std::stop_token stop) {
  MutexLock lock(mutex_);
  for (;;) {
    if (stop.stop_requested()) return std::nullopt;
    TimePoint now = std::chrono::steady_clock::now();
    TimePoint wake = until;
    bool pending = false;
    // Of those that are due, the one whose turn came first.
    auto due = entries_.end();
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (!it->second.latest) continue;
      pending = true;
      if (it->second.next > now) {
        wake = std::min(wake, it->second.next);
      } else if (due == entries_.end() || it->second.next < due->second.next) {
        due = it;
      }
    }
    if (due != entries_.end()) {
      JobProgress progress = *std::move(due->second.latest);
      due->second.latest.reset();
      due->second.next = now + kEventInterval;
      if (IsFinal(progress.state)) {
        entries_.erase(due);
        if (key_) ended_ = true;
      }
      return progress;
    }
    if ((ended_ && !pending) || now >= until) return std::nullopt;
    changed_.WaitUntil(mutex_, wake, stop);
  }
}

std::shared_ptr<Watcher> EventHub::Watch(std::optional<uint64_t> key, const std::vector<JobProgress>& present) {
  std::shared_ptr<Watcher> watcher(new Watcher(key));
  for (const JobProgress& progress : present) watcher->Offer(progress);
  MutexLock lock(mutex_);
  if (ended_) watcher->End();
  std::erase_if(watchers_, [](const auto& weak) { return weak.expired(); });
  watchers_.push_back(watcher);
  return watcher;
}

bool EventHub::watched() const {
  MutexLock lock(mutex_);
  return std::any_of(watchers_.begin(), watchers_.end(), [](const auto& weak) { return !weak.expired(); });
}

void EventHub::Publish(const JobProgress& progress) {
  MutexLock lock(mutex_);
  std::erase_if(watchers_, [&](const auto& weak) {
    auto watcher = weak.lock();
    if (watcher) watcher->Offer(progress);
    return watcher == nullptr;
  });
}

void EventHub::End() {
  MutexLock lock(mutex_);
  ended_ = true;
  for (const auto& weak : watchers_) {
    if (auto watcher = weak.lock()) watcher->End();
  }
}

}  // namespace cuzk::engine
