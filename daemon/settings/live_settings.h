#pragma once
// The settings in force: one value that a reload replaces.

#include <mutex>
#include <utility>

#include "core/base/settings/settings.h"

namespace cuzk::daemon {

/// Thread-safe.
class LiveSettings {
 public:
  explicit LiveSettings(Settings settings) : settings_(std::move(settings)) {}
  Settings Get() const {
    std::lock_guard lock(mutex_);
    return settings_;
  }
  void Set(Settings settings) {
    std::lock_guard lock(mutex_);
    settings_ = std::move(settings);
  }

 private:
  mutable std::mutex mutex_;
  Settings settings_;  // guarded by mutex_
};

}  // namespace cuzk::daemon
