// Times of transforms and sums on the device: medians of five runs by events, each answer checked. Prints a table.
//
//   cuzk_device_bench [log2 of the largest size, default 27 [log2 of the only size, 0 for all [kilobytes of shared
//   memory]]]
//
// With the last one, plans are those of a card with so much shared memory a multiprocessor.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "core/algebra/ntt/ntt.h"
#include "gpu/msm/msm.h"
#include "gpu/ntt/transform.h"
#include "gpu/runtime/card_limits.h"
#include "tests/device/known_points.h"
#include "tests/device/operations.h"

namespace cuzk::gpu::testing {
namespace {

using algebra::Fr;

constexpr int kRuns = 5;

struct Times {
  double median, least, most;
};
Times Summary(std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  return {ms[ms.size() / 2], ms.front(), ms.back()};
}
void Print(const char* what, unsigned bits, const Times& t, bool right) {
  std::printf("%-28s 2^%-3u %9.3f ms  (%.3f .. %.3f)  %s\n", what, bits, t.median, t.least, t.most,
              right ? "answer right" : "ANSWER WRONG");
  std::fflush(stdout);
}

class Bench {
 public:
  void Rates() {
    std::printf("products: Fr %.1f G/s, Fp %.1f G/s, Fp2 %.1f G/s\n", Must(ProductsPerSecond<Fr>(4000)) / 1e9,
                Must(ProductsPerSecond<algebra::Fp>(2000)) / 1e9, Must(ProductsPerSecond<algebra::Fp2>(500)) / 1e9);
  }

  template <class Enqueue>
  Times Time(Enqueue enqueue) {
    std::vector<double> ms;
    for (int i = 0; i <= kRuns; ++i) {
      Must2(begin_.Record(stream_));
      Must2(enqueue());
      Must2(end_.Record(stream_));
      Must2(end_.Synchronize());
      if (i > 0) ms.push_back(Must(end_.MillisecondsSince(begin_)));
    }
    return Summary(ms);
  }

  /// Forward to reversed order, timed; then back again, which must give what was there.
  void Ntt(unsigned bits) {
    size_t n = size_t{1} << bits;
    auto tables = Must(DomainTables::Make(bits, memory_, stream_));
    std::vector<Fr> x = RandomScalars(1 << 12, bits);
    auto values = Must(Buffer<Fr>::Allocate(memory_, n));
    for (size_t at = 0; at < n; at += x.size()) {
      cudaMemcpy(values.data() + at, x.data(), std::min(n - at, x.size()) * sizeof(Fr), cudaMemcpyHostToDevice);
      x[at / x.size() % x.size()] += Fr::One();
    }
    std::vector<Fr> before(1 << 12), after(1 << 12);
    size_t piece = std::min<size_t>(n, 1 << 12);
    cudaMemcpy(before.data(), values.data() + n - piece, piece * sizeof(Fr), cudaMemcpyDeviceToHost);
    Epilogue scaled;
    scaled.scaled = true;
    scaled.scale = algebra::Domain(bits).size_inverse();
    Must2(tables.ToReversed(values.data(), false, {}, stream_));
    Must2(tables.FromReversed(values.data(), true, scaled, stream_));
    Must2(stream_.view().Synchronize());
    cudaMemcpy(after.data(), values.data() + n - piece, piece * sizeof(Fr), cudaMemcpyDeviceToHost);
    bool right = before == after;
    Print("NTT forward, to reversed", bits, Time([&] { return tables.ToReversed(values.data(), false, {}, stream_); }),
          right);
    Print("inverse NTT, from reversed", bits,
          Time([&] { return tables.FromReversed(values.data(), true, scaled, stream_); }), right);
    Epilogue coset = scaled;
    coset.shift_powers = -1;
    Print("inverse coset, to reversed", bits,
          Time([&] { return tables.ToReversed(values.data(), true, coset, stream_); }), right);
  }

  template <class F>
  void Msm(const char* what, unsigned bits, const Buffer<algebra::AffinePoint<F>>& points, MsmForm form) {
    size_t n = size_t{1} << bits;
    const Fr* scalars = scalars_.data();
    Fr sum = logarithms_[bits];
    MsmPlan plan =
        Must(PlanMsm<F>(card_, static_cast<uint32_t>(n), Must(memory_.Available()) - (uint64_t{1} << 30), form));
    auto arena = Must(Buffer<std::byte>::Allocate(memory_, plan.bytes));
    Pinned<algebra::XyzzPoint<F>> results(kMaxMsmResultPoints);
    bool right = true;
    std::vector<double> ms;
    for (int i = 0; i <= kRuns; ++i) {
      auto begin = std::chrono::steady_clock::now();
      Must2(
          EnqueueMsm<F>(plan, points.data(), scalars, {}, Arena(arena.data(), arena.bytes()), results.data(), stream_));
      Must2(stream_.view().Synchronize());
      auto got = FinishMsm<F>(plan, results.data());
      std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
      if (i > 0) ms.push_back(took.count());
      right = right && got == algebra::ScalarMul(Generator<F>(), sum);
    }
    Print(what, bits, Summary(ms), right);
    std::printf("    %d windows of %d bits (%d wider), batch %d, items of %u, segments of %u, scratch %.1f GB\n",
                plan.windows.count, plan.windows.width, plan.windows.wider, plan.batch, plan.item_limit, plan.segment,
                static_cast<double>(plan.bytes) / 1e9);
  }

