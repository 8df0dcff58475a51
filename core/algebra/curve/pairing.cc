#include "core/algebra/curve/pairing.h"

#include <algorithm>
#include <vector>

#include "core/algebra/curve/naf.h"
#include "core/algebra/curve/points_ifma.h"
#include "core/base/check.h"

namespace cuzk::algebra {
namespace {

/// Pairs from which eight lanes are quicker than one element at a time.
constexpr size_t kLanesFrom = 4;

/// The product of Miller's loops over finite pairs, not conjugated.
Fp12 MillerLoopOnLanes(std::span<const G1Affine> p, std::span<const G2Affine> q) {
  const size_t groups = (p.size() + 7) / 8;
  std::vector<EightPoints<Fp>> p_groups(groups);
  std::vector<EightPoints<Fp2>> q_groups(groups);
  for (size_t i = 0; i < 8 * groups; ++i) {
    p_groups[i / 8].point[i % 8] = p[std::min(i, p.size() - 1)];
    q_groups[i / 8].point[i % 8] = q[std::min(i, p.size() - 1)];
  }
  Fp12 lanes[8];
  IfmaMillerLoop(p_groups.data(), q_groups.data(), p.size(), lanes);
  for (size_t i = 1; i < 8; ++i) lanes[0] *= lanes[i];
  return lanes[0];
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
    if (kMillerX >> i & 1) r *= f;
  }
  return r.Conjugate();
}

}  // namespace

PreparedG2::PreparedG2(const G2Affine& q) : infinity_(q.IsInfinity()) {
  if (infinity_) return;
  MillerPoint<Fp> t{q.x, q.y, Fp2::One()};
  size_t count = 0;
  for (int i = 62; i >= 0; --i) {
    lines_[count++] = MillerDouble(t);
    if (kMillerX >> i & 1) lines_[count++] = MillerAdd(t, q);
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
    if (kMillerX >> i & 1) multiply();
  }
  return f.Conjugate();  // x is negative
}

Fp12 MillerLoop(std::span<const G1Affine> p, std::span<const G2Affine> q, Arithmetic arithmetic) {
  CUZK_CHECK(p.size() == q.size());
  if (arithmetic == Arithmetic::kIfma && p.size() >= kLanesFrom) {
    std::vector<G1Affine> finite_p;
    std::vector<G2Affine> finite_q;
    for (size_t i = 0; i < p.size(); ++i) {
      if (p[i].IsInfinity() || q[i].IsInfinity()) continue;
      finite_p.push_back(p[i]);
      finite_q.push_back(q[i]);
    }
    return finite_p.empty() ? Fp12::One() : MillerLoopOnLanes(finite_p, finite_q).Conjugate();
  }
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
  const std::vector<int8_t> digits = NafDigits(k.ToCanonical());
  std::array<Gt, 8> odd{g};
  const Gt square = g.CyclotomicSquare();
  for (size_t i = 1; i < odd.size(); ++i) odd[i] = odd[i - 1] * square;
  size_t length = digits.size();
  while (length > 0 && digits[length - 1] == 0) --length;
  Gt r = Gt::One();
  for (size_t i = length; i-- > 0;) {
    r = r.CyclotomicSquare();
    if (digits[i] > 0) r *= odd[digits[i] / 2];
    if (digits[i] < 0) r *= odd[-digits[i] / 2].Conjugate();
  }
  return r;
}

}  // namespace cuzk::algebra
