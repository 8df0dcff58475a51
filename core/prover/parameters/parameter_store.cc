#include "core/prover/parameters/parameter_store.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "core/base/check.h"
#include "core/base/thread.h"

namespace cuzk::prover {

/// Loaded parameters with what they hold in the budget; the reservation goes after the parameters.
struct ParameterStore::Held {
  memory::Reservation reservation;
  std::shared_ptr<const ResidentParameters> parameters;

  uint64_t device_bytes() const { return parameters->plan().parameter_device_bytes; }
  /// They were taken or given back. Called without the store's mutex too.
  void NoteUse() const { last_use_.store(std::chrono::steady_clock::now(), std::memory_order_relaxed); }
  std::chrono::steady_clock::time_point last_use() const { return last_use_.load(std::memory_order_relaxed); }

 private:
  mutable std::atomic<std::chrono::steady_clock::time_point> last_use_{};
};

/// Parameters below this share of another circuit's stay when that one is loaded: WinningPoSt is 1/180 of the smallest
/// of the others.
constexpr uint64_t kSmallShare = 64;

struct ParameterStore::Entry {
  ParameterStatus::State state = ParameterStatus::State::kLoading;
  Status status;                 // why loading failed
  uint64_t done = 0, total = 1;  // of loading
  bool development = false;
  std::shared_ptr<const Held> held;  // set when ready

  bool idle() const { return state == ParameterStatus::State::kReady && held.use_count() == 1; }
  /// Both are ready.
  bool UsedBefore(const Entry& other) const { return held->last_use() < other.held->last_use(); }
};

namespace {

/// One holder's share. When it ends, what waits for memory looks again: the parameters may be idle now.
template <class Held>
struct Share {
  Share(std::shared_ptr<const Held> held, memory::Budget& budget) : held(std::move(held)), budget(budget) {}
  ~Share() {
    held->NoteUse();
    held.reset();
    budget.NotifyChange();
  }
  std::shared_ptr<const Held> held;
  memory::Budget& budget;
};

/// Progress of two things that go over the same bytes, told as one: bytes done by both of twice the bytes.
class Halves {
 public:
  Halves(const Progress& whole, uint64_t bytes) : whole_(whole), bytes_(bytes) {}
  /// Of thing 0 or 1. Any thread.
  Progress Of(size_t thing) {
    return [this, thing](uint64_t done, uint64_t total) {
      MutexLock lock(mutex_);
      done_[thing] = total == 0 ? bytes_
                                : static_cast<uint64_t>(static_cast<double>(done) / static_cast<double>(total) *
                                                        static_cast<double>(bytes_));
      if (whole_) whole_(done_[0] + done_[1], 2 * bytes_);
    };
  }

