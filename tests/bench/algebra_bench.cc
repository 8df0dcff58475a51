// Fields, MSM, transforms, pairing and fixed-base multiplication, by arithmetic and number of threads. Every benchmark
// checks what it computed, another way, after its last round; a wrong answer ends it with an error.

#include <benchmark/benchmark.h>

#include "core/algebra/curve/pairing.h"
#include "core/algebra/curve/point_io.h"
#include "core/algebra/msm/fixed_base.h"
#include "core/algebra/msm/msm.h"
#include "core/algebra/ntt/ntt.h"

namespace cuzk::algebra {
namespace {

/// Pseudo-random elements below 2^254, the same in every run.
std::vector<Fr> Scalars(size_t n, uint64_t seed) {
  std::vector<Fr> out(n);
  for (Fr& x : out) {
    uint64_t words[4];
    for (uint64_t& w : words) {  // splitmix64
      uint64_t z = seed += 0x9e3779b97f4a7c15;
      z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
      z = (z ^ z >> 27) * 0x94d049bb133111eb;
      w = z ^ z >> 31;
    }
    words[3] >>= 2;
    x = Fr::FromMontgomery(words);
  }
  return out;
}

template <class F>
AffinePoint<F> Generator() {
  if constexpr (std::is_same_v<F, Fp>) {
    return G1Generator();
  } else {
    return G2Generator();
  }
}

/// Multiples of the generator with their logarithms, made once for the largest size asked for.
template <class F>
struct Bases {
  std::vector<Fr> logarithms;
  std::vector<AffinePoint<F>> points;
  static const Bases& Of(size_t n) {
    static Bases bases;
    if (bases.points.size() < n) {
      ThreadPool pool(0);
      bases.logarithms = Scalars(n, 1);
      bases.points.resize(n);
      FixedBase<F>(Generator<F>(), n, pool, BestArithmetic()).Multiply(bases.logarithms, bases.points, pool);
    }
    return bases;
  }
};

/// Skips, with words, an arithmetic that this processor lacks.
bool Lacks(benchmark::State& state, Arithmetic arithmetic) {
  if (IsSupported(arithmetic)) return false;
  state.SkipWithError("this processor lacks AVX-512 IFMA");
  return true;
}

template <class F>
void Multiply(benchmark::State& state) {
  const F start = F::FromU64(3).Inverse();
  F x[4] = {start, start.Square(), start + start, -start};
  size_t rounds = 0;
  for (auto _ : state) {
    for (int i = 0; i < 256; ++i) {
      for (F& v : x) v *= start;
    }
    rounds += 256;
  }
  benchmark::DoNotOptimize(x);
  if (x[0] != start.Pow(rounds + 1)) state.SkipWithError("wrong product");
  state.SetItemsProcessed(static_cast<int64_t>(4 * rounds));
}
BENCHMARK_TEMPLATE(Multiply, Fr);
BENCHMARK_TEMPLATE(Multiply, Fp);

template <class F>
void Invert(benchmark::State& state) {
  F x = F::FromU64(3);
  for (auto _ : state) x = x.Inverse() + F::One();
  if (!(x.Inverse() * x).IsOne()) state.SkipWithError("wrong inverse");
}
BENCHMARK_TEMPLATE(Invert, Fr);
BENCHMARK_TEMPLATE(Invert, Fp);

template <class F>
void MsmOf(benchmark::State& state, Arithmetic arithmetic) {
  if (Lacks(state, arithmetic)) return;
  const size_t n = size_t{1} << state.range(0);
  ThreadPool pool(static_cast<size_t>(state.range(1)));
  const auto& bases = Bases<F>::Of(n);
  const auto scalars = Scalars(n, 2);
  auto sum = JacobianPoint<F>::Infinity();
  for (auto _ : state) sum = Msm(std::span(bases.points).first(n), std::span<const Fr>(scalars), pool, arithmetic);
  Fr expected = Fr::Zero();
  for (size_t i = 0; i < n; ++i) expected += scalars[i] * bases.logarithms[i];
  if (!(sum == ScalarMul(Generator<F>(), expected))) state.SkipWithError("wrong sum");
}
void MsmSizes(benchmark::internal::Benchmark* b) {
  for (int64_t threads : {1, 2}) {
    for (int64_t size : {14, 16, 20}) b->Args({size, threads});
  }
  b->ArgNames({"log2", "threads"})->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();
}
void MsmBenchG1(benchmark::State& state, Arithmetic a) { MsmOf<Fp>(state, a); }
BENCHMARK_CAPTURE(MsmBenchG1, scalar, Arithmetic::kScalar)->Apply(MsmSizes);
BENCHMARK_CAPTURE(MsmBenchG1, fma, Arithmetic::kFma)->Apply(MsmSizes);
BENCHMARK_CAPTURE(MsmBenchG1, ifma, Arithmetic::kIfma)->Apply(MsmSizes);
void MsmG2Sizes(benchmark::internal::Benchmark* b) {
  for (int64_t threads : {1, 2}) {
    for (int64_t size : {14, 17}) b->Args({size, threads});
  }
  b->ArgNames({"log2", "threads"})->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();
}
void MsmBenchG2(benchmark::State& state, Arithmetic a) { MsmOf<Fp2>(state, a); }
BENCHMARK_CAPTURE(MsmBenchG2, scalar, Arithmetic::kScalar)->Apply(MsmG2Sizes);
BENCHMARK_CAPTURE(MsmBenchG2, fma, Arithmetic::kFma)->Apply(MsmG2Sizes);
BENCHMARK_CAPTURE(MsmBenchG2, ifma, Arithmetic::kIfma)->Apply(MsmG2Sizes);

template <class F>
void FixedBaseOf(benchmark::State& state, Arithmetic arithmetic) {
  if (Lacks(state, arithmetic)) return;
  const size_t n = size_t{1} << 16;
  ThreadPool pool(static_cast<size_t>(state.range(0)));
  const FixedBase<F> fixed(Generator<F>(), 10'000'000, pool, arithmetic);
  const auto scalars = Scalars(n, 3);
  std::vector<AffinePoint<F>> out(n);
  for (auto _ : state) fixed.Multiply(scalars, out, pool);
  for (size_t i = 0; i < n; i += 4099) {
    if (!(out[i] == ToAffine(ScalarMul(Generator<F>(), scalars[i])))) state.SkipWithError("wrong multiple");
  }
  state.SetItemsProcessed(static_cast<int64_t>(n) * static_cast<int64_t>(state.iterations()));
}
void FixedThreads(benchmark::internal::Benchmark* b) {
  b->Arg(1)->Arg(2)->ArgName("threads")->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();
}
void FixedBaseBenchG1(benchmark::State& state, Arithmetic a) { FixedBaseOf<Fp>(state, a); }
BENCHMARK_CAPTURE(FixedBaseBenchG1, scalar, Arithmetic::kScalar)->Apply(FixedThreads);
BENCHMARK_CAPTURE(FixedBaseBenchG1, fma, Arithmetic::kFma)->Apply(FixedThreads);
BENCHMARK_CAPTURE(FixedBaseBenchG1, ifma, Arithmetic::kIfma)->Apply(FixedThreads);
void FixedBaseBenchG2(benchmark::State& state, Arithmetic a) { FixedBaseOf<Fp2>(state, a); }
BENCHMARK_CAPTURE(FixedBaseBenchG2, scalar, Arithmetic::kScalar)->Apply(FixedThreads);
BENCHMARK_CAPTURE(FixedBaseBenchG2, fma, Arithmetic::kFma)->Apply(FixedThreads);
BENCHMARK_CAPTURE(FixedBaseBenchG2, ifma, Arithmetic::kIfma)->Apply(FixedThreads);

template <class F>
void ReadPoints(benchmark::State& state, Arithmetic arithmetic) {
  if (Lacks(state, arithmetic)) return;
  const size_t n = 16384;
  const auto& bases = Bases<F>::Of(n);
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<F, Fp>) {
      auto b = WriteG1Uncompressed(bases.points[i]);
      bytes.insert(bytes.end(), b.begin(), b.end());
    } else {
      auto b = WriteG2Uncompressed(bases.points[i]);
      bytes.insert(bytes.end(), b.begin(), b.end());
    }
  }
  ThreadPool pool(1);
  ReadOptions options{.check = state.range(0) ? PointCheck::kFull : PointCheck::kCurveOnly, .arithmetic = arithmetic};
  std::vector<AffinePoint<F>> out(n);
  bool ok = true;
  for (auto _ : state) {
    if constexpr (std::is_same_v<F, Fp>) {
      ok = ok && ReadG1Points(bytes, out, options, pool).ok();
    } else {
      ok = ok && ReadG2Points(bytes, out, options, pool).ok();
    }
  }
  if (!ok || !std::equal(out.begin(), out.end(), bases.points.begin())) state.SkipWithError("points differ");
  state.SetItemsProcessed(static_cast<int64_t>(n) * static_cast<int64_t>(state.iterations()));
}
void Checks(benchmark::internal::Benchmark* b) { b->Arg(0)->Arg(1)->ArgName("full")->Unit(benchmark::kMillisecond); }
void ReadPointsBenchG1(benchmark::State& state, Arithmetic a) { ReadPoints<Fp>(state, a); }
BENCHMARK_CAPTURE(ReadPointsBenchG1, scalar, Arithmetic::kScalar)->Apply(Checks);
BENCHMARK_CAPTURE(ReadPointsBenchG1, ifma, Arithmetic::kIfma)->Apply(Checks);
void ReadPointsBenchG2(benchmark::State& state, Arithmetic a) { ReadPoints<Fp2>(state, a); }
BENCHMARK_CAPTURE(ReadPointsBenchG2, scalar, Arithmetic::kScalar)->Apply(Checks);
BENCHMARK_CAPTURE(ReadPointsBenchG2, ifma, Arithmetic::kIfma)->Apply(Checks);

