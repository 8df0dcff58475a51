#include "core/algebra/curve/curve.h"

#include "core/algebra/curve/naf.h"
#include "core/base/check.h"

namespace cuzk::algebra {
namespace {

/// The curve's parameter is -kX.
constexpr uint64_t kX = 0xd201000000010000;

/// (p - 1) / divisor for a divisor of p - 1 below 2^32.
constexpr std::array<uint64_t, 6> PMinusOneOver(uint64_t divisor) {
  std::array<uint64_t, 6> e{};
  unsigned __int128 rest = 0;
  for (size_t i = 6; i-- > 0;) {
    uint64_t limb = FpParams::kModulus[i] - (i == 0 ? 1 : 0);  // p is odd
    rest = rest << 64 | limb;
    e[i] = static_cast<uint64_t>(rest / divisor);
    rest %= divisor;
  }
  return e;
}

Fp2 PowFp2(const Fp2& a, std::span<const uint64_t> e) {
  Fp2 r = Fp2::One();
  for (size_t i = e.size() * 64; i-- > 0;) {
    r = r.Square();
    if (e[i / 64] >> (i % 64) & 1) r *= a;
  }
  return r;
}

/// k p by doubling and adding; for exponents of few set bits.
template <class F>
JacobianPoint<F> MulSparse(const JacobianPoint<F>& p, uint64_t k) {
  JacobianPoint<F> r = p;
  for (int i = 62 - __builtin_clzll(k); i >= 0; --i) {
    r = Double(r);
    if (k >> i & 1) r += p;
  }
  return r;
}

template <class F>
JacobianPoint<F> Multiply(const JacobianPoint<F>& p, std::span<const uint64_t> k) {
  std::vector<int8_t> digits = NafDigits(k);
  std::array<JacobianPoint<F>, 8> odd = OddMultiples(p);
  JacobianPoint<F> r = JacobianPoint<F>::Infinity();
  for (size_t i = digits.size(); i-- > 0;) {
    r = Double(r);
    if (digits[i] > 0) r += odd[digits[i] / 2];
    if (digits[i] < 0) r += -odd[-digits[i] / 2];
  }
  return r;
}

template <class F>
AffinePoint<F> Normalize(const JacobianPoint<F>& p, const F& z_inverse) {
  F zz = z_inverse.Square();
  return {p.x * zz, p.y * zz * z_inverse};
}

template <class F>
void NormalizeBatch(std::span<const JacobianPoint<F>> points, std::span<AffinePoint<F>> out) {
  CUZK_CHECK(points.size() == out.size());
  std::vector<F> z(points.size()), scratch(points.size());
  for (size_t i = 0; i < points.size(); ++i) z[i] = points[i].z;
  BatchInvert<F>(z, scratch);
  for (size_t i = 0; i < points.size(); ++i) {
    out[i] = points[i].IsInfinity() ? AffinePoint<F>::Infinity() : Normalize(points[i], z[i]);
  }
}

template <class F>
bool OnCurve(const AffinePoint<F>& p) {
  return p.IsInfinity() || p.y.Square() == p.x.Square() * p.x + CurveB<F>();
}

/// The cube root of unity beta for which (beta x, y) is -x^2 (x, y) in G1: the inverse of 2^((p-1)/3).
Fp EndomorphismBeta() {
  constexpr std::array<uint64_t, 6> kThird = PMinusOneOver(3);
  return Fp::FromU64(2).Pow(kThird);
}

}  // namespace

const G1Affine& G1Generator() {
  static constexpr G1Affine kGenerator = {
      Fp::FromCanonical({0xfb3af00adb22c6bb, 0x6c55e83ff97a1aef, 0xa14e3a3f171bac58, 0xc3688c4f9774b905,
                         0x2695638c4fa9ac0f, 0x17f1d3a73197d794}),
      Fp::FromCanonical({0x0caa232946c5e7e1, 0xd03cc744a2888ae4, 0x00db18cb2c04b3ed, 0xfcf5e095d5d00af6,
                         0xa09e30ed741d8ae4, 0x08b3f481e3aaa0f1})};
  return kGenerator;
}

const G2Affine& G2Generator() {
  static constexpr G2Affine kGenerator = {
      {Fp::FromCanonical({0xd48056c8c121bdb8, 0x0bac0326a805bbef, 0xb4510b647ae3d177, 0xc6e47ad4fa403b02,
                          0x260805272dc51051, 0x024aa2b2f08f0a91}),
       Fp::FromCanonical({0xe5ac7d055d042b7e, 0x334cf11213945d57, 0xb5da61bbdc7f5049, 0x596bd0d09920b61a,
                          0x7dacd3a088274f65, 0x13e02b6052719f60})},
      {Fp::FromCanonical({0xe193548608b82801, 0x923ac9cc3baca289, 0x6d429a695160d12c, 0xadfd9baa8cbdd3a7,
                          0x8cc9cdc6da2e351a, 0x0ce5d527727d6e11}),
       Fp::FromCanonical({0xaaa9075ff05f79be, 0x3f370d275cec1da1, 0x267492ab572e99ab, 0xcb3e287e85a763af,
                          0x32acd2b02bc28b99, 0x0606c4a02ea734cc})}};
  return kGenerator;
}

G1Affine ToAffine(const G1& p) { return p.IsInfinity() ? G1Affine::Infinity() : Normalize(p, p.z.Inverse()); }
G2Affine ToAffine(const G2& p) { return p.IsInfinity() ? G2Affine::Infinity() : Normalize(p, p.z.Inverse()); }
void BatchToAffine(std::span<const G1> points, std::span<G1Affine> out) { NormalizeBatch<Fp>(points, out); }
void BatchToAffine(std::span<const G2> points, std::span<G2Affine> out) { NormalizeBatch<Fp2>(points, out); }

G1 ScalarMul(const G1& p, std::span<const uint64_t> k) { return Multiply(p, k); }
G2 ScalarMul(const G2& p, std::span<const uint64_t> k) { return Multiply(p, k); }
G1 ScalarMul(const G1& p, const Fr& k) { return Multiply(p, k.ToCanonical()); }
G2 ScalarMul(const G2& p, const Fr& k) { return Multiply(p, k.ToCanonical()); }
G1 ScalarMul(const G1Affine& p, const Fr& k) { return ScalarMul(ToJacobian(p), k); }
G2 ScalarMul(const G2Affine& p, const Fr& k) { return ScalarMul(ToJacobian(p), k); }

bool IsOnCurve(const G1Affine& p) { return OnCurve(p); }
bool IsOnCurve(const G2Affine& p) { return OnCurve(p); }

G1Affine Phi(const G1Affine& p) {
  static const Fp kBeta = EndomorphismBeta();
  return {p.x * kBeta, p.y};
}

bool IsInSubgroup(const G1Affine& p) {
  G1 square = MulSparse(MulSparse(ToJacobian(p), kX), kX);
  return -square == ToJacobian(Phi(p));
}

G2Affine Psi(const G2Affine& p) {
  struct Constants {
    Fp2 x, y;
  };
  static const Constants kConstants = [] {
    constexpr std::array<uint64_t, 6> kThird = PMinusOneOver(3), kHalf = PMinusOneOver(2);
    const Fp2 non_residue = {Fp::One(), Fp::One()};
    return Constants{PowFp2(non_residue, kThird).Inverse(), PowFp2(non_residue, kHalf).Inverse()};
  }();
  if (p.IsInfinity()) return p;
  return {p.x.Conjugate() * kConstants.x, p.y.Conjugate() * kConstants.y};
}

bool IsInSubgroup(const G2Affine& p) {
  G2 multiple = MulSparse(ToJacobian(p), kX);
  return -multiple == ToJacobian(Psi(p));
}

G1Affine RandomG1() { return ToAffine(ScalarMul(G1Generator(), RandomFr())); }
G2Affine RandomG2() { return ToAffine(ScalarMul(G2Generator(), RandomFr())); }

}  // namespace cuzk::algebra