 private:
  const Progress& whole_;
  const uint64_t bytes_;
  Mutex mutex_;
  std::array<uint64_t, 2> done_ ABSL_GUARDED_BY(mutex_){};
};

/// Runs the work in a thread of its own, or, where none is to be had, at once.
template <class Work>
std::jthread BeginOrRun(Work work) {
  StatusOr<std::jthread> thread = StartThread("the digest of a parameter file", work);
  if (thread.ok()) return *std::move(thread);
  work();
  return {};
}

}  // namespace

ParameterStore::ParameterStore(const ParameterStoreOptions& options)
    : options_(options), verified_(options.verified_files) {
  CUZK_CHECK(options.budget != nullptr);
  reclaimer_ = options.budget->AddReclaimer([this](uint64_t bytes) { EvictIdle(bytes); });
}

ParameterStore::~ParameterStore() = default;

StatusOr<std::shared_ptr<const ResidentParameters>> ParameterStore::Get(Device& device, const ParameterRequest& request,
                                                                        std::stop_token stop,
                                                                        const Progress& progress) {
  const Key key(&device, request.circuit);
  MutexLock lock(mutex_);
  for (;;) {
    auto found = entries_.find(key);
    if (found == entries_.end()) {
      auto entry = std::make_shared<Entry>();
      entries_[key] = entry;
      lock.Unlock();
      Status status = Load(device, request, *entry, stop, progress);
      lock.Lock();
      entry->state = status.ok() ? ParameterStatus::State::kReady : ParameterStatus::State::kFailed;
      entry->status = Annotate(status, request.circuit);
      found = entries_.find(key);
      const bool listed = found != entries_.end() && found->second == entry;
      if (!status.ok() && listed) entries_.erase(found);
      changed_.NotifyAll();
      if (!status.ok()) return entry->status;
      return Use(*entry);
    }
    std::shared_ptr<Entry> entry = found->second;
    while (entry->state == ParameterStatus::State::kLoading) {
      if (stop.stop_requested()) return absl::CancelledError("cancelled while parameters were being loaded");
      changed_.WaitUntil(mutex_, std::nullopt, stop);
    }
    if (entry->state == ParameterStatus::State::kReady) return Use(*entry);
    // If the caller that loaded them was cancelled, this one loads them itself. Any other failure is that of all
    // callers.
    if (!absl::IsCancelled(entry->status)) return entry->status;
  }
}

std::shared_ptr<const ResidentParameters> ParameterStore::Use(Entry& entry) {
  entry.held->NoteUse();
  auto share = std::make_shared<const Share<Held>>(entry.held, *options_.budget);
  return {share, entry.held->parameters.get()};
}

Status ParameterStore::Load(Device& device, const ParameterRequest& request, Entry& entry, std::stop_token stop,
                            const Progress& progress) {
  CUZK_ASSIGN_OR_RETURN(File file,
                        groth16::ParameterFile::Open(request.path, groth16::SectionCounts::Of(*request.shape)));
  CUZK_ASSIGN_OR_RETURN(const groth16::ExpectedDigest expected, Expected(request));
  const bool development = expected.provenance == groth16::Provenance::kDevelopment;
  if (development && !options_.allow_development) {
    return absl::FailedPreconditionError(
        StrCat(request.path.string(), ": development parameters, which params.allow_development forbids"));
  }
  Progress report = [&](uint64_t done, uint64_t total) {
    {
      MutexLock lock(mutex_);
      entry.done = done;
      entry.total = total;
    }
    if (progress) progress(done, total);
    turns_.LetPass(request.urgency.level, stop);
  };
  const LoadOptions load{.policy = options_.points, .plan = options_.plan, .progress = report, .stop = stop};
  LoadOptions alone = load;
  alone.progress = [&, bytes = file->file().size()](uint64_t done, uint64_t) { report(done, bytes); };
  const bool known = options_.digest == DigestPolicy::kSkip ||
                     (options_.digest == DigestPolicy::kCheck && verified_.Has(file->file(), expected.digest));
  CUZK_ASSIGN_OR_RETURN(std::shared_ptr<const Held> held, known ? Place(device, request, file, alone)
                                                                : PlaceChecked(device, request, file, expected, load));
  // What was loaded is what was hashed.
  CUZK_RETURN_IF_ERROR(file->CheckUnchanged());
  MutexLock lock(mutex_);
  entry.development = development;
  entry.held = std::move(held);
  return absl::OkStatus();
}

StatusOr<groth16::ExpectedDigest> ParameterStore::Expected(const ParameterRequest& request) const {
  if (options_.digest != DigestPolicy::kSkip) {
    return groth16::ExpectedDigestOf(request.path, request.published_digest);
  }
  CUZK_ASSIGN_OR_RETURN(const auto record, groth16::ReadDevelopmentRecord(request.path));
  using groth16::Provenance;
  return groth16::ExpectedDigest{record ? Provenance::kDevelopment : Provenance::kPublished, ""};
}

/// Places and computes the digest at the same time, each of which reads the file: the second finds it in memory, so
/// that the disk reads it once.
StatusOr<std::shared_ptr<const ParameterStore::Held>> ParameterStore::PlaceChecked(
    Device& device, const ParameterRequest& request, const File& file, const groth16::ExpectedDigest& expected,
    const LoadOptions& options) {
  Halves halves(options.progress, file->file().size());
  std::stop_source both;
  const std::stop_callback pass_on(options.stop, [&both] { both.request_stop(); });
  Status checked;
  auto check = [&] {
    const FileIdentity& id = file->file().identity();
    const std::string key =
        StrCat(id.device, " ", id.inode, " ", id.size, " ", id.modified_ns, " ", id.changed_ns, " ", expected.digest);
    checked = digests_.Do(key, both.get_token(),
                          [&] { return groth16::CheckDigest(file->file(), expected, halves.Of(0), both.get_token()); });
    if (!checked.ok()) both.request_stop();
  };
  LoadOptions load = options;
  load.progress = halves.Of(1);
  load.stop = both.get_token();
  StatusOr<std::shared_ptr<const Held>> held = absl::CancelledError("the digest is wrong");
  {
    std::jthread checker = BeginOrRun(check);
    if (!both.stop_requested()) held = Place(device, request, file, load);
    if (!held.ok()) both.request_stop();
  }
  // Either may have stopped the other: the error is the one that was first.
  if (!checked.ok() && !absl::IsCancelled(checked)) return checked;
  if (!held.ok()) return held.status();
  CUZK_RETURN_IF_ERROR(checked);
  const Status kept = verified_.Add(file->file(), expected.digest);
  if (!kept.ok() && options_.warn) options_.warn(StrCat("the digest will be computed again: ", kept.message()));
  return held;
}

/// Plans, reserves and loads. Waits for the budget without holding up the device's other loads: what they are for may
/// be what frees the memory.
StatusOr<std::shared_ptr<const ParameterStore::Held>> ParameterStore::Place(Device& device,
                                                                            const ParameterRequest& request,
                                                                            const File& file,
                                                                            const LoadOptions& options) {
  const bool small = LoadTurns::IsSmall(device, groth16::SectionCounts::Of(*request.shape).FileBytes());
  for (;;) {
    const uint64_t seen = options_.budget->ChangeCount();
    {
      CUZK_ASSIGN_OR_RETURN(LoadTurns::Turn turn, turns_.Enter(device, small, request.urgency, options.stop));
      // Stopped by the caller, or for a critical load, after which it begins again.
      std::stop_source either;
      const auto stop = [&either] { either.request_stop(); };
      const std::stop_callback by_caller(options.stop, stop), by_other(turn.stop(), stop);
      LoadOptions load = options;
      load.stop = either.get_token();
      auto held = PlaceNow(device, request, file, load);
      const bool yields = absl::IsCancelled(held.status()) && turn.stop().stop_requested();
      if (yields && !options.stop.stop_requested()) continue;
      if (!held.ok() || *held) return held;
    }
    CUZK_RETURN_IF_ERROR(options_.budget->WaitForRoom(memory::MemoryClass::kParameters, seen, options.stop));
  }
}

/// Nothing if the budget has no room now.
StatusOr<std::shared_ptr<const ParameterStore::Held>> ParameterStore::PlaceNow(Device& device,
                                                                               const ParameterRequest& request,
                                                                               const File& file,
                                                                               const LoadOptions& options) {
  for (uint64_t least = 0;;) {
    CUZK_ASSIGN_OR_RETURN(Plan plan, PlanWithRoom(device, request));
    auto reservation =
        options_.budget->TryReserve(memory::MemoryClass::kParameters, std::max(plan.parameter_host_bytes, least));
    if (absl::IsUnavailable(reservation.status())) return std::shared_ptr<const Held>();
    if (!reservation.ok()) return reservation.status();
    auto held = std::make_shared<Held>();
    held->reservation = *std::move(reservation);
    auto loaded = device.Load(file, request.shape, options);
    const uint64_t points = groth16::SectionCounts::Of(*request.shape).FileBytes();
    if (absl::IsResourceExhausted(loaded.status()) && EvictFrom(device, points)) continue;
    if (!loaded.ok()) return loaded.status();
    held->parameters = *std::move(loaded);
    // The device has the last word on where they went: its workers may have taken memory since the plan.
    least = held->parameters->plan().parameter_host_bytes;
    if (least > held->reservation.bytes()) continue;
    held->reservation.ShrinkTo(least);
    return held;
  }
}

/// The device's plan, after idle parameters went as far as they stand in its way.
StatusOr<Plan> ParameterStore::PlanWithRoom(Device& device, const ParameterRequest& request) {
  const uint64_t points = groth16::SectionCounts::Of(*request.shape).FileBytes();
  for (;;) {
    StatusOr<Plan> plan = device.MakePlan(*request.shape, options_.plan);
    const bool refused = absl::IsResourceExhausted(plan.status());
    // Streamed parameters are streamed for every proof, so idle ones go if that makes them resident.
    const bool streamed =
        plan.ok() && plan->placement == Placement::kPinnedStreamed && device.memory().free + IdleOn(device) > points;
    if ((!refused && !streamed) || !EvictFrom(device, points)) return plan;
  }
}

uint64_t ParameterStore::IdleOn(const Device& device) const {
  MutexLock lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [key, entry] : entries_) {
    if (key.first == &device && entry->idle()) bytes += entry->held->device_bytes();
  }
  return bytes;
}

