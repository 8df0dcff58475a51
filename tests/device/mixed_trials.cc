// Many small proofs of all kinds on one card: memory stays as it is.
#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

#include "core/circuit/row_stretches.h"
#include "core/filecoin/request_directory.h"
#include "core/groth16/verifier.h"
#include "tests/device/partition_trials.h"

namespace cuzk::gpu::testing {
namespace {

/// A circuit with parameters and all partitions of its requests.
struct SmallCircuit {
  Workload work;
  std::shared_ptr<const prover::ResidentParameters> parameters;
};

StatusOr<SmallCircuit> MakeSmall(CudaDevice& card, const filecoin::Circuit& circuit, ThreadPool& pool) {
  SmallCircuit out;
  out.work.circuit = &circuit;
  out.work.spec = filecoin::SpecOf(circuit);
  CUZK_ASSIGN_OR_RETURN(out.work.shape, circuit::MakeShape(out.work.spec));
  groth16::GeneratorInput input{.shape = out.work.shape.get(), .waste = groth16::ToxicWaste::Random()};
  input.stretches = [&](const r1cs::OpenSink& open, ThreadPool& threads) {
    return circuit::StreamStretches(out.work.spec, *out.work.shape, open, threads);
  };
  memory::AlignedAllocator system;
  CUZK_ASSIGN_OR_RETURN(auto scalars, groth16::SectionScalars::Make(input, system, pool));
  CUZK_ASSIGN_OR_RETURN(out.parameters, card.MakeParameters(scalars, out.work.shape, {}));
  return out;
}

/// Every readable 2 KiB request, by circuit.
StatusOr<std::vector<SmallCircuit>> ReadRequests(CudaDevice& card, const std::filesystem::path& folder,
                                                 ThreadPool& pool) {
  std::vector<SmallCircuit> all;
  for (const filecoin::KindRow& kind : filecoin::Kinds()) {
    const std::filesystem::path place = folder / std::string(kind.name);
    if (!std::filesystem::is_directory(place)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(place)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with("2KiB-") || name.starts_with("2KiB-ni-")) continue;
      CUZK_ASSIGN_OR_RETURN(auto read, filecoin::ReadRequestDirectory(entry.path()));
      CUZK_ASSIGN_OR_RETURN(auto parsed, filecoin::ParseRequest(std::move(read.request)));
      auto same = std::ranges::find_if(all, [&](auto& c) { return c.work.circuit == parsed.proof->circuit; });
      if (same == all.end()) {
        CUZK_ASSIGN_OR_RETURN(SmallCircuit made, MakeSmall(card, *parsed.proof->circuit, pool));
        all.push_back(std::move(made));
        same = all.end() - 1;
      }
      for (auto& partition : parsed.partitions) same->work.partitions.push_back(std::move(partition));
    }
  }
  return all;
}

/// One proof from request to verified statement.
Status ProveOne(CudaDevice& card, memory::PinnedPool& leases, const SmallCircuit& circuit, size_t partition,
                unsigned worker, ThreadPool& pool) {
  const Workload& work = circuit.work;
  const auto layout = partition % 2 == 0 ? r1cs::Layout::kNarrow : r1cs::Layout::kPlain;
  CUZK_ASSIGN_OR_RETURN(auto lease, leases.Acquire(r1cs::LeaseLayout::For(*work.shape, layout).bytes, {}));
  CUZK_ASSIGN_OR_RETURN(auto witness, circuit::WriteWitness(work.spec, work.partitions[partition].inputs,
                                                            {work.shape, layout, std::move(lease)}, pool));
  CUZK_ASSIGN_OR_RETURN(auto pending, card.Start(circuit.parameters, std::move(witness), {.worker = worker}));
  CUZK_ASSIGN_OR_RETURN(groth16::MsmResults sums, pending->Finish());
  const groth16::VerifyingKey& key = circuit.parameters->verifying_key();
  CUZK_ASSIGN_OR_RETURN(auto proof, groth16::Assemble(key, sums, groth16::Blinding::Random()));
  CUZK_ASSIGN_OR_RETURN(bool right,
                        groth16::Verifier(key).Verify({proof, work.partitions[partition].public_inputs}, pool));
  return right ? absl::OkStatus() : absl::InternalError(StrCat(work.circuit->id, ": a proof does not verify"));
}

}  // namespace

Status ProveMixed(const std::filesystem::path& folder, uint32_t times) {
  ThreadPool pool(0);
  CUZK_ASSIGN_OR_RETURN(auto card, MakeCudaDevice({.pool = &pool}));
  CUZK_ASSIGN_OR_RETURN(std::vector<SmallCircuit> circuits, ReadRequests(*card, folder, pool));
  std::vector<std::pair<const SmallCircuit*, size_t>> partitions;
  for (const SmallCircuit& circuit : circuits) {
    std::printf("%s: %zu partitions\n", circuit.work.circuit->id.c_str(), circuit.work.partitions.size());
    for (size_t i = 0; i < circuit.work.partitions.size(); ++i) partitions.emplace_back(&circuit, i);
  }
  if (partitions.empty()) return absl::NotFoundError(StrCat("no 2 KiB requests below ", folder.string()));
  memory::Budget budget(uint64_t{4} << 30);
  memory::PinnedPool leases(card->host_allocator(), budget);
  auto round = [&](unsigned worker, size_t first, size_t last, Status& status) {
    for (size_t i = first + worker; i < last && status.ok(); i += 2) {
      const auto& [circuit, partition] = partitions[i % partitions.size()];
      status = ProveOne(*card, leases, *circuit, partition, worker, pool);
    }
  };
  auto run = [&](size_t first, size_t last) -> Status {
    Status status[2];
    {
      std::jthread other([&] { round(1, first, last, status[1]); });
      round(0, first, last, status[0]);
    }
    CUZK_RETURN_IF_ERROR(status[0]);
    return status[1];
  };
  // Every worker meets every partition, in either parity.
  CUZK_RETURN_IF_ERROR(run(0, partitions.size()));
  CUZK_RETURN_IF_ERROR(run(1, 1 + partitions.size()));
  const uint64_t device = card->device_memory().used(), pinned = leases.Snapshot().total_bytes,
                 free = card->memory().free;
  const auto begin = Clock::now();
  CUZK_RETURN_IF_ERROR(run(1, 1 + times));
  std::printf(
      "%u mixed proofs verified in %.1f s; card %llu bytes then, %llu now (free %llu, %llu); page-locked %llu, %llu\n",
      times, Seconds(Clock::now() - begin), static_cast<unsigned long long>(device),
      static_cast<unsigned long long>(card->device_memory().used()), static_cast<unsigned long long>(free),
      static_cast<unsigned long long>(card->memory().free), static_cast<unsigned long long>(pinned),
      static_cast<unsigned long long>(leases.Snapshot().total_bytes));
  // Buffers of partitions are kept by size: which sizes two workers hold at once is chance, but not how much in all.
  uint64_t lease = 0;
  for (const auto& [circuit, partition] : partitions) {
    lease = std::max(lease, r1cs::LeaseLayout::For(*circuit->work.shape, r1cs::Layout::kNarrow).bytes);
  }
  if (card->device_memory().used() > device + 2 * lease) return absl::InternalError("device memory grew");
  return absl::OkStatus();
}

}  // namespace cuzk::gpu::testing
