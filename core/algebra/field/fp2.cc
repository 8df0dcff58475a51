#include "core/algebra/field/fp2.h"

namespace cuzk::algebra {
namespace {

/// (p - 3) / 4; p is 3 mod 4, so a^((p-3)/4) gives both the root of a square and the root's inverse.
constexpr std::array<uint64_t, 6> RootExponent() {
  std::array<uint64_t, 6> e{};
  for (size_t i = 0; i < 6; ++i) {
    uint64_t high = i + 1 < 6 ? FpParams::kModulus[i + 1] : 0;
    e[i] = FpParams::kModulus[i] >> 2 | high << 62;  // the low bits 11 of p fall off, as those of p - 3 would
  }
  return e;
}

/// a^((p-3)/4), four bits of the exponent at a time.
Fp RootPower(const Fp& a) {
  constexpr std::array<uint64_t, 6> kExponent = RootExponent();
  Fp table[16];
  table[0] = Fp::One();
  for (int i = 1; i < 16; ++i) table[i] = table[i - 1] * a;
  Fp r = Fp::One();
  for (int i = 95; i >= 0; --i) {
    for (int j = 0; j < 4; ++j) r = r.Square();
    unsigned digit = kExponent[i / 16] >> (4 * (i % 16)) & 15;
    if (digit != 0) r *= table[digit];
  }
  return r;
}

Fp Half(const Fp& a) {
  static constexpr Fp kHalf = Fp::FromU64(2).Inverse();
  return a * kHalf;
}

}  // namespace

std::optional<Fp> Sqrt(const Fp& a) {
  Fp root = RootPower(a) * a;
  if (root.Square() == a) return root;
  return std::nullopt;
}

std::optional<Fp2> Sqrt(const Fp2& a) {
  if (a.c1.IsZero()) {
    if (auto root = Sqrt(a.c0)) return Fp2{*root, Fp::Zero()};
    // -1 is no square, so one of c0 and -c0 is.
    return Fp2{Fp::Zero(), *Sqrt(-a.c0)};
  }
  auto norm_root = Sqrt(a.Norm());
  if (!norm_root) return std::nullopt;
  // (x0 + x1 u)^2 = a means x0^2 = t = (c0 +- |a|)/2 and x1 = c1/(2 x0); the two values of t multiply to -(c1/2)^2,
  // so exactly one is a square, and the power of either gives the root of that one.
  Fp t = Half(a.c0 + *norm_root), half1 = Half(a.c1);
  Fp power = RootPower(t);
  Fp root = power * t;
  if (root.Square() == t) return Fp2{root, half1 * power};  // power = 1/root
  return Fp2{-(half1 * power), root};
}

bool IsLarger(const Fp& y) {
  Fp::Canonical a = y.ToCanonical(), b = (-y).ToCanonical();
  for (size_t i = 6; i-- > 0;) {
    if (a[i] != b[i]) return a[i] > b[i];
  }
  return false;
}

bool IsLarger(const Fp2& y) { return y.c1.IsZero() ? IsLarger(y.c0) : IsLarger(y.c1); }

}  // namespace cuzk::algebra