/// Drops what was used least recently of the idle parameters that hold memory of the device, except those too small to
/// matter to a circuit with points of so many bytes; false if there are none.
bool ParameterStore::EvictFrom(const Device& device, uint64_t for_points) {
  std::shared_ptr<Entry> dropped;  // destroyed after the lock
  MutexLock lock(mutex_);
  auto oldest = entries_.end();
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if (it->first.first != &device || !it->second->idle()) continue;
    const Held& held = *it->second->held;
    if (held.device_bytes() == 0 || held.device_bytes() + held.reservation.bytes() <= for_points / kSmallShare)
      continue;
    if (oldest == entries_.end() || it->second->UsedBefore(*oldest->second)) oldest = it;
  }
  if (oldest == entries_.end()) return false;
  dropped = std::move(oldest->second);
  entries_.erase(oldest);
  return true;
}

StatusOr<bool> ParameterStore::Evict(const std::string& circuit) {
  std::vector<std::shared_ptr<Entry>> dropped;  // destroyed after the lock
  bool in_use = false;
  {
    MutexLock lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end();) {
      const bool same = it->first.second == circuit;
      if (same && !it->second->idle()) in_use = true;
      if (same && it->second->idle()) {
        dropped.push_back(std::move(it->second));
        it = entries_.erase(it);
      } else {
        ++it;
      }
    }
  }
  if (in_use) return absl::FailedPreconditionError(StrCat("parameters of ", circuit, " are in use"));
  return !dropped.empty();
}

