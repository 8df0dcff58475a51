#pragma once
// The settings in force: one value that a reload replaces.

#include <utility>

#include "core/base/mutex.h"
#include "core/base/settings/settings.h"

namespace cuzk::daemon {

/// Thread-safe.
class LiveSettings {
 public:
  explicit LiveSettings(Settings settings) : settings_(std::move(settings)) {}
  Settings Get() const {
    MutexLock lock(mutex_);
    return settings_;
  }
  void Set(Settings settings) {
    MutexLock lock(mutex_);
    settings_ = std::move(settings);
  }

 private:
  mutable Mutex mutex_;
  Settings settings_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cuzk::daemon