  /// Every second point of n.
  template <class F>
  void ListSum(const char* what, unsigned bits, const Buffer<algebra::AffinePoint<F>>& points) {
    size_t n = size_t{1} << bits;
    std::vector<uint32_t> list;
    Fr sum = Fr::Zero();
    for (size_t i = 0; i < n; ++i) {
      if ((i * 0x9e3779b97f4a7c15ull >> 40 & 1) == 0) continue;
      list.push_back(static_cast<uint32_t>(i));
      sum += KnownLogarithm(i);
    }
    uint32_t size = static_cast<uint32_t>(list.size());
    auto device_list = Must(Buffer<uint32_t>::Allocate(memory_, size));
    auto count = Must(Buffer<uint32_t>::Allocate(memory_, 1));
    cudaMemcpy(device_list.data(), list.data(), device_list.bytes(), cudaMemcpyHostToDevice);
    cudaMemcpy(count.data(), &size, sizeof(size), cudaMemcpyHostToDevice);
    auto arena = Must(Buffer<std::byte>::Allocate(memory_, size_t{400} << 20));
    Pinned<algebra::XyzzPoint<F>> result(1);
    Times t = Time([&] {
      return EnqueueListSum<F>(card_, points.data(), device_list.data(), static_cast<uint32_t>(n), count.data(),
                               Arena(arena.data(), arena.bytes()), result.data(), stream_);
    });
    Print(what, bits, t, algebra::ToJacobian(result.data()[0]) == algebra::ScalarMul(Generator<F>(), sum));
  }

  /// Random scalars, the same for all sums, and sum k_i log_i over the first 2^b of them.
  void MakeScalars(unsigned most) {
    size_t n = size_t{1} << most, piece = std::min<size_t>(n, 1 << 16);
    std::vector<Fr> k(n), part(n / piece);
    ThreadPool pool(0);
    pool.ParallelFor(n / piece, 1, [&](size_t from, size_t to) {
      for (size_t p = from; p < to; ++p) {
        std::vector<Fr> some = RandomScalars(piece, p);
        part[p] = Fr::Zero();
        for (size_t i = 0; i < piece; ++i) {
          k[p * piece + i] = some[i];
          part[p] += some[i] * KnownLogarithm(p * piece + i);
        }
      }
    });
    logarithms_.assign(most + 1, Fr::Zero());
    for (unsigned bits = 0; bits <= most; ++bits) {
      for (size_t p = 0; p < (size_t{1} << bits) / piece; ++p) logarithms_[bits] += part[p];
    }
    scalars_ = Must(Buffer<Fr>::Allocate(memory_, n));
    cudaMemcpy(scalars_.data(), k.data(), scalars_.bytes(), cudaMemcpyHostToDevice);
  }

  DeviceMemory memory_;
  Stream stream_ = Must(Stream::Create());
  prover::CardLimits card_ = Must(CurrentCardLimits());

 private:
  Buffer<Fr> scalars_;
  std::vector<Fr> logarithms_;
  static void Must2(const Status& status) {
    if (status.ok()) return;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::exit(1);
  }
  Event begin_ = Must(Event::Create()), end_ = Must(Event::Create());
};

void Main(unsigned most, unsigned only, unsigned shared) {
  auto wanted = [&](unsigned bits) { return bits <= most && (only == 0 || bits == only); };
  Bench bench;
  if (shared != 0) bench.card_ = WithShared(bench.card_, shared);
  bench.Rates();
  for (unsigned bits : {20u, 22u, 24u, 26u, 27u}) {
    if (wanted(bits)) bench.Ntt(bits);
  }
  bench.MakeScalars(most);
  {
    auto points = KnownPoints<algebra::Fp>(size_t{1} << most, bench.memory_, bench.stream_);
    for (unsigned bits : {16u, 18u, 20u, 22u, 24u, 26u, 27u}) {
      if (!wanted(bits)) continue;
      if (bits <= 24) bench.Msm("G1 MSM, XYZZ", bits, points, MsmForm::kXyzz);
      if (bits >= 20) bench.Msm("G1 MSM, affine", bits, points, MsmForm::kAffine);
    }
    bench.ListSum("G1 sum of every second", std::min(most, 26u), points);
  }
  {
    unsigned top = std::min(most, 25u);
    auto points = KnownPoints<algebra::Fp2>(size_t{1} << top, bench.memory_, bench.stream_);
    for (unsigned bits : {16u, 20u, 22u}) {
      if (!wanted(bits)) continue;
      bench.Msm("G2 MSM, XYZZ", bits, points, MsmForm::kXyzz);
      bench.Msm("G2 MSM, affine", bits, points, MsmForm::kAffine);
    }
    bench.ListSum("G2 sum of every second", top, points);
  }
}

}  // namespace
}  // namespace cuzk::gpu::testing

int main(int argc, char** argv) {
  cuzk::gpu::testing::Main(argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 27,
                           argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 0,
                           argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 0);
  return 0;
}
