// Transforms in every order, the quotient, and Poseidon permutations, by each arithmetic, with every answer checked.

#include <benchmark/benchmark.h>

#include "core/algebra/ntt/ntt.h"
#include "core/circuit/poseidon/poseidon_many.h"

namespace cuzk {
namespace {

using algebra::Arithmetic;
using algebra::Domain;
using algebra::Fr;

std::vector<Fr> Elements(size_t n) {
  std::vector<Fr> x{Fr::FromU64(3)};
  while (x.size() < n) x.push_back(x.back() * x.back() + Fr::FromU64(x.size()));
  return x;
}

bool Lacks(benchmark::State& state, Arithmetic arithmetic) {
  if (IsSupported(arithmetic)) return false;
  state.SkipWithError("this processor lacks it");
  return true;
}

/// To the coset in reversed order and back, which is the identity.
void CosetAndBack(benchmark::State& state, Arithmetic arithmetic) {
  if (Lacks(state, arithmetic)) return;
  ThreadPool pool(static_cast<size_t>(state.range(1)));
  const Domain domain(static_cast<unsigned>(state.range(0)), arithmetic);
  const std::vector<Fr> coefficients = Elements(domain.size());
  std::vector<Fr> values = coefficients;
  for (auto _ : state) {
    CosetNttToReversed(values, domain, pool);
    InverseCosetNttFromReversed(values, domain, pool);
  }
  if (values != coefficients) state.SkipWithError("the inverse does not undo the transform");
}

/// From rows to h, six transforms.
void QuotientBench(benchmark::State& state, Arithmetic arithmetic) {
  if (Lacks(state, arithmetic)) return;
  ThreadPool pool(static_cast<size_t>(state.range(1)));
  const Domain domain(static_cast<unsigned>(state.range(0)), arithmetic);
  const std::vector<Fr> rows = Elements(domain.size());
  std::vector<Fr> squares = rows;
  MultiplyPoints(squares, rows, arithmetic, pool);
  std::vector<Fr> a, b, c;
  for (auto _ : state) {
    state.PauseTiming();
    a = rows, b = rows, c = squares;
    state.ResumeTiming();
    Quotient(a, b, c, domain, pool);
  }
  if (!a.back().IsZero() || a.front().IsZero()) state.SkipWithError("the quotient does not divide");
}

void Sizes(benchmark::internal::Benchmark* b) {
  for (int64_t threads : {1, 2}) {
    for (int64_t size : {16, 20}) b->Args({size, threads});
  }
  b->ArgNames({"log2", "threads"})->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();
}
BENCHMARK_CAPTURE(CosetAndBack, scalar, Arithmetic::kScalar)->Apply(Sizes);
BENCHMARK_CAPTURE(CosetAndBack, ifma, Arithmetic::kIfma)->Apply(Sizes);
BENCHMARK_CAPTURE(QuotientBench, scalar, Arithmetic::kScalar)->Apply(Sizes);
BENCHMARK_CAPTURE(QuotientBench, ifma, Arithmetic::kIfma)->Apply(Sizes);

/// Permutations a second on one core; `traces` with the values that witnesses need.
void PoseidonBench(benchmark::State& state, Arithmetic arithmetic, bool traces) {
  if (Lacks(state, arithmetic)) return;
  constexpr size_t kCount = 256;
  const auto arity = static_cast<uint32_t>(state.range(0));
  const std::vector<Fr> preimages = Elements(kCount * arity);
  const Fr tag = circuit::MerkleTag(arity);
  std::vector<Fr> digests(kCount);
  for (auto _ : state) {
    if (traces) {
      digests[kCount - 1] = circuit::PoseidonTraces(preimages, arity, tag, arithmetic).digest(kCount - 1);
    } else {
      circuit::PoseidonHashMany(preimages, arity, tag, digests, arithmetic);
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(kCount) * state.iterations());
  if (digests.back() != circuit::PoseidonHash(std::span(preimages).last(arity))) state.SkipWithError("wrong digest");
}
void Arities(benchmark::internal::Benchmark* b) { b->Arg(2)->Arg(8)->Arg(11)->ArgName("arity"); }
BENCHMARK_CAPTURE(PoseidonBench, scalar, Arithmetic::kScalar, false)->Apply(Arities);
BENCHMARK_CAPTURE(PoseidonBench, ifma, Arithmetic::kIfma, false)->Apply(Arities);
BENCHMARK_CAPTURE(PoseidonBench, scalar_traces, Arithmetic::kScalar, true)->Apply(Arities);
BENCHMARK_CAPTURE(PoseidonBench, ifma_traces, Arithmetic::kIfma, true)->Apply(Arities);

}  // namespace
}  // namespace cuzk

BENCHMARK_MAIN();