void NttBench(benchmark::State& state, Arithmetic arithmetic) {
  if (Lacks(state, arithmetic)) return;
  const unsigned log2 = static_cast<unsigned>(state.range(0));
  ThreadPool pool(static_cast<size_t>(state.range(1)));
  const Domain domain(log2, arithmetic);
  const auto coefficients = Scalars(size_t{1} << log2, 4);
  std::vector<Fr> values(coefficients.size());
  for (auto _ : state) {
    state.PauseTiming();
    values = coefficients;
    state.ResumeTiming();
    Ntt(values, domain, pool);
  }
  // One value by Horner's rule.
  Fr x = FrRootOfUnity(log2).Pow(12345), expected = Fr::Zero();
  for (size_t i = coefficients.size(); i-- > 0;) expected = expected * x + coefficients[i];
  if (!(values[12345] == expected)) state.SkipWithError("wrong value");
}
void NttSizes(benchmark::internal::Benchmark* b) {
  for (int64_t threads : {1, 2}) {
    for (int64_t size : {16, 20}) b->Args({size, threads});
  }
  b->ArgNames({"log2", "threads"})->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();
}
BENCHMARK_CAPTURE(NttBench, scalar, Arithmetic::kScalar)->Apply(NttSizes);
BENCHMARK_CAPTURE(NttBench, fma, Arithmetic::kFma)->Apply(NttSizes);
BENCHMARK_CAPTURE(NttBench, ifma, Arithmetic::kIfma)->Apply(NttSizes);

