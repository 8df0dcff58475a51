#include "core/algebra/msm/msm.h"

#include "gpu/msm/msm.h"
#include "gpu/runtime/card_limits.h"
#include "tests/device/known_points.h"

namespace cuzk::gpu::testing {
namespace {

using algebra::Fp;
using algebra::Fp2;
using algebra::Fr;

template <class F>
class MsmOnDevice : public DeviceTest {
 protected:
  using Point = algebra::AffinePoint<F>;
  using Sum = algebra::JacobianPoint<F>;

  Sum Run(const Buffer<Point>& points, const std::vector<Fr>& k, MsmForm form, uint64_t scratch = uint64_t{8} << 30,
          const IndexMap& map = {}) {
    auto scalars = Upload(k);
    MsmPlan plan = Must(PlanMsm<F>(card_, static_cast<uint32_t>(k.size()), scratch, form));
    auto arena = Must(Buffer<std::byte>::Allocate(memory_, plan.bytes));
    EXPECT_EQ(cudaMemset(arena.data(), 0xa5, arena.bytes()), cudaSuccess);
    Status status = EnqueueMsm<F>(plan, points.data(), scalars.data(), map, Arena(arena.data(), arena.bytes()),
                                  results_.data(), stream_);
    EXPECT_TRUE(status.ok()) << status.ToString();
    status = stream_.view().Synchronize();
    EXPECT_TRUE(status.ok()) << status.ToString();
    return FinishMsm<F>(plan, results_.data());
  }
  /// sum k_i log_i, times the generator.
  static Sum Expected(const std::vector<Fr>& k) {
    Fr sum = Fr::Zero();
    for (size_t i = 0; i < k.size(); ++i) sum += k[i] * KnownLogarithm(i);
    return algebra::ScalarMul(Generator<F>(), sum);
  }
  Pinned<algebra::XyzzPoint<F>> results_{kMaxMsmResultPoints};
};

using Groups = ::testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(MsmOnDevice, Groups);

constexpr MsmForm kForms[] = {MsmForm::kXyzz, MsmForm::kAffine};

TYPED_TEST(MsmOnDevice, EverySizeOfRandomScalars) {
  for (size_t n : {1, 2, 3, 5, 31, 32, 33, 100, 255, 1000, 4097, 65537, 300001}) {
    auto points = KnownPoints<TypeParam>(n, this->memory_, this->stream_);
    std::vector<Fr> k = RandomScalars(n, n);
    const auto expected = this->Expected(k);
    for (const prover::CardLimits& card : this->CardsToBe()) {
      this->card_ = card;
      for (MsmForm form : kForms) {
        EXPECT_TRUE(this->Run(points, k, form) == expected)
            << n << ", form " << static_cast<int>(form) << ", " << card.shared_multiprocessor_bytes << " bytes";
      }
    }
  }
}

TYPED_TEST(MsmOnDevice, EdgesOfTheScalarRange) {
  size_t n = 5000;
  auto points = KnownPoints<TypeParam>(n, this->memory_, this->stream_);
  std::vector<Fr> edges = {Fr::Zero(),
                           Fr::One(),
                           -Fr::One(),
                           Fr::FromU64(2).Inverse(),
                           -Fr::FromU64(2).Inverse(),
                           Fr::FromU64(1 << 22),
                           -Fr::FromU64(1 << 23),
                           Fr::FromU64(~0ull)};
  std::vector<Fr> k(n);
  for (size_t i = 0; i < n; ++i) k[i] = edges[i % edges.size()];
  for (MsmForm form : kForms) EXPECT_TRUE(this->Run(points, k, form) == this->Expected(k));
  for (const Fr& e : edges) {
    std::vector<Fr> equal(n, e);
    for (MsmForm form : kForms) EXPECT_TRUE(this->Run(points, equal, form) == this->Expected(equal));
  }
}

// More entries in one bin of the sort than a block has room for, and buckets of thousands of items.
TYPED_TEST(MsmOnDevice, UnevenScalars) {
  size_t n = 150001;
  auto points = KnownPoints<TypeParam>(n, this->memory_, this->stream_);
  std::vector<Fr> k = RandomScalars(n, 31), one(n, k[0]);
  for (const prover::CardLimits& card : this->CardsToBe()) {
    this->card_ = card;
    for (MsmForm form : kForms) EXPECT_TRUE(this->Run(points, one, form) == this->Expected(one));
  }
  for (size_t i = 0; i < n; ++i) {
    if (i % 3 != 0) k[i] = k[i % 3];
  }
  for (MsmForm form : kForms) EXPECT_TRUE(this->Run(points, k, form) == this->Expected(k));
}

TYPED_TEST(MsmOnDevice, RepeatedOppositeAndInfinitePoints) {
  using Point = algebra::AffinePoint<TypeParam>;
  size_t n = 20000;
  auto some = this->Download(KnownPoints<TypeParam>(7, this->memory_, this->stream_));
  some.push_back(Point::Infinity());
  some.push_back(-some[0]);
  some.push_back(-some[1]);
  for (size_t distinct : {size_t{1}, size_t{2}, some.size()}) {
    std::vector<Point> bases(n);
    for (size_t i = 0; i < n; ++i) bases[i] = some[(i * i + i / 3) % distinct];
    auto points = this->Upload(bases);
    std::vector<Fr> k = RandomScalars(n, 3);
    for (size_t i = 0; i < n; i += 2) k[i] = Fr::FromU64(i % 5);
    std::vector<Fr> per(distinct, Fr::Zero());
    for (size_t i = 0; i < n; ++i) per[(i * i + i / 3) % distinct] += k[i];
    auto expected = algebra::JacobianPoint<TypeParam>::Infinity();
    for (size_t j = 0; j < distinct; ++j) expected += algebra::ScalarMul(some[j], per[j]);
    for (MsmForm form : kForms) EXPECT_TRUE(this->Run(points, k, form) == expected) << distinct;
  }
}

TYPED_TEST(MsmOnDevice, LittleScratchMeansMoreBatches) {
  size_t n = 100000;
  auto points = KnownPoints<TypeParam>(n, this->memory_, this->stream_);
  std::vector<Fr> k = RandomScalars(n, 9);
  auto expected = this->Expected(k);
  const prover::CardLimits& card = this->card_;
  for (MsmForm form : kForms) {
    uint64_t whole = Must(PlanMsm<TypeParam>(card, n, uint64_t{8} << 30, form)).bytes;
    EXPECT_TRUE(this->Run(points, k, form, whole / 2) == expected);
  }
  auto none = PlanMsm<TypeParam>(card, n, 1 << 20);
  EXPECT_EQ(none.status().code(), absl::StatusCode::kResourceExhausted);
}

TYPED_TEST(MsmOnDevice, MapsTermsToPoints) {
  unsigned bits = 12;
  size_t n = size_t{1} << bits;
  auto points = KnownPoints<TypeParam>(n, this->memory_, this->stream_);
  std::vector<Fr> k = RandomScalars(n, 21), reversed(n);
  std::vector<uint32_t> list(n);
  for (size_t i = 0; i < n; ++i) {
    size_t r = 0;
    for (unsigned b = 0; b < bits; ++b) r = r << 1 | (i >> b & 1);
    reversed[r] = k[i];
    list[i] = static_cast<uint32_t>(r);
  }
  auto expected = this->Expected(reversed);
  IndexMap map;
  map.kind = IndexMap::Kind::kReversed;
  map.log2_size = static_cast<int>(bits);
  EXPECT_TRUE(this->Run(points, k, MsmForm::kBest, 1 << 30, map) == expected);
  auto device_list = this->Upload(list);
  map.kind = IndexMap::Kind::kList;
  map.list = device_list.data();
  EXPECT_TRUE(this->Run(points, k, MsmForm::kBest, 1 << 30, map) == expected);
}

// Lists that are short, that just fill the items of a long one, and that end within an item; with scratch for items and
// without. Capacities that no list reaches leave rounds without items.
TYPED_TEST(MsmOnDevice, SumsOfListedPoints) {
  constexpr size_t kPoints = 70000;
  const uint32_t capacity = 9u << 20;
  auto points = KnownPoints<TypeParam>(kPoints, this->memory_, this->stream_);
  auto device_list = Must(Buffer<uint32_t>::Allocate(this->memory_, capacity + 1));
  auto arena = Must(Buffer<std::byte>::Allocate(this->memory_, size_t{400} << 20));
  const prover::CardLimits& card = this->card_;
  for (size_t n : {size_t{0}, size_t{1}, size_t{2}, size_t{1000}, size_t{70000}, size_t{1} << 21, (size_t{1} << 21) + 1,
                   size_t{4500001}, size_t{capacity}}) {
    std::vector<uint32_t> list(n);
    Fr sum = Fr::Zero();
    for (size_t i = 0; i < n; ++i) {
      // Neighbours in an item are far from each other; some are opposite.
      list[i] = static_cast<uint32_t>((i * 7 + i / 70001) % kPoints);
      const bool negative = i % 5 == 0;
      sum += negative ? -KnownLogarithm(list[i]) : KnownLogarithm(list[i]);
      if (negative) list[i] |= 0x80000000u;
    }
    ASSERT_EQ(cudaMemset(device_list.data(), 0xa5, device_list.bytes()), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(device_list.data(), list.data(), n * sizeof(uint32_t), cudaMemcpyHostToDevice), cudaSuccess);
    auto count = this->Upload(std::vector<uint32_t>{static_cast<uint32_t>(n)});
    for (size_t scratch : {ListSumBytes<TypeParam>(), size_t{100} << 20, arena.bytes()}) {
      ASSERT_EQ(cudaMemset(arena.data(), 0xa5, arena.bytes()), cudaSuccess);
      CUZK_ASSERT_OK(EnqueueListSum<TypeParam>(card, points.data(), device_list.data(), static_cast<uint32_t>(capacity),
                                               count.data(), Arena(arena.data(), scratch), this->results_.data(),
                                               this->stream_));
      CUZK_ASSERT_OK(this->stream_.view().Synchronize());
      EXPECT_TRUE(algebra::ToJacobian(this->results_.data()[0]) == algebra::ScalarMul(Generator<TypeParam>(), sum))
          << n << " with " << scratch;
    }
  }
}

// Every addition of a list of equal points is a doubling or worse, and every item is summed again.
TYPED_TEST(MsmOnDevice, ListsOfEqualPoints) {
  const uint32_t n = 9u << 20;
  auto points = KnownPoints<TypeParam>(3, this->memory_, this->stream_);
  auto arena = Must(Buffer<std::byte>::Allocate(this->memory_, size_t{400} << 20));
  std::vector<uint32_t> list(n, 1);
  Fr sum = Fr::Zero();
  for (size_t i = 0; i < n; i += 3) list[i] = 2 | (i % 2 == 0 ? 0x80000000u : 0);
  for (uint32_t e : list) {
    const Fr one = KnownLogarithm(e & 3);
    sum += (e & 0x80000000u) != 0 ? -one : one;
  }
  auto device_list = this->Upload(list);
  auto count = this->Upload(std::vector<uint32_t>{n});
  CUZK_ASSERT_OK(EnqueueListSum<TypeParam>(this->card_, points.data(), device_list.data(), n, count.data(),
                                           Arena(arena.data(), arena.bytes()), this->results_.data(), this->stream_));
  CUZK_ASSERT_OK(this->stream_.view().Synchronize());
  EXPECT_TRUE(algebra::ToJacobian(this->results_.data()[0]) == algebra::ScalarMul(Generator<TypeParam>(), sum));
}

}  // namespace
}  // namespace cuzk::gpu::testing
