#include "core/store/health.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "core/base/file.h"
#include "core/base/thread.h"
#include "core/store/payload.h"

namespace cuzk::store {
namespace {

/// Enough for a job and its row, if not for the largest.
constexpr uint64_t kRoom = uint64_t{1} << 20;
constexpr std::chrono::seconds kPauseAfterFailure{1};

}  // namespace

Status TryToWrite(const std::filesystem::path& directory) {
  CUZK_ASSIGN_OR_RETURN(AtomicFile room, AtomicFile::Create(directory / kNoPayload, 0600));
  return room.Reserve(kRoom);
}

DiskHealth::Operation::Operation(DiskHealth& health) : health_(health) {
  const TimePoint now = health_.clock_.Now();
  MutexLock lock(health_.mutex_);
  began_ = health_.operations_.insert(now);
}

DiskHealth::Operation::~Operation() {
  MutexLock lock(health_.mutex_);
  health_.operations_.erase(began_);
}

void DiskHealth::Watch(int file, const std::filesystem::path& path) {
  watched_file_ = file;
  watched_path_ = path;
}

Status DiskHealth::CheckFolder() {
  struct stat opened {};
  struct stat now {};
  if (fstat(watched_file_, &opened) != 0) return ErrnoStatus(errno, "look at", watched_path_);
  if (stat(watched_path_.c_str(), &now) == 0 && now.st_dev == opened.st_dev && now.st_ino == opened.st_ino) {
    folder_ = Folder::kOpened;
  } else {
    folder_ = stat(directory_.c_str(), &now) == 0 ? Folder::kReplaced : Folder::kRemoved;
  }
  return FolderStatus();
}

void DiskHealth::OnReplaced(std::function<void()> call) {
  MutexLock lock(call_mutex_);
  on_replaced_ = std::move(call);
}

void DiskHealth::TellIfReplaced(Folder before) {
  // The second look: a folder that is being removed is empty for a moment.
  if (before != Folder::kReplaced || folder_ != Folder::kReplaced) return;
  MutexLock lock(call_mutex_);
  if (auto call = std::exchange(on_replaced_, nullptr)) call();
}

Status DiskHealth::FolderStatus() const {
  if (folder_ == Folder::kOpened) return absl::OkStatus();
  return absl::UnavailableError(StrCat("the job store in ", directory_.string(),
                                       " was removed or replaced while the daemon ran; restart the daemon"));
}

void DiskHealth::Wrote() {
  MutexLock lock(mutex_);
  latest_ = absl::OkStatus();
}

Status DiskHealth::Answers() const {
  const std::optional<TimePoint> since = OldestOperation();
  const TimePoint now = clock_.Now();
  if (!since || now - *since < patience_) return absl::OkStatus();
  return absl::UnavailableError(StrCat("the job store in ", directory_.string(), " has not answered for ",
                                       std::chrono::duration_cast<std::chrono::seconds>(now - *since).count(),
                                       " s: no job can be stored"));
}

Status DiskHealth::Check() const {
  CUZK_RETURN_IF_ERROR(Answers());
  Status found = FolderStatus();
  if (found.ok()) {
    MutexLock lock(mutex_);
    found = latest_;
  }
  if (found.ok()) return found;
  return absl::UnavailableError(StrCat("jobs.state_directory: no job can be stored: ", found.message()));
}

std::optional<TimePoint> DiskHealth::OldestOperation() const {
  MutexLock lock(mutex_);
  return operations_.empty() ? std::nullopt : std::optional(*operations_.begin());
}

void DiskHealth::Start(Trial trial, std::chrono::milliseconds first) {
  StatusOr<std::jthread> thread =
      StartThread("trials of the job store",
                  [this, trial = std::move(trial), first](const std::stop_token& stop) { Run(trial, first, stop); });
  if (thread.ok()) {
    thread_ = *std::move(thread);
    return;
  }
  // Without trials a full disk would be found by the job that meets it: no job is accepted, and the cause is told.
  MutexLock lock(mutex_);
  latest_ = thread.status();
}

void DiskHealth::Run(const Trial& trial, std::chrono::milliseconds first, const std::stop_token& stop) {
  TimePoint next = std::chrono::steady_clock::now() + first;
  Folder seen = Folder::kOpened;  // by the latest trial
  for (;;) {
    {
      MutexLock lock(mutex_);
      while (!stop.stop_requested() && wake_.WaitUntil(mutex_, next, stop)) {
      }
    }
    if (stop.stop_requested()) return;
    Status found;
    {
      const Operation operation(*this);
      found = trial(directory_);
    }
    if (watched_file_ >= 0) {
      const Folder before = seen;
      (void)CheckFolder();
      seen = folder_;
      TellIfReplaced(before);
    }
    next = std::chrono::steady_clock::now() + (found.ok() ? kTrialPause : kPauseAfterFailure);
    MutexLock lock(mutex_);
    latest_ = std::move(found);
  }
}

}  // namespace cuzk::store
