#pragma once
// An engine over small circuits and devices that misbehave on demand: real witnesses, real proofs, real verification,
// in milliseconds.

#include <memory>
#include <string>
#include <vector>

#include "core/engine/engine.h"
#include "core/engine/state/parameter_source.h"
#include "core/engine/state/proof_work.h"
#include "tests/doubles/engine_options.h"
#include "tests/doubles/faulty_device.h"
#include "tests/doubles/recorded_device.h"
#include "tests/unit/memory/faulty_allocator.h"
#include "tests/unit/prover/proving.h"

namespace cuzk::testing_support {

/// Every kind is the mixed circuit. The payload (vanilla_proof) is a text: its first character is the number of
/// partitions; "unreadable" anywhere fails in parsing, "bad1" fails in the witness of partition 1, "slow" waits in
/// parsing until ReleaseSlow. What a PoRep is shows only in parsing, or before if the text has "shown".
class SmallWork final : public engine::ProofWork {
 public:
  SmallWork(const Proving& proving, uint64_t parsed_bytes) : proving_(proving), parsed_bytes_(parsed_bytes) {}
  void ReleaseSlow() { slow_.request_stop(); }
  /// The bytes of a "slow" payload that is being parsed, as they lie in memory; null: none.
  const char* parsing() const { return parsing_; }

  StatusOr<filecoin::RequestFacts> Check(const filecoin::VanillaRequest& request) const override;
  const filecoin::Circuit* CircuitOf(const filecoin::RequestFacts& facts,
                                     const filecoin::VanillaRequest& request) const override {
    const bool shown = facts.kind != filecoin::Kind::kPorep || request.vanilla_proof.find("shown") != std::string::npos;
    return shown ? facts.proof->circuit : nullptr;
  }
  uint64_t ParsedBytes(uint64_t) const override { return parsed_bytes_; }
  StatusOr<filecoin::ParsedRequest> Parse(filecoin::VanillaRequest request) override;
  StatusOr<std::shared_ptr<const r1cs::Shape>> MakeShape(const filecoin::Circuit&) override {
    ++shapes_;
    return proving_.shape();
  }
  /// How long a witness takes.
  void set_synthesis(std::chrono::milliseconds time) { synthesis_ = time; }
  /// How often a circuit was recorded.
  int shapes() const { return shapes_; }
  StatusOr<r1cs::Witness> Write(const filecoin::Circuit& circuit, std::shared_ptr<const r1cs::Shape> shape,
                                const filecoin::Partition& partition, memory::Lease lease, ThreadPool& pool) override;

 private:
  const Proving& proving_;
  const uint64_t parsed_bytes_;
  std::stop_source slow_;
  std::atomic<const char*> parsing_ = nullptr;
  std::atomic<int> shapes_ = 0;
  std::atomic<std::chrono::milliseconds> synthesis_{};
};

/// The one parameter file for every circuit, through a real store.
class SmallParameters final : public engine::ParameterSource {
 public:
  SmallParameters(const Proving& proving, memory::Budget& budget)
      : path(proving.path()), proving_(proving), store_({.budget = &budget, .allow_development = true}) {}
  bool Available(const filecoin::Circuit&) const override { return available; }
  Status Missing(const filecoin::Circuit& circuit) const override {
    return absl::FailedPreconditionError(StrCat("no parameters for ", circuit.id));
  }
  StatusOr<std::shared_ptr<const prover::ResidentParameters>> Get(prover::Device& device, const engine::Wanted& wanted,
                                                                  std::stop_token stop,
                                                                  const Progress& progress) override;
  StatusOr<bool> Evict(const std::string& circuit) override { return store_.Evict(circuit); }
  void Forget(const prover::Device& device) override { store_.Forget(device); }
  std::vector<prover::ParameterStatus> Snapshot() const override { return store_.Snapshot(); }

  std::atomic<bool> available = true;
  /// If it is set: every Get calls it first with what stops the load, and then loads in spite of that. Changed while
  /// all is idle.
  std::function<void(const std::stop_token&)> late;
  std::filesystem::path path;  ///< of the file that every circuit gets; changed while all is idle

