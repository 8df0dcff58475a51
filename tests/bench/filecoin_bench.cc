// From request bytes to partitions, on one thread: what parsing costs before any witness is written. Requests are made
// on the spot, at production size; each run must give as many partitions as the proof has.

#include <benchmark/benchmark.h>

#include <map>

#include "core/base/check.h"
#include "core/filecoin/format/c1_reader.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/samples/made_request.h"

namespace cuzk::filecoin {
namespace {

/// The made request of a kind at 32 GiB; made once.
const MadeRequest& Made(std::string_view kind) {
  static std::map<std::string, MadeRequest, std::less<>> made;
  auto found = made.find(kind);
  if (found == made.end()) {
    auto request = MakeRequest(**ProofToMake(**CircuitByNames(kind, "32GiB")), {});
    CUZK_CHECK(request.ok());
    found = made.emplace(kind, *std::move(request)).first;
  }
  return found->second;
}

void ReadC1Text(benchmark::State& state) {
  const MadeRequest& made = Made("porep");
  for (auto _ : state) CUZK_CHECK(ReadC1(made.request.vanilla_proof)->vanilla.partitions.size() == 10);
  state.SetBytesProcessed(static_cast<int64_t>(made.request.payload_bytes()) * state.iterations());
}

void Parse(benchmark::State& state, std::string_view kind) {
  const MadeRequest& made = Made(kind);
  for (auto _ : state) {
    state.PauseTiming();
    VanillaRequest request = made.request;
    state.ResumeTiming();
    auto parsed = ParseRequest(std::move(request));
    CUZK_CHECK(parsed.ok() && parsed->partitions.size() == made.proof->partitions());
  }
  state.SetBytesProcessed(static_cast<int64_t>(made.request.payload_bytes()) * state.iterations());
}

BENCHMARK(ReadC1Text)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Parse, porep_32GiB, "porep")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Parse, window_32GiB, "window")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Parse, snap_32GiB, "snap")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk::filecoin

BENCHMARK_MAIN();
