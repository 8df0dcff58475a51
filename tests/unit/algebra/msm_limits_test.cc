// What a sum takes, how it is stopped, and what it tells.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/algebra/msm/msm.h"
#include "core/algebra/msm/msm_plan.h"
#include "tests/unit/algebra/arithmetics.h"
#include "tests/unit/algebra/msm_laws.h"
#include "tests/unit/memory/faulty_allocator.h"

namespace cuzk::algebra {
namespace {

/// Knows the most that was out.
class PeakAllocator final : public memory::HostAllocator {
 public:
  StatusOr<std::byte*> Allocate(size_t bytes) override {
    const size_t out = out_ += bytes;
    size_t peak = peak_;
    while (peak < out && !peak_.compare_exchange_weak(peak, out)) {
    }
    return inner_.Allocate(bytes);
  }
  void Free(std::byte* data, size_t bytes) noexcept override {
    out_ -= bytes;
    inner_.Free(data, bytes);
  }
  size_t out() const { return out_; }
  size_t peak() const { return peak_; }

 private:
  memory::AlignedAllocator inner_;
  std::atomic<size_t> out_ = 0, peak_ = 0;
};

template <class F>
class MsmLimits : public testing::Test {
 protected:
  static constexpr size_t kTerms = std::is_same_v<F, Fp> ? 60000 : 20000;
  const KnownBases<F> bases_{kTerms, false, 17};
};
using Fields = testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(MsmLimits, Fields);

TYPED_TEST(MsmLimits, MemoryStaysWithinWhatIsPromised) {
  for (Arithmetic arithmetic : TestedArithmetics()) {
    for (size_t threads : {1, 3}) {
      ThreadPool pool(threads);
      for (size_t n : {size_t{1}, size_t{48}, size_t{49}, size_t{1000}, this->kTerms}) {
        for (size_t kind : {0, 2, 4}) {
          PeakAllocator scratch;
          const auto scalars = ScalarsOfKind(kind, n, 7);
          const auto bases = std::span(this->bases_.points).first(n);
          auto sum = Msm(bases, std::span<const Fr>(scalars),
                         MsmOptions{.pool = &pool, .arithmetic = arithmetic, .scratch = &scratch});
          ASSERT_TRUE(sum.ok());
          EXPECT_EQ(scratch.out(), 0u);
          EXPECT_LE(scratch.peak(), MsmScratchBytes(n, sizeof(AffinePoint<TypeParam>), threads)) << n;
        }
      }
    }
  }
}

TYPED_TEST(MsmLimits, EveryFailingAllocationIsAnError) {
  ThreadPool pool(2);
  testing_support::FaultyAllocator scratch;
  const size_t n = 3000;
  auto scalars = ScalarsOfKind(4, n, 3);  // of all classes
  for (size_t i = 0; i < 700; ++i) scalars[i] = Fr::One();
  std::vector<uint32_t> ones(n);
  for (size_t i = 0; i < n; ++i) ones[i] = static_cast<uint32_t>(i);
  const MsmOptions options{.pool = &pool, .scratch = &scratch};
  const auto bases = std::span<const AffinePoint<TypeParam>>(this->bases_.points).first(n);
  const auto full = Msm(bases, std::span<const Fr>(scalars), pool);
  size_t failing = 0;
  for (;; ++failing) {
    scratch.Fail(scratch.calls() + failing);
    auto sum = Msm(bases, std::span<const Fr>(scalars), options);
    EXPECT_EQ(scratch.bytes_out(), 0u);
    if (sum.ok()) {
      EXPECT_TRUE(*sum == full);
      break;
    }
    EXPECT_TRUE(absl::IsResourceExhausted(sum.status())) << sum.status();
  }
  EXPECT_GE(failing, 6u);
  for (failing = 0;; ++failing) {
    scratch.Fail(scratch.calls() + failing);
    auto sum = Msm(bases, ClassedScalars{ones, ones, scalars}, options);
    EXPECT_EQ(scratch.bytes_out(), 0u);
    if (sum.ok()) break;
    EXPECT_TRUE(absl::IsResourceExhausted(sum.status())) << sum.status();
  }
  EXPECT_GE(failing, 6u);
}

TYPED_TEST(MsmLimits, ProgressMovesToTheEnd) {
  for (Arithmetic arithmetic : TestedArithmetics()) {
    for (size_t threads : {1, 3}) {
      ThreadPool pool(threads);
      uint64_t last = 0, all = 0, calls = 0, largest_step = 0;
      const MsmOptions options{.pool = &pool, .arithmetic = arithmetic, .progress = [&](uint64_t done, uint64_t total) {
                                 EXPECT_GE(done, last);
                                 largest_step = std::max(largest_step, done - last);
                                 last = done, all = total, ++calls;
                               }};
      const auto scalars = ScalarsOfKind(0, this->kTerms, 11);
      ASSERT_TRUE(Msm(std::span(this->bases_.points), std::span<const Fr>(scalars), options).ok());
      EXPECT_EQ(last, all);
      EXPECT_GT(calls, 10u);
      EXPECT_LT(largest_step * 4, all) << threads;
      // Ones alone move too.
      last = calls = 0;
      std::vector<uint32_t> ones(200000, 5);
      ASSERT_TRUE(Msm(std::span(this->bases_.points), ClassedScalars{ones, {}, {}}, options).ok());
      EXPECT_EQ(last, all);
      EXPECT_GT(calls, 3u);
    }
  }
}

// What is done after the stop is what the threads had in hand.
TYPED_TEST(MsmLimits, AStopEndsASumInTheMiddle) {
  for (Arithmetic arithmetic : TestedArithmetics()) {
    for (size_t threads : {1, 3}) {
      ThreadPool pool(threads);
      testing_support::FaultyAllocator scratch;
      std::stop_source stop;
      uint64_t last = 0, all = 1;
      const MsmOptions options{.pool = &pool,
                               .arithmetic = arithmetic,
                               .scratch = &scratch,
                               .stop = stop.get_token(),
                               .progress = [&](uint64_t done, uint64_t total) {
                                 last = done, all = total;
                                 if (done * 10 > total) stop.request_stop();
                               }};
      const auto scalars = ScalarsOfKind(0, this->kTerms, 11);
      auto sum = Msm(std::span(this->bases_.points), std::span<const Fr>(scalars), options);
      EXPECT_TRUE(absl::IsCancelled(sum.status())) << sum.status();
      EXPECT_LT(last * 2, all) << threads;
      EXPECT_EQ(scratch.bytes_out(), 0u);
    }
  }
  // Asked before, nothing is begun.
  ThreadPool pool(1);
  std::stop_source stop;
  stop.request_stop();
  const std::vector<uint32_t> ones(1000, 5);
  const MsmOptions options{.pool = &pool, .stop = stop.get_token()};
  EXPECT_TRUE(absl::IsCancelled(
      Msm(std::span<const AffinePoint<TypeParam>>(this->bases_.points), ClassedScalars{ones, {}, {}}, options)
          .status()));
}

}  // namespace
}  // namespace cuzk::algebra