 private:
  const Proving& proving_;
  prover::ParameterStore store_;
};

/// The machine's clocks, and what a test adds to them: deadlines of minutes pass when the test says so.
class ShiftedClock final : public Clock {
 public:
  TimePoint Now() const override { return Clock::Now() + shift_.load(); }
  int64_t WallMs() const override { return Clock::WallMs() + static_cast<int64_t>(Milliseconds(shift_.load())); }
  void Advance(Duration by) { shift_ = shift_.load() + by; }

 private:
  std::atomic<Duration> shift_ = Duration::zero();
};

struct SmallEngineOptions {
  unsigned devices = 1;
  memory::BudgetOptions budget{.limit_bytes = uint64_t{256} << 20};
  engine::EngineOptions engine;
  uint64_t parsed_bytes = 1000;  ///< that each parsed request counts in the budget
  /// If not 0, each device answers from its record after so long in its compute region.
  std::chrono::milliseconds compute{0};
  std::function<void(const std::string&, uint32_t, std::span<uint8_t>)> after_assembly;
  std::function<void(const std::string&)> before_device;
  std::function<bool(bool)> batch_answer;
  const Clock* clock = &Clock::System();
  engine::Observer* observer = nullptr;
  std::function<Status(prover::Device&)> self_test;  ///< EngineParts::self_test
  std::vector<std::set<filecoin::Kind>> kinds;       ///< EngineParts::device_kinds
  bool hold = false;  ///< the devices hold partitions from the start: a restored job is proved at once otherwise
  std::function<void(std::string_view)> store;  ///< EngineSeams::store
  std::chrono::milliseconds store_patience = store::kPatience;
};

class SmallEngine {
 public:
  explicit SmallEngine(SmallEngineOptions options = {});
  /// Checks that everything was given back.
  ~SmallEngine();

  engine::Engine& operator*() { return *engine_; }
  engine::Engine* operator->() { return engine_.get(); }
  FaultyDevice& device(size_t i = 0) { return *devices_[i]; }
  /// With SmallEngineOptions::compute.
  RecordedDevice& recorded(size_t i = 0) { return *recorded_[i]; }
  FaultyAllocator& allocator() { return allocator_; }
  memory::Budget& budget() { return budget_; }
  SmallWork& work() { return work_; }
  SmallParameters& parameters() { return *parameters_; }

  /// Submits `payload`; on an error the test fails.
  engine::JobTicket Submit(const std::string& id, const std::string& payload,
                           filecoin::Kind kind = filecoin::Kind::kPorep, uint64_t priority = 0);
  engine::JobResult Await(const engine::JobTicket& ticket);
  engine::JobResult Prove(const std::string& payload) { return Await(Submit("", payload)); }
  /// Proves request after request until the engine's state is as wanted, a thousand at most: which of several devices
  /// a partition goes to is not the test's to say.
  void ProveUntil(const std::function<bool(const engine::EngineStatus&)>& condition);
  /// Waits until the condition holds for a snapshot; fails the test after a long time.
  void WaitFor(const std::function<bool(const engine::EngineStatus&)>& condition);
  /// Checks the proof of a job of so many partitions, independently of the engine.
  bool Verifies(const engine::JobResult& result, uint32_t partitions);
  /// Ends the engine early, as the destructor would.
  void Stop();
  /// Ends the engine alone: what a device holds is held until the engine stops it.
  void StopHeld() { engine_.reset(); }

 private:
  Proving& proving_;
  ThreadPool pool_{2};
  FaultyAllocator allocator_;
  memory::Budget budget_;
  std::vector<std::unique_ptr<prover::Device>> cpus_;
  std::vector<std::unique_ptr<RecordedDevice>> recorded_;
  std::vector<std::unique_ptr<FaultyDevice>> devices_;
  SmallWork work_;
  std::unique_ptr<SmallParameters> parameters_;
  std::unique_ptr<engine::Engine> engine_;
};

filecoin::VanillaRequest SmallRequest(const std::string& payload, filecoin::Kind kind = filecoin::Kind::kPorep);

}  // namespace cuzk::testing_support
