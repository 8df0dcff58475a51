#pragma once
// Whether the folder of the job store takes what a job writes: a disk that is full, gone or hangs accepts no job.

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "core/base/status.h"
#include "core/engine/store_calls.h"

namespace cuzk::daemon {

/// Writes nothing that stays: makes a file in the folder, has room given to it and removes it. RESOURCE_EXHAUSTED if
/// there is none; other errors as the system says.
Status TryStateDisk(const std::filesystem::path& directory);

/// Tries on a thread of its own, since a disk may hang. Thread-safe.
class StateDisk {
 public:
  using Try = std::function<Status(const std::filesystem::path&)>;

  /// No folder: always well. The other two are for tests.
  explicit StateDisk(std::filesystem::path directory, Try attempt = TryStateDisk,
                     std::chrono::seconds patience = engine::kStorePatience);

  /// UNAVAILABLE while no job could be kept, with the folder and why: as the last attempt found, or because the next
  /// one has not come back within `patience`. Recovers by itself.
  Status Check() const;

 private:
  void Run(const std::stop_token& stop);

  const std::filesystem::path directory_;
  const Try attempt_;
  const std::chrono::seconds patience_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  Status last_;                                         // guarded by mutex_
  std::chrono::steady_clock::time_point trying_since_;  // guarded by mutex_
  bool trying_ = false;                                 // guarded by mutex_
  std::jthread thread_;                                 // last: ends before the rest
};

}  // namespace cuzk::daemon
