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
    MsmPlan plan = Must(PlanMsm<F>(Must(CurrentCardLimits()), static_cast<uint32_t>(k.size()), scratch, form));
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
    for (MsmForm form : kForms) {
      EXPECT_TRUE(this->Run(points, k, form) == this->Expected(k)) << n << ", form " << static_cast<int>(form);
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
  for (MsmForm form : kForms) EXPECT_TRUE(this->Run(points, one, form) == this->Expected(one));
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
  const prover::CardLimits card = Must(CurrentCardLimits());
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

TYPED_TEST(MsmOnDevice, SumsOfListedPoints) {
  auto points = KnownPoints<TypeParam>(70000, this->memory_, this->stream_);
  for (size_t n : {0, 1, 2, 1000, 70000}) {
    std::vector<uint32_t> list(n);
    Fr sum = Fr::Zero();
    for (size_t i = 0; i < n; ++i) {
      list[i] = static_cast<uint32_t>(i * 7 % 70000);
      sum += KnownLogarithm(list[i]);
    }
    list.push_back(0);
    auto device_list = this->Upload(list);
    auto count = this->Upload(std::vector<uint32_t>{static_cast<uint32_t>(n)});
    auto arena = Must(Buffer<std::byte>::Allocate(this->memory_, ListSumBytes<TypeParam>()));
    CUZK_ASSERT_OK(EnqueueListSum<TypeParam>(points.data(), device_list.data(), count.data(),
                                             Arena(arena.data(), arena.bytes()), this->results_.data(), this->stream_));
    CUZK_ASSERT_OK(this->stream_.view().Synchronize());
    EXPECT_TRUE(algebra::ToJacobian(this->results_.data()[0]) == algebra::ScalarMul(Generator<TypeParam>(), sum)) << n;
  }
}

}  // namespace
}  // namespace cuzk::gpu::testing
