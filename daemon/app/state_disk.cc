#include "daemon/app/state_disk.h"

#include <utility>

#include "core/base/file.h"

namespace cuzk::daemon {
namespace {

using std::chrono::steady_clock;

/// Enough for a job and its row, if not for the largest.
constexpr uint64_t kRoom = uint64_t{1} << 20;
/// The payload of no job: what a crash leaves of it goes with those when the store is opened.
constexpr char kName[] = "0.payload";
constexpr std::chrono::seconds kPause{3}, kPauseInNeed{1};

}  // namespace

Status TryStateDisk(const std::filesystem::path& directory) {
  CUZK_ASSIGN_OR_RETURN(AtomicFile room, AtomicFile::Create(directory / kName, 0600));
  return room.Reserve(kRoom);
}

StateDisk::StateDisk(std::filesystem::path directory, Try attempt, std::chrono::seconds patience)
    : directory_(std::move(directory)), attempt_(std::move(attempt)), patience_(patience) {
  if (!directory_.empty()) thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

Status StateDisk::Check() const {
  std::lock_guard lock(mutex_);
  const auto hanging = std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - trying_since_);
  if (trying_ && hanging >= patience_) {
    return absl::UnavailableError(StrCat("jobs.state_directory: ", directory_.string(), " has not answered for ",
                                         hanging.count(), " s: no job can be kept"));
  }
  if (last_.ok()) return absl::OkStatus();
  return absl::UnavailableError(StrCat("jobs.state_directory: no job can be kept: ", last_.message()));
}

void StateDisk::Run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    trying_ = true;
    trying_since_ = steady_clock::now();
    lock.unlock();
    Status found = attempt_(directory_);
    lock.lock();
    trying_ = false;
    last_ = std::move(found);
    wake_.wait_for(lock, stop, last_.ok() ? kPause : kPauseInNeed, [] { return false; });
  }
}

}  // namespace cuzk::daemon
