#include "tests/device/on_device.h"
#include "tests/device/operations.h"

namespace cuzk::gpu::testing {
namespace {

using algebra::Fp;
using algebra::Fp2;
using algebra::Fr;

/// Random elements with the edges of the range among them.
template <class F>
std::vector<F> PrimeElements(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<F> r(n);
  for (size_t i = 0; i < n; ++i) {
    typename F::Canonical limbs;
    do {
      for (auto& l : limbs) l = random();
      limbs[F::kLimbs - 1] >>= F::kLimbs == 6 ? 3 : 1;
    } while (!F::IsCanonical(limbs));
    r[i] = F::FromCanonical(limbs);
    if (i % 16 == 0) r[i] = F::Zero();
    if (i % 16 == 1) r[i] = F::One();
    if (i % 16 == 2) r[i] = -F::One();
    if (i % 16 == 3) r[i].limb[0] = 0;
    if (i % 16 == 4)
      r[i] = F::FromMontgomery(
          algebra::FieldConstants<std::conditional_t<F::kLimbs == 6, algebra::FpParams, algebra::FrParams>>::PowerOfTwo(
              static_cast<unsigned>(random() % 300))
              .v);
  }
  std::shuffle(r.begin(), r.end(), random);
  return r;
}
template <class F>
std::vector<F> Elements(size_t n, uint64_t seed) {
  if constexpr (std::is_same_v<F, Fp2>) {
    auto a = PrimeElements<Fp>(n, seed), b = PrimeElements<Fp>(n, seed + 1);
    std::vector<F> r(n);
    for (size_t i = 0; i < n; ++i) r[i] = {a[i], b[i]};
    return r;
  } else {
    return PrimeElements<F>(n, seed);
  }
}

template <class F>
F OnHost(FieldOp op, const F& a, const F& b) {
  switch (op) {
    case FieldOp::kAdd:
      return a + b;
    case FieldOp::kSub:
      return a - b;
    case FieldOp::kMul:
      return a * b;
    case FieldOp::kSquare:
      return a * a;
    case FieldOp::kNegate:
      return -a;
    case FieldOp::kDouble:
      return a + a;
    case FieldOp::kInverse:
      return a.Inverse();
    case FieldOp::kKnownFactor:
      return a * b * b;
    case FieldOp::kOwnSquare:
      return a * b * a * b;
  }
  return a;
}

template <class F>
class FieldOnDevice : public ::testing::Test {};
using Fields = ::testing::Types<Fr, Fp, Fp2>;
TYPED_TEST_SUITE(FieldOnDevice, Fields);

TYPED_TEST(FieldOnDevice, EqualsTheHostBitForBit) {
  for (FieldOp op : {FieldOp::kAdd, FieldOp::kSub, FieldOp::kMul, FieldOp::kSquare, FieldOp::kNegate, FieldOp::kDouble,
                     FieldOp::kInverse, FieldOp::kKnownFactor, FieldOp::kOwnSquare}) {
    if (op == FieldOp::kInverse && std::is_same_v<TypeParam, Fr>) continue;
    if (op == FieldOp::kKnownFactor && !std::is_same_v<TypeParam, Fr>) continue;
    if (op == FieldOp::kOwnSquare && std::is_same_v<TypeParam, Fr>) continue;
    size_t n = op == FieldOp::kInverse ? 3000 : 200000;
    auto a = Elements<TypeParam>(n, 1), b = Elements<TypeParam>(n, 2);
    auto r = Must(Apply(op, a, b));
    for (size_t i = 0; i < n; ++i) {
      ASSERT_EQ(r[i], OnHost(op, a[i], b[i])) << "operation " << static_cast<int>(op) << ", element " << i;
    }
  }
}

template <class F>
void CheckPoints(const std::vector<algebra::AffinePoint<F>>& points) {
  using P = algebra::AffinePoint<F>;
  std::vector<P> a, b;
  for (size_t i = 0; i < points.size(); ++i) {
    for (const P& other : {points[(i + 1) % points.size()], points[i], -points[i], P::Infinity()}) {
      a.push_back(points[i]);
      b.push_back(other);
    }
  }
  a.push_back(P::Infinity());
  b.push_back(points[0]);
  a.push_back(P::Infinity());
  b.push_back(P::Infinity());
  for (PointOp op : {PointOp::kAddMixed, PointOp::kAdd}) {
    auto r = Must(Apply(op, a, b));
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(r[i], algebra::ToAffine(algebra::Add(algebra::ToJacobian(a[i]), b[i]))) << "pair " << i;
    }
  }
}

TEST(GroupOnDevice, AdditionsInEveryCaseInG1) {
  std::vector<algebra::G1Affine> points;
  for (int i = 0; i < 40; ++i) points.push_back(algebra::RandomG1());
  CheckPoints<Fp>(points);
}
TEST(GroupOnDevice, AdditionsInEveryCaseInG2) {
  std::vector<algebra::G2Affine> points;
  for (int i = 0; i < 20; ++i) points.push_back(algebra::RandomG2());
  CheckPoints<Fp2>(points);
}

using FixedBaseOnDevice = DeviceTest;
TEST_F(FixedBaseOnDevice, MultipliesLikeTheHost) {
  auto table = Must(FixedBaseTable<Fp>::Make(algebra::G1Generator(), memory_, stream_));
  auto table2 = Must(FixedBaseTable<Fp2>::Make(algebra::G2Generator(), memory_, stream_));
  std::vector<Fr> k = RandomScalars(61, 5);
  k.push_back(Fr::Zero());
  k.push_back(Fr::One());
  k.push_back(-Fr::One());
  auto scalars = Upload(k);
  auto out = Must(Buffer<algebra::G1Affine>::Allocate(memory_, k.size()));
  auto out2 = Must(Buffer<algebra::G2Affine>::Allocate(memory_, k.size()));
  CUZK_ASSERT_OK(table.Multiply(scalars.data(), k.size(), out.data(), stream_));
  CUZK_ASSERT_OK(table2.Multiply(scalars.data(), k.size(), out2.data(), stream_));
  CUZK_ASSERT_OK(stream_.view().Synchronize());
  auto p = Download(out);
  auto q = Download(out2);
  for (size_t i = 0; i < k.size(); ++i) {
    EXPECT_EQ(p[i], algebra::ToAffine(algebra::ScalarMul(algebra::G1Generator(), k[i]))) << i;
    EXPECT_EQ(q[i], algebra::ToAffine(algebra::ScalarMul(algebra::G2Generator(), k[i]))) << i;
  }
}

}  // namespace
}  // namespace cuzk::gpu::testing
