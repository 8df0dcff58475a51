// How long witnesses take: one SHA-256 compression, one Poseidon permutation, and whole partitions of made requests.
// Each checks its answer before it is timed.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "core/base/check.h"
#include "core/circuit/poseidon/poseidon.h"
#include "core/circuit/sha256/sha256_gadget.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/samples/made_request.h"
#include "core/memory/host_allocator.h"
#include "core/r1cs/recorder.h"

namespace cuzk::circuit {
namespace {

using r1cs::Layout;
using r1cs::LeaseLayout;
using r1cs::Position;
using r1cs::WriterStreams;

template <class Cs>
void Compression(Cs& cs) {
  Booleans<Cs> block;
  for (int i = 0; i < 512; ++i) {
    block.push_back(Boolean<Cs>::Is(AllocateBit(cs, r1cs::GivenFlag<Cs>([&] { return i % 3 == 0; }))));
  }
  const ShaState<Cs> middle = ShaCompress<Cs>(cs, ShaInitialState<Cs>(), block);
  ShaCompress<Cs>(cs, middle, block);
}

void BM_TwoSha256Compressions(benchmark::State& state) {
  r1cs::ShapeRecorder recorder;
  Compression(recorder);
  const Position end = recorder.position(), begin{1, 0, 0};
  r1cs::ShapeBuilder builder;
  builder.Append(std::move(recorder).Take());
  const r1cs::Shape shape = std::move(builder).Finish();
  const LeaseLayout layout = LeaseLayout::ForRange(shape, Layout::kNarrow, begin, end);
  std::vector<std::byte> memory(layout.bytes), plain(layout.bytes);
  auto write = [&]<class Writer>(std::byte* out, Writer*) {
    Writer writer(shape, WriterStreams::At(shape, layout, begin, out, begin), begin);
    Compression(writer);
    writer.Finish(WriterStreams::At(shape, layout, begin, out, end));
  };
  write(plain.data(), static_cast<r1cs::PlainBodyWriter*>(nullptr));
  write(memory.data(), static_cast<r1cs::WitnessWriter*>(nullptr));
  CUZK_CHECK(memory == plain);
  for (auto _ : state) {
    r1cs::ClearSharedWord(layout, begin, memory.data(), end);
    write(memory.data(), static_cast<r1cs::WitnessWriter*>(nullptr));
  }
}
BENCHMARK(BM_TwoSha256Compressions);

void BM_PoseidonHash(benchmark::State& state) {
  std::vector<Fr> preimage(static_cast<size_t>(state.range(0)));
  for (size_t i = 0; i < preimage.size(); ++i) preimage[i] = Fr::FromU64(i);
  for (auto _ : state) benchmark::DoNotOptimize(PoseidonHash(preimage));
}
BENCHMARK(BM_PoseidonHash)->Arg(2)->Arg(8)->Arg(11);

void WritePartition(benchmark::State& state, const char* kind, const char* size) {
  const auto circuit = filecoin::CircuitByNames(kind, size);
  CUZK_CHECK(circuit.ok());
  const auto proof = filecoin::ProofToMake(**circuit);
  CUZK_CHECK(proof.ok());
  auto made = filecoin::MakeRequest(**proof, {.seed = 1});
  CUZK_CHECK(made.ok());
  const auto parsed = filecoin::ParseRequest(std::move(made->request));
  CUZK_CHECK(parsed.ok());
  const CircuitSpec spec = filecoin::SpecOf(**circuit);
  ThreadPool pool(1);
  const auto shape = MakeShape(spec);
  CUZK_CHECK(shape.ok());
  const uint64_t bytes = LeaseLayout::For(**shape, Layout::kNarrow).bytes;
  memory::AlignedAllocator allocator;
  auto lease = memory::Lease::Standalone(allocator, bytes);
  CUZK_CHECK(lease.ok());
  // Pages are there in a pool; they are not what is measured.
  std::memset(lease->bytes().data(), 1, bytes);
  for (auto _ : state) {
    auto witness = WriteWitness(spec, parsed->partitions[0].inputs, {*shape, Layout::kNarrow, *std::move(lease)}, pool);
    CUZK_CHECK(witness.ok());
    CUZK_CHECK(std::ranges::equal(witness->inputs().subspan(1), parsed->partitions[0].public_inputs));
    *lease = std::move(*witness).TakeLease();
  }
  state.counters["MB"] = static_cast<double>(bytes) / 1e6;
  state.counters["rows"] = static_cast<double>((*shape)->counts.rows);
}
BENCHMARK_CAPTURE(WritePartition, porep_2KiB, "porep", "2KiB")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(WritePartition, porep_32GiB, "porep", "32GiB")->Unit(benchmark::kMillisecond)->Iterations(2);
BENCHMARK_CAPTURE(WritePartition, snap_32GiB, "snap", "32GiB")->Unit(benchmark::kMillisecond)->Iterations(2);
BENCHMARK_CAPTURE(WritePartition, winning_32GiB, "winning", "32GiB")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk::circuit

BENCHMARK_MAIN();