void Decompress(benchmark::State& state) {
  const auto g1 = WriteG1Compressed(Bases<Fp>::Of(8).points[3]);
  const auto g2 = WriteG2Compressed(Bases<Fp2>::Of(8).points[3]);
  bool ok = true;
  for (auto _ : state) ok = ok && ReadG1Compressed(g1).ok() && ReadG2Compressed(g2).ok() && ReadG1Compressed(g1).ok();
  if (!ok) state.SkipWithError("a point was refused");
}
BENCHMARK(Decompress)->Name("DecompressProof")->Unit(benchmark::kMicrosecond);

void MillerLoops(benchmark::State& state, Arithmetic arithmetic) {
  if (Lacks(state, arithmetic)) return;
  const size_t n = static_cast<size_t>(state.range(0));
  std::span<const G1Affine> p = std::span(Bases<Fp>::Of(n).points).first(n);
  std::span<const G2Affine> q = std::span(Bases<Fp2>::Of(n).points).first(n);
  Fp12 f;
  for (auto _ : state) f = MillerLoop(p, q, arithmetic);
  Fr sum = Fr::Zero();
  for (size_t i = 0; i < n; ++i) sum += Bases<Fp>::Of(n).logarithms[i] * Bases<Fp2>::Of(n).logarithms[i];
  if (!(FinalExponentiation(f) == Pow(Pairing(G1Generator(), G2Generator()), sum)))
    state.SkipWithError("wrong product");
}
void Pairs(benchmark::internal::Benchmark* b) {
  b->Arg(1)->Arg(3)->Arg(8)->Arg(12)->ArgName("pairs")->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(MillerLoops, scalar, Arithmetic::kScalar)->Apply(Pairs);
BENCHMARK_CAPTURE(MillerLoops, ifma, Arithmetic::kIfma)->Apply(Pairs);

void FinalExponentiations(benchmark::State& state) {
  const Fp12 f = MillerLoop({&G1Generator(), 1}, {&G2Generator(), 1});
  Gt g;
  for (auto _ : state) g = FinalExponentiation(f);
  if (!(g.Pow(FrParams::kModulus).IsOne()) || g.IsOne()) state.SkipWithError("not of order r");
}
BENCHMARK(FinalExponentiations)->Name("FinalExponentiation")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cuzk::algebra

BENCHMARK_MAIN();
