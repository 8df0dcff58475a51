#pragma once
// Whether the folder of the job store takes what a job writes. There is one such judgement, made of what the store's
// own operations meet and of a trial that a thread of its own makes every few seconds, since a disk may hang.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>

#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/status.h"

namespace cuzk::store {

/// How long the disk may take for one operation. After that no job is accepted until it has answered.
inline constexpr std::chrono::seconds kPatience{10};

/// The pause between two trials while all is well.
inline constexpr std::chrono::seconds kTrialPause{3};

/// Makes a file in the folder, has room for a small job given to it, and removes it. RESOURCE_EXHAUSTED if there is no
/// room; other errors as the system says.
Status TryToWrite(const std::filesystem::path& directory);

/// Thread-safe.
class DiskHealth {
 public:
  using Trial = std::function<Status(const std::filesystem::path&)>;

  DiskHealth(std::filesystem::path directory, std::chrono::milliseconds patience, const Clock& clock)
      : directory_(std::move(directory)), patience_(patience), clock_(clock) {}

  /// One operation on the disk, from construction to destruction.
  class Operation {
   public:
    explicit Operation(DiskHealth& health);
    ~Operation();
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

   private:
    DiskHealth& health_;
    std::multiset<TimePoint>::iterator began_;
  };

  /// Remembers the open file as a part of the folder: its path must lead to it from now on.
  void Watch(int file, const std::filesystem::path& path);
  /// Begins the trials, the first of them after `first`.
  void Start(Trial trial, std::chrono::milliseconds first);
  /// Looks whether the folder is still the one that was opened. UNAVAILABLE if it was removed or replaced.
  Status CheckFolder();
  /// `call` is called once by the thread of the trials, when two of them in a row find another folder at the path:
  /// the folder that was opened will not come back. After OnReplaced(nullptr) no call is running.
  void OnReplaced(std::function<void()> call);
  /// A job was written: whatever a trial has found before is over.
  void Wrote();

  /// UNAVAILABLE while no job can be kept, with the reason: the folder is not the one that was opened, the oldest
  /// operation has not ended within the patience, or the latest trial failed. Recovers by itself. Waits for nothing.
  Status Check() const;
  /// UNAVAILABLE if the oldest operation has not ended within the patience. Waits for nothing.
  Status Answers() const;
  /// When the oldest operation that has not ended began.
  std::optional<TimePoint> OldestOperation() const;

 private:
  enum class Folder { kOpened, kRemoved, kReplaced };
  void Run(const Trial& trial, std::chrono::milliseconds first, const std::stop_token& stop);
  void TellIfReplaced(Folder before);
  Status FolderStatus() const;

  const std::filesystem::path directory_;
  const std::chrono::milliseconds patience_;
  const Clock& clock_;
  int watched_file_ = -1;  // set once, before other threads know of this
  std::filesystem::path watched_path_;
  std::atomic<Folder> folder_ = Folder::kOpened;  // as it was last seen
  Mutex call_mutex_;                              // held while on_replaced_ is called
  std::function<void()> on_replaced_ ABSL_GUARDED_BY(call_mutex_);
  mutable Mutex mutex_;
  Condition wake_;
  std::multiset<TimePoint> operations_ ABSL_GUARDED_BY(mutex_);  // that have not ended
  Status latest_ ABSL_GUARDED_BY(mutex_);                        // of the latest trial
  std::jthread thread_;                                          // last: ends before the rest
};

}  // namespace cuzk::store
