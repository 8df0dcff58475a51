#pragma once
// Many clients at once that behave as clients do: they cancel, disconnect, repeat themselves, run out of time; devices
// fail and the daemon restarts meanwhile. Whatever happens, every accepted job ends in exactly one state, and that
// state is true.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/engine/engine.h"

namespace cuzk::testing_support {

struct StormRequest {
  filecoin::VanillaRequest vanilla;
  size_t sample = 0;    ///< which of the world's requests this is
  std::string refused;  ///< not empty: it fails, with this in its error
};

/// What a storm goes over: one engine at a time, what it proves, and what befalls it.
class StormWorld {
 public:
  virtual ~StormWorld() = default;
  /// Starts an engine over the state that the one before left; its devices are healthy.
  virtual engine::Engine& Start() = 0;
  /// Ends the engine, and checks that nothing of it is left.
  virtual void Stop() = 0;
  virtual StormRequest MakeRequest(std::mt19937_64& random) = 0;
  /// Checks a proof, independently of the engine.
  virtual bool Verifies(const StormRequest& request, const std::string& proof) = 0;
  /// Something goes wrong with a device now or soon; `(injected)` is in what anybody hears of it.
  virtual void InjectFault(std::mt19937_64& random) = 0;
};

struct StormOptions {
  unsigned jobs = 100, clients = 10, restarts = 3, faults = 20;
  uint64_t seed = 1;
};

struct StormReport {
  unsigned accepted = 0, completed = 0, failed = 0, cancelled = 0, joined = 0, restarts = 0, losses = 0;
  std::string ToString() const;
};

/// Runs the storm; every violation is a failure of the test.
class Storm {
 public:
  Storm(StormWorld& world, const StormOptions& options);
  StormReport Run();

 private:
  /// An accepted job, its id unlike all others.
  struct Promise {
    StormRequest request;
    bool may_cancel = false, may_expire = false;
    std::set<std::string> heard;  // the answers
  };
  /// A ticket and the start whose engine gave it.
  struct Held {
    engine::JobTicket ticket;
    uint64_t generation = 0;
  };
  enum class Habit { kProve, kCancel, kDisconnect, kRepeat, kSameIdOtherPayload, kForget, kShortDeadline };

  void RunClient(unsigned client);
  void RunJob(const std::string& id, std::mt19937_64& random);
  /// Until it is accepted: who is told that there is no room, or that the daemon stops, comes back.
  Held Submit(const std::string& id, const StormRequest& request, std::optional<engine::TimePoint> until);
  /// Until it has ended, over restarts.
  engine::JobResult Await(const std::string& id, const StormRequest& request, std::optional<Held> held);
  void Hear(const std::string& id, const engine::JobResult& result);
  void Judge(const Promise& promise, const engine::JobResult& result);
  void Restart();
  void Sweep();
  /// Calls with the present engine, which stays while the call runs.
  template <class Call>
  auto With(Call call) {
    std::shared_lock lock(gate_);
    return call(*engine_, generation_);
  }
  void WaitForGeneration(uint64_t after);

  StormWorld& world_;
  const StormOptions options_;
  std::shared_mutex gate_;
  engine::Engine* engine_ = nullptr;      // guarded by gate_
  std::atomic<uint64_t> generation_ = 0;  // counts starts
  std::atomic<bool> restarting_ = false;
  std::atomic<unsigned> jobs_begun_ = 0, jobs_over_ = 0;
  std::mutex mutex_;
  std::map<std::string, Promise> promises_;  // by id; guarded by mutex_
  StormReport report_;                       // guarded by mutex_
};

/// Threads and open files of this process.
size_t CountThreads();
size_t CountFiles();

}  // namespace cuzk::testing_support
