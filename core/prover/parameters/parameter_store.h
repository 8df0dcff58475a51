#pragma once
// Parameters of circuits on devices: loaded once, shared by all partitions that need them, and unloaded when they are
// idle and their memory is needed.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/progress.h"
#include "core/base/status.h"
#include "core/groth16/identity.h"
#include "core/memory/budget.h"
#include "core/prover/device/device.h"
#include "core/prover/parameters/load_turns.h"
#include "core/prover/parameters/verified_files.h"

namespace cuzk::prover {

/// Whether the digest of a file is computed when the file is loaded. kCheck: unless the file is unchanged since its
/// digest was last computed; kAlways: at each load; kSkip: never.
enum class DigestPolicy { kCheck, kAlways, kSkip };

/// Everything about the parameters of one circuit.
struct ParameterRequest {
  std::string circuit;         ///< circuit id, e.g. "porep-32g"
  std::filesystem::path path;  ///< of the `.params`
  std::shared_ptr<const r1cs::Shape> shape;
  std::optional<std::string> published_digest;  ///< of the registry's table, if it has one
  LoadUrgency urgency;
};

struct ParameterStoreOptions {
  memory::Budget* budget = nullptr;  ///< must outlive the store
  bool allow_development = false;
  DigestPolicy digest = DigestPolicy::kCheck;
  /// Where the files whose digest was found right are remembered over restarts; empty: nowhere.
  std::filesystem::path verified_files;
  groth16::PointPolicy points = groth16::PointPolicy::kCurve;
  PlanOptions plan;
  /// Is told of faults that do not stop a load; may be empty. Called by any thread.
  std::function<void(const std::string&)> warn;
};

/// One circuit on one device, as status shows it.
struct ParameterStatus {
  std::string circuit;
  const Device* device = nullptr;
  enum class State { kLoading, kReady, kFailed } state = State::kLoading;  ///< a failed one is soon forgotten
  double fraction = 0;                                                     ///< of loading
  uint64_t host_bytes = 0, device_bytes = 0;
  bool development = false;
  bool in_use = false;               ///< there is an owner besides the store
  double last_used_seconds_ago = 0;  ///< since an owner last took or released them; 0 while in use
};

/// Thread-safe. A circuit is loaded once on a device; calls that ask for it during the load wait for it. The order in
/// which circuits are planned, reserved and loaded is that of LoadTurns; a load that is stopped for a critical one
/// begins again after it. Two devices that load the same file at the same time compute its digest once.
class ParameterStore {
 public:
  explicit ParameterStore(const ParameterStoreOptions& options);
  ~ParameterStore();

  /// The parameters, loaded if necessary. First reserves their host bytes in the budget, which unloads idle parameters
  /// if there is no room, and waits while the missing bytes are in use. If the device lacks memory, idle parameters on
  /// it are unloaded, the least recently used first, but never a small circuit for a large one: that would free too
  /// little. The digest is computed by a thread of its own while the file is loaded, and parameters with a wrong digest
  /// are never returned. One thread at a time calls `progress`. Errors: those of ParameterFile::Open, ExpectedDigestOf,
  /// CheckDigest and Device::Load, annotated with the circuit; FailedPrecondition for development parameters that are
  /// not allowed, or a file that changes while it is loaded; NotFound for a missing file; ResourceExhausted if the
  /// budget or the device could never hold them; Cancelled by `stop`. After a failed load all calls that waited for it
  /// get the error, and the next Get tries again.
  StatusOr<std::shared_ptr<const ResidentParameters>> Get(Device& device, const ParameterRequest& request,
                                                          std::stop_token stop, const Progress& progress);

  /// Unloads the circuit's idle parameters on all devices. True if there were any; FailedPrecondition if in use.
  StatusOr<bool> Evict(const std::string& circuit);
  /// Unloads idle parameters, the least recently used first, until at least `host_bytes` are freed or none is idle.
  /// Returns the bytes freed. The store registers it as a reclaimer of the budget.
  uint64_t EvictIdle(uint64_t host_bytes);
  /// Forgets all parameters on a device, when it is lost. Owners keep theirs.
  void Forget(const Device& device);

  std::vector<ParameterStatus> Snapshot() const;

 private:
  struct Entry;
  struct Held;
  using Key = std::pair<const Device*, std::string>;
  using File = std::shared_ptr<const groth16::ParameterFile>;
  Status Load(Device& device, const ParameterRequest& request, Entry& entry, std::stop_token stop,
              const Progress& progress);
  StatusOr<groth16::ExpectedDigest> Expected(const ParameterRequest& request) const;
  StatusOr<std::shared_ptr<const Held>> PlaceChecked(Device& device, const ParameterRequest& request, const File& file,
                                                     const groth16::ExpectedDigest& expected,
                                                     const LoadOptions& options);
  StatusOr<std::shared_ptr<const Held>> Place(Device& device, const ParameterRequest& request, const File& file,
                                              const LoadOptions& options);
  StatusOr<std::shared_ptr<const Held>> PlaceNow(Device& device, const ParameterRequest& request, const File& file,
                                                 const LoadOptions& options);
  StatusOr<Plan> PlanWithRoom(Device& device, const ParameterRequest& request);
  uint64_t IdleOn(const Device& device) const;
  bool EvictFrom(const Device& device, uint64_t for_points);
  std::shared_ptr<const ResidentParameters> Use(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ParameterStoreOptions options_;
  mutable Mutex mutex_;
  Condition changed_;
  std::map<Key, std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
  LoadTurns turns_;
  OnceAtATime digests_;
  VerifiedFiles verified_;
  memory::Registration reclaimer_;  // last: ends before the rest
};

}  // namespace cuzk::prover
