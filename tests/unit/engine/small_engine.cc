#include "tests/unit/engine/small_engine.h"

#include <thread>
#include <utility>

#include "core/circuit/bad_sectors.h"

namespace cuzk::testing_support {
namespace {

Proving& SharedProving() {
  static Proving proving(MixedCircuit({.size = 24}));
  return proving;
}

std::unique_ptr<SmallCircuit> SmallCircuitOf(uint32_t partition) {
  return MixedCircuit({.size = 24, .seed = partition + 1});
}

}  // namespace

filecoin::VanillaRequest SmallRequest(const std::string& payload, filecoin::Kind kind) {
  return {.kind = static_cast<uint64_t>(kind),
          .registered_proof = kind == filecoin::Kind::kPorep || kind == filecoin::Kind::kWindow ? 5u : 0u,
          .vanilla_proof = payload};
}

StatusOr<filecoin::RequestFacts> SmallWork::Check(const filecoin::VanillaRequest& request) const {
  const filecoin::KindRow* kind = filecoin::FindKind(request.kind);
  if (kind == nullptr) return absl::InvalidArgumentError(StrCat("invalid proof_kind: ", request.kind));
  filecoin::RequestFacts facts{};
  facts.kind = kind->kind;
  facts.proof = filecoin::FindRegisteredProof(facts.kind, request.registered_proof);
  if (facts.proof == nullptr) return absl::InvalidArgumentError("unknown registered proof");
  return facts;
}

StatusOr<filecoin::ParsedRequest> SmallWork::Parse(filecoin::VanillaRequest request) {
  const std::string& payload = request.vanilla_proof;
  if (payload.find("slow") != payload.npos) {
    parsing_ = payload.data();
    while (!slow_.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (payload.find("unreadable") != payload.npos) return absl::InvalidArgumentError("partition 0: unreadable");
  if (payload.find("bad-sectors") != payload.npos) {
    return circuit::BadSectorsError({{100, 7, "comm_r: is wrong"}, {57, 3, "comm_r: is wrong"}});
  }
  filecoin::ParsedRequest parsed{};
  parsed.proof = filecoin::FindRegisteredProof(static_cast<filecoin::Kind>(request.kind), request.registered_proof);
  for (uint32_t i = 0; i < static_cast<uint32_t>(payload[0] - '0'); ++i) {
    filecoin::Partition partition;
    // A partition that is to fail is marked by its index.
    bool bad = payload.find(StrCat("bad", i)) != payload.npos;
    partition.index = bad ? i + 1000 : i;
    partition.public_inputs = SmallCircuitOf(i)->PublicInputs();
    parsed.partitions.push_back(std::move(partition));
  }
  return parsed;
}

StatusOr<r1cs::Witness> SmallWork::Write(const filecoin::Circuit&, std::shared_ptr<const r1cs::Shape> shape,
                                         const filecoin::Partition& partition, memory::Lease lease, ThreadPool&) {
  if (synthesis_.load().count() > 0) std::this_thread::sleep_for(synthesis_.load());
  if (partition.index >= 1000) return absl::InvalidArgumentError("challenge 7: does not lead to its root");
  return SmallCircuitOf(partition.index)->MakeWitness(std::move(shape), r1cs::Layout::kNarrow, std::move(lease));
}

StatusOr<std::shared_ptr<const prover::ResidentParameters>> SmallParameters::Get(prover::Device& device,
                                                                                 const engine::Wanted& wanted,
                                                                                 std::stop_token stop,
                                                                                 const Progress& progress) {
  if (!available) return Missing(wanted.circuit);
  if (late) late(std::exchange(stop, {}));
  return store_.Get(device,
                    {.circuit = wanted.circuit.id, .path = path, .shape = wanted.shape, .urgency = wanted.urgency},
                    stop, progress);
}

SmallEngine::SmallEngine(SmallEngineOptions options)
    : proving_(SharedProving()), budget_(options.budget), work_(proving_, options.parsed_bytes) {
  parameters_ = std::make_unique<SmallParameters>(proving_, budget_);
  engine::EngineParts parts{.budget = &budget_, .pool = &pool_, .observer = options.observer};
  for (unsigned i = 0; i < options.devices; ++i) {
    cpus_.push_back(prover::MakeCpuDevice({.pool = &pool_, .allocator = &allocator_}));
    prover::Device* device = cpus_.back().get();
    if (options.compute.count() > 0) {
      recorded_.push_back(std::make_unique<RecordedDevice>(*device));
      recorded_.back()->set_compute(options.compute);
      device = recorded_.back().get();
    }
    devices_.push_back(std::make_unique<FaultyDevice>(*device, StrCat("GPU-small-", i)));
    if (options.hold) devices_.back()->Hold();
    parts.devices.push_back(devices_.back().get());
  }
  parts.clock = options.clock;
  parts.self_test = options.self_test;
  parts.device_kinds = options.kinds;
  parts.seams = {.after_assembly = options.after_assembly,
                 .before_device = options.before_device,
                 .batch_answer = options.batch_answer,
                 .store = options.store,
                 .store_patience = options.store_patience,
                 .work = &work_,
                 .parameters = parameters_.get()};
  auto engine = engine::Engine::Create(Filled(options.engine), std::move(parts));
  EXPECT_TRUE(engine.ok()) << engine.status();
  engine_ = *std::move(engine);
}

void SmallEngine::Stop() {
  work_.ReleaseSlow();
  for (auto& device : devices_) device->Release();
  engine_.reset();
  parameters_.reset();
}

SmallEngine::~SmallEngine() {
  Stop();
  EXPECT_EQ(budget_.Snapshot().used_bytes, 0u);
  EXPECT_EQ(allocator_.bytes_out(), 0u);
  EXPECT_EQ(allocator_.wrong_frees(), 0u);
}

engine::JobTicket SmallEngine::Submit(const std::string& id, const std::string& payload, filecoin::Kind kind,
                                      uint64_t priority) {
  auto ticket = engine_->Submit({.request_id = id, .priority = priority, .vanilla = SmallRequest(payload, kind)});
  EXPECT_TRUE(ticket.ok()) << ticket.status();
  return ticket.ok() ? *ticket : engine::JobTicket{};
}

engine::JobResult SmallEngine::Await(const engine::JobTicket& ticket) {
  auto result = engine_->Await(ticket.key, std::chrono::steady_clock::now() + std::chrono::minutes(5));
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : engine::JobResult{};
}

bool SmallEngine::Verifies(const engine::JobResult& result, uint32_t partitions) {
  if (result.proof == nullptr || result.proof->size() != partitions * groth16::Proof::kBytes) return false;
  const groth16::Verifier verifier(proving_.Open()->verifying_key());
  for (uint32_t i = 0; i < partitions; ++i) {
    auto bytes = AsBytes(*result.proof).subspan(i * groth16::Proof::kBytes).first<groth16::Proof::kBytes>();
    auto proof = groth16::Proof::FromBytes(bytes);
    if (!proof.ok() || !verifier.Verify({*proof, SmallCircuitOf(i)->PublicInputs()}, pool_).value()) return false;
  }
  return true;
}

void SmallEngine::WaitFor(const std::function<bool(const engine::EngineStatus&)>& condition) {
  auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (!condition(engine_->Snapshot())) {
    if (std::chrono::steady_clock::now() > limit) {
      ADD_FAILURE() << "the condition never held";
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void SmallEngine::ProveUntil(const std::function<bool(const engine::EngineStatus&)>& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition(engine_->Snapshot())) return;
    EXPECT_EQ(Prove("4").state, engine::JobState::kCompleted);
  }
  ADD_FAILURE() << "the condition never held";
}

}  // namespace cuzk::testing_support
