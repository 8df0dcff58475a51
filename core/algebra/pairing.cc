#include "core/algebra/pairing.h"

#include <vector>

#include "core/base/check.h"

namespace cuzk::algebra {
namespace {

/// The loop runs over |x|; the parameter x is its negative.
constexpr uint64_t kX = 0xd201000000010000;

using Line = PreparedG2::Line;

/// The tangent at t, and t doubled: line through t in projective (homogeneous) coordinates (X/Z, Y/Z), after Costello,
/// Lange and Naehrig (eprint 2009/615), section 5, for y^2 = x^3 + 4(1+u).
struct Projective {
  Fp2 x, y, z;
};

Fp2 Half(const Fp2& a) {
  static constexpr Fp kHalf = Fp::FromU64(2).Inverse();
  return a * kHalf;
}

Line DoubleStep(Projective& t) {
  Fp2 a = Half(t.x * t.y), b = t.y.Square(), c = t.z.Square();
  Fp2 e = (c.Double() + c).MulByNonResidue().Double().Double();  // 3 b' Z^2
  Fp2 f = e.Double() + e, g = Half(b + f);
  Fp2 h = (t.y + t.z).Square() - b - c;  // 2YZ
  Fp2 i = e - b, j = t.x.Square(), ee = e.Square();
  t = {a * (b - f), g.Square() - (ee.Double() + ee), b * h};
  return {i, j.Double() + j, -h};
}

Line AddStep(Projective& t, const G2Affine& q) {
  Fp2 theta = t.y - q.y * t.z, lambda = t.x - q.x * t.z;
  Fp2 c = theta.Square(), d = lambda.Square(), e = lambda * d, f = t.z * c, g = t.x * d;
  Fp2 h = e + f - g.Double();
  t = {lambda * h, theta * (g - h) - e * t.y, t.z * e};
  return {theta * q.x - lambda * q.y, -theta, lambda};
}

/// Product with the line's value at p: c0 + (c1 x_P) v + (c4 y_P) v w.
Fp12 MulByLine(const Fp12& f, const Line& line, const G1Affine& p) {
  return f.MulBy014(line.c0, line.c1 * p.x, line.c4 * p.y);
}

/// The p-th power, coefficient by coefficient: conjugates times powers of (1+u)^((p-1)/6).
Fp12 Frobenius(const Fp12& f) {
  static const std::array<Fp2, 6> kPowers = [] {
    std::array<uint64_t, 6> e{};  // (p - 1) / 6
    unsigned __int128 rest = 0;
    for (size_t i = 6; i-- > 0;) {
      rest = rest << 64 | (FpParams::kModulus[i] - (i == 0 ? 1 : 0));
      e[i] = static_cast<uint64_t>(rest / 6);
      rest %= 6;
    }
    Fp2 base{Fp::One(), Fp::One()}, power = Fp2::One();
    for (size_t i = 384; i-- > 0;) {
      power = power.Square();
      if (e[i / 64] >> (i % 64) & 1) power *= base;
    }
    std::array<Fp2, 6> powers{Fp2::One()};
    for (size_t i = 1; i < 6; ++i) powers[i] = powers[i - 1] * power;
    return powers;
  }();
  // With w^2 = v the coefficient of v^i w^j belongs to w^(2i+j).
  return {{f.c0.c0.Conjugate(), f.c0.c1.Conjugate() * kPowers[2], f.c0.c2.Conjugate() * kPowers[4]},
          {f.c1.c0.Conjugate() * kPowers[1], f.c1.c1.Conjugate() * kPowers[3], f.c1.c2.Conjugate() * kPowers[5]}};
}

/// f^x in the cyclotomic subgroup; x is negative, so the power of |x| is conjugated.
Fp12 PowX(const Fp12& f) {
  Fp12 r = f;
  for (int i = 62; i >= 0; --i) {
    r = r.CyclotomicSquare();
    if (kX >> i & 1) r *= f;
  }
  return r.Conjugate();
}

}  // namespace

PreparedG2::PreparedG2(const G2Affine& q) : infinity_(q.IsInfinity()) {
  if (infinity_) return;
  Projective t{q.x, q.y, Fp2::One()};
  size_t count = 0;
  for (int i = 62; i >= 0; --i) {
    lines_[count++] = DoubleStep(t);
    if (kX >> i & 1) lines_[count++] = AddStep(t, q);
  }
  CUZK_CHECK(count == kLines);
}

Fp12 MillerLoop(std::span<const PreparedPair> pairs) {
  Fp12 f = Fp12::One();
  size_t line = 0;
  auto multiply = [&] {
    for (const PreparedPair& pair : pairs) {
      if (!pair.p.IsInfinity() && !pair.q->IsInfinity()) f = MulByLine(f, pair.q->lines()[line], pair.p);
    }
    ++line;
  };
  for (int i = 62; i >= 0; --i) {
    if (i != 62) f = f.Square();
    multiply();
    if (kX >> i & 1) multiply();
  }
  return f.Conjugate();  // x is negative
}

Fp12 MillerLoop(std::span<const G1Affine> p, std::span<const G2Affine> q) {
  CUZK_CHECK(p.size() == q.size());
  std::vector<PreparedG2> prepared(q.begin(), q.end());
  std::vector<PreparedPair> pairs;
  for (size_t i = 0; i < p.size(); ++i) pairs.push_back({p[i], &prepared[i]});
  return MillerLoop(pairs);
}

Gt FinalExponentiation(const Fp12& f) {
  // The easy part, (p^6 - 1)(p^2 + 1).
  Fp12 r = f.Conjugate() * f.Inverse();
  r = Frobenius(Frobenius(r)) * r;
  // The hard part: 3 (p^4 - p^2 + 1)/r = (x - 1)^2 (x + p) (x^2 + p^2 - 1) + 3.
  Fp12 a = PowX(r) * r.Conjugate();
  a = PowX(a) * a.Conjugate();
  a = PowX(a) * Frobenius(a);
  a = PowX(PowX(a)) * Frobenius(Frobenius(a)) * a.Conjugate();
  return a * r.CyclotomicSquare() * r;
}

Gt Pairing(const G1Affine& p, const G2Affine& q) { return FinalExponentiation(MillerLoop({&p, 1}, {&q, 1})); }

Gt Pow(const Gt& g, const Fr& k) {
  Fr::Canonical e = k.ToCanonical();
  Gt r = Gt::One();
  for (size_t i = 256; i-- > 0;) {
    r = r.CyclotomicSquare();
    if (e[i / 64] >> (i % 64) & 1) r *= g;
  }
  return r;
}

}  // namespace cuzk::algebra
