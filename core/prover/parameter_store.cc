#include "core/prover/parameter_store.h"

#include <algorithm>

#include "core/base/check.h"

namespace cuzk::prover {
namespace {

/// Loaded parameters with what they hold in the budget; the reservation goes after the parameters.
struct Held {
  memory::Reservation reservation;
  std::shared_ptr<const ResidentParameters> parameters;
};

/// One holder's share. When it ends, what waits for memory looks again: the parameters may be idle now.
struct Share {
  Share(std::shared_ptr<const Held> held, memory::Budget& budget) : held(std::move(held)), budget(budget) {}
  ~Share() {
    held.reset();
    budget.NotifyChange();
  }
  std::shared_ptr<const Held> held;
  memory::Budget& budget;
};

}  // namespace

struct ParameterStore::Entry {
  ParameterStatus::State state = ParameterStatus::State::kLoading;
  Status status;                 // why loading failed
  uint64_t done = 0, total = 1;  // of loading
  bool development = false;
  uint64_t last_use = 0;
  std::shared_ptr<const Held> held;  // set when ready

  bool idle() const { return state == ParameterStatus::State::kReady && held.use_count() == 1; }
};

ParameterStore::ParameterStore(const ParameterStoreOptions& options) : options_(options) {
  CUZK_CHECK(options.budget != nullptr);
  reclaimer_ = options.budget->AddReclaimer([this](uint64_t bytes) { EvictIdle(bytes); });
}

ParameterStore::~ParameterStore() = default;

StatusOr<std::shared_ptr<const ResidentParameters>> ParameterStore::Get(Device& device, const ParameterRequest& request,
                                                                        std::stop_token stop,
                                                                        const Progress& progress) {
  const Key key(&device, request.circuit);
  std::unique_lock lock(mutex_);
  for (;;) {
    auto found = entries_.find(key);
    if (found == entries_.end()) {
      auto entry = std::make_shared<Entry>();
      entries_[key] = entry;
      lock.unlock();
      Status status = Load(device, request, *entry, stop, progress);
      lock.lock();
      entry->state = status.ok() ? ParameterStatus::State::kReady : ParameterStatus::State::kFailed;
      entry->status = Annotate(status, request.circuit);
      found = entries_.find(key);
      const bool listed = found != entries_.end() && found->second == entry;
      if (!status.ok() && listed) entries_.erase(found);
      changed_.notify_all();
      if (!status.ok()) return entry->status;
      return Use(*entry);
    }
    std::shared_ptr<Entry> entry = found->second;
    auto loaded = [&] { return entry->state != ParameterStatus::State::kLoading; };
    if (!changed_.wait(lock, stop, loaded)) return absl::CancelledError("cancelled while parameters were being loaded");
    if (entry->state == ParameterStatus::State::kReady) return Use(*entry);
    // Whoever loaded was cancelled: this caller loads itself. Any other failure is everybody's.
    if (!absl::IsCancelled(entry->status)) return entry->status;
  }
}

std::shared_ptr<const ResidentParameters> ParameterStore::Use(Entry& entry) {
  entry.last_use = ++clock_;
  auto share = std::make_shared<const Share>(entry.held, *options_.budget);
  return {share, entry.held->parameters.get()};
}

Status ParameterStore::Load(Device& device, const ParameterRequest& request, Entry& entry, std::stop_token stop,
                            const Progress& progress) {
  CUZK_ASSIGN_OR_RETURN(Plan plan, device.MakePlan(*request.shape, options_.plan));
  CUZK_ASSIGN_OR_RETURN(auto file,
                        groth16::ParameterFile::Open(request.path, groth16::SectionCounts::Of(*request.shape)));
  const uint64_t bytes = file->bytes().size();
  const bool check = options_.digest == DigestPolicy::kCheck;
  uint64_t before = 0;
  Progress report = [&](uint64_t done, uint64_t) {
    const uint64_t total = check ? 2 * bytes : bytes;
    {
      std::lock_guard lock(mutex_);
      entry.done = before + done;
      entry.total = total;
    }
    if (progress) progress(before + done, total);
  };
  CUZK_ASSIGN_OR_RETURN(groth16::Provenance provenance, ProvenanceOf(request, *file, report));
  if (check) before = bytes;
  if (provenance == groth16::Provenance::kDevelopment && !options_.allow_development) {
    return absl::FailedPreconditionError(
        StrCat(request.path.string(), ": development parameters, which params.allow_development forbids"));
  }
  auto held = std::make_shared<Held>();
  CUZK_ASSIGN_OR_RETURN(held->reservation,
                        options_.budget->Reserve(memory::MemoryClass::kParameters, plan.parameter_host_bytes, stop));
  const LoadOptions load{.policy = options_.points, .plan = options_.plan, .progress = report, .stop = stop};
  CUZK_ASSIGN_OR_RETURN(held->parameters, device.Load(std::move(file), request.shape, load));
  std::lock_guard lock(mutex_);
  entry.development = provenance == groth16::Provenance::kDevelopment;
  entry.held = std::move(held);
  return absl::OkStatus();
}

StatusOr<groth16::Provenance> ParameterStore::ProvenanceOf(const ParameterRequest& request,
                                                           const groth16::ParameterFile& file,
                                                           const Progress& progress) const {
  if (options_.digest == DigestPolicy::kCheck) {
    return groth16::Identify(request.path, file.bytes(), request.published_digest, progress);
  }
  CUZK_ASSIGN_OR_RETURN(auto record, groth16::ReadDevelopmentRecord(request.path));
  return record ? groth16::Provenance::kDevelopment : groth16::Provenance::kPublished;
}

StatusOr<bool> ParameterStore::Evict(const std::string& circuit) {
  std::vector<std::shared_ptr<Entry>> dropped;  // destroyed after the lock
  bool in_use = false;
  {
    std::lock_guard lock(mutex_);
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
    std::lock_guard lock(mutex_);
    while (freed < host_bytes) {
      auto oldest = entries_.end();
      for (auto it = entries_.begin(); it != entries_.end(); ++it) {
        // Parameters that live on a device alone hold no host memory: dropping them frees nothing here.
        if (!it->second->idle() || it->second->held->reservation.bytes() == 0) continue;
        if (oldest == entries_.end() || it->second->last_use < oldest->second->last_use) oldest = it;
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
  std::lock_guard lock(mutex_);
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
  std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : entries_) {
    ParameterStatus status{.circuit = key.second, .device = key.first, .state = entry->state};
    status.fraction = static_cast<double>(entry->done) / static_cast<double>(entry->total);
    if (entry->state == ParameterStatus::State::kReady) {
      status.fraction = 1;
      status.host_bytes = entry->held->reservation.bytes();
      status.device_bytes = entry->held->parameters->plan().parameter_device_bytes;
      status.development = entry->development;
      status.in_use = !entry->idle();
    }
    out.push_back(std::move(status));
  }
  return out;
}

}  // namespace cuzk::prover
