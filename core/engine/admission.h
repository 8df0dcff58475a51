#pragma once
// Admission: the scheduler says which job is next, and here its turn gets memory and a device. When memory is short:
// while anything is on its way, turns wait, since some will come back. When nothing is, what is idle yields: parameters
// that wait for their first use, then requests of which the store has a copy. Only a job or a load that does not fit
// even then is refused.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/engine/stages/context.h"
#include "core/engine/stages/device.h"
#include "core/engine/stages/synthesis.h"

namespace cuzk::engine {

class Admission {
 public:
  Admission(const StageContext& context, SynthesisStage& synthesis,
            const std::vector<std::unique_ptr<DeviceStage>>& devices)
      : c_(context), budget_(*context.parts.budget), synthesis_(synthesis), devices_(devices) {}
  /// RESOURCE_EXHAUSTED: the system gives no thread.
  Status Start();
  /// Wakes the thread when the engine is stopping.
  void Stop() { c_.state.admission.Notify(); }

 private:
  /// What a turn needs: either `parse` is set, to parse a request, or `synthesis`, to prove a partition.
  struct Turn {
    std::optional<ParseTask> parse;
    std::optional<SynthesisTask> synthesis;
    bool in_flight = false;  ///< whether anything was on its way before memory was asked for
    uint64_t seen = 0;       ///< the budget's change count then
    uint64_t lease_bytes = 0, host_bytes = 0;
    uint64_t request_bytes = 0;  ///< of a request that is in the store alone, and of its parsed form
    memory::Reservation request_memory;
    Job& job() const { return parse ? *parse->job : *synthesis->task.job; }
  };

  void Run();
  void Tick();
  /// Serves one turn. False if none can be served now.
  bool Serve();
  /// The next turn; false if there is none.
  bool Pick(Turn* turn);
  void PickParse(std::shared_ptr<Job> job, Turn* turn) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  bool PickPartition(std::shared_ptr<Job> job, Turn* turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  bool MayGo(uint64_t key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  DeviceStage* ChooseDevice(const Job& job, uint32_t index) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Reserves what the turn needs.
  Status Provide(Turn& turn);
  void Dispatch(Turn turn);
  void BeginParse(StateLock& lock, Turn& turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  bool BeginPartition(Turn& turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

  // Memory pressure. False where nothing can be done but to wait.
  bool Refused(const Turn& turn, const Status& status);
  bool Relieve();
  bool SetAside(StateLock& lock, const Job* favoured) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  std::vector<Parameters> TakeFresh(const StateLock& lock, const std::string& except)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Whether anything is on its way that memory may come back from.
  bool InFlight() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) {
    return c_.state.in_flight > c_.state.partitions_given_up.Abandoned(c_.Now());
  }
  /// Whether parameters are on their way.
  bool Loads() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) {
    return c_.state.loads > c_.state.loads_given_up.Abandoned(c_.Now());
  }
  /// The same, or a job waits for some.
  bool IsLoading() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

  const StageContext& c_;
  memory::Budget& budget_;
  SynthesisStage& synthesis_;
  const std::vector<std::unique_ptr<DeviceStage>>& devices_;
  // Of the thread alone.
  memory::Reservation held_;    // host memory of a partition whose lease is not there yet
  bool lease_missing_ = false;  // the latest turn waits for a lease
  memory::Registration budget_listener_;
  std::jthread thread_;  // last: joined first
};

}  // namespace cuzk::engine