uint64_t ParameterStore::EvictIdle(uint64_t host_bytes) {
  std::vector<std::shared_ptr<Entry>> dropped;  // destroyed after the lock
  uint64_t freed = 0;
  {
    MutexLock lock(mutex_);
    while (freed < host_bytes) {
      auto oldest = entries_.end();
      for (auto it = entries_.begin(); it != entries_.end(); ++it) {
        // Parameters that live on a device alone hold no host memory: dropping them frees nothing here.
        if (!it->second->idle() || it->second->held->reservation.bytes() == 0) continue;
        if (oldest == entries_.end() || it->second->UsedBefore(*oldest->second)) oldest = it;
      }
      if (oldest == entries_.end()) break;
      freed += oldest->second->held->reservation.bytes();
      dropped.push_back(std::move(oldest->second));
      entries_.erase(oldest);
    }
  }
  return freed;
}

void ParameterStore::Forget(const Device& device) {
  std::vector<std::shared_ptr<Entry>> dropped;  // destroyed after the lock
  MutexLock lock(mutex_);
  for (auto it = entries_.begin(); it != entries_.end();) {
    if (it->first.first == &device && it->second->state == ParameterStatus::State::kReady) {
      dropped.push_back(std::move(it->second));
      it = entries_.erase(it);
    } else {
      ++it;
    }
  }
}

std::vector<ParameterStatus> ParameterStore::Snapshot() const {
  std::vector<ParameterStatus> out;
  MutexLock lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  for (const auto& [key, entry] : entries_) {
    ParameterStatus status{.circuit = key.second, .device = key.first, .state = entry->state};
    status.fraction = static_cast<double>(entry->done) / static_cast<double>(entry->total);
    if (entry->state == ParameterStatus::State::kReady) {
      status.fraction = 1;
      status.host_bytes = entry->held->reservation.bytes();
      status.device_bytes = entry->held->device_bytes();
      status.development = entry->development;
      status.in_use = !entry->idle();
      const std::chrono::duration<double> unused = now - entry->held->last_use();
      status.last_used_seconds_ago = status.in_use ? 0 : std::max(0.0, unused.count());
    }
    out.push_back(std::move(status));
  }
  return out;
}

}  // namespace cuzk::prover
