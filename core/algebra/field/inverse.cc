#include "core/algebra/field/inverse.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace cuzk::algebra {
namespace {

constexpr unsigned kSteps = 62;
constexpr uint64_t kMask = (uint64_t{1} << kSteps) - 1;
using Int128 = __int128;

/// A signed number of `L` limbs of 62 bits; all but the last limb are in [0, 2^62), the last has the sign.
template <size_t L>
struct Signed62 {
  int64_t limb[L];

  template <size_t N>
  static Signed62 From(const uint64_t (&w)[N]) {
    Signed62 r{};
    for (size_t i = 0; i < L; ++i) {
      size_t bit = kSteps * i, word = bit / 64, shift = bit % 64;
      uint64_t x = word < N ? w[word] >> shift : 0;
      if (shift > 2 && word + 1 < N) x |= w[word + 1] << (64 - shift);
      r.limb[i] = static_cast<int64_t>(x & kMask);
    }
    return r;
  }
  /// Of a number that is not negative and fits.
  template <size_t N>
  void To(uint64_t (&w)[N]) const {
    for (size_t i = 0; i < N; ++i) w[i] = 0;
    for (size_t i = 0; i < L; ++i) {
      size_t bit = kSteps * i, word = bit / 64, shift = bit % 64;
      uint64_t x = static_cast<uint64_t>(limb[i]);
      if (word < N) w[word] |= x << shift;
      if (shift > 2 && word + 1 < N) w[word + 1] |= x >> (64 - shift);
    }
  }
  bool IsNegative() const { return limb[L - 1] < 0; }
  /// this + sign * b.
  void Add(const Signed62& b, int64_t sign) {
    int64_t carry = 0;
    for (size_t i = 0; i < L; ++i) {
      int64_t x = limb[i] + sign * b.limb[i] + carry;
      limb[i] = i + 1 < L ? static_cast<int64_t>(static_cast<uint64_t>(x) & kMask) : x;
      carry = x >> kSteps;
    }
  }
};

/// 2^62 times the matrix of 62 division steps: (f, g) becomes (u f + v g, q f + r g) / 2^62.
struct Transition {
  int64_t u, v, q, r;
};

/// Works on the low 64 bits of f and g. `delta` is the paper's.
Transition DivisionSteps(int64_t& delta, uint64_t f, uint64_t g) {
  uint64_t u = 1, v = 0, q = 0, r = 1;
  unsigned left = kSteps;
  while (true) {
    unsigned zeros = std::min<unsigned>(left, g == 0 ? 64 : static_cast<unsigned>(std::countr_zero(g)));
    g >>= zeros;
    u <<= zeros;
    v <<= zeros;
    delta += zeros;
    left -= zeros;
    if (left == 0) break;
    if (delta > 0) {
      delta = -delta;
      std::swap(f, g);
      std::swap(u, q);
      std::swap(v, r);
      g = 0 - g;
      q = 0 - q;
      r = 0 - r;
    }
    // As many low bits of g as no step in between would exchange f and g again: add the multiple of f that clears them.
    unsigned bits = static_cast<unsigned>(std::min<int64_t>({1 - delta, left, 6}));
    uint64_t reciprocal = f * (2 - f * f);  // 1/f mod 2^6, since f is its own inverse mod 2^3
    uint64_t w = (0 - g * reciprocal) & ((uint64_t{1} << bits) - 1);
    g += f * w;
    q += u * w;
    r += v * w;
  }
  return {static_cast<int64_t>(u), static_cast<int64_t>(v), static_cast<int64_t>(q), static_cast<int64_t>(r)};
}

/// (x, y) becomes (u x + v y, q x + r y) / 2^62, which is exact.
template <size_t L>
void Apply(const Transition& t, Signed62<L>& x, Signed62<L>& y, size_t limbs) {
  Int128 cx = static_cast<Int128>(t.u) * x.limb[0] + static_cast<Int128>(t.v) * y.limb[0];
  Int128 cy = static_cast<Int128>(t.q) * x.limb[0] + static_cast<Int128>(t.r) * y.limb[0];
  for (size_t i = 1; i < limbs; ++i) {
    cx = (cx >> kSteps) + static_cast<Int128>(t.u) * x.limb[i] + static_cast<Int128>(t.v) * y.limb[i];
    cy = (cy >> kSteps) + static_cast<Int128>(t.q) * x.limb[i] + static_cast<Int128>(t.r) * y.limb[i];
    x.limb[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(cx) & kMask);
    y.limb[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(cy) & kMask);
  }
  x.limb[limbs - 1] = static_cast<int64_t>(cx >> kSteps);
  y.limb[limbs - 1] = static_cast<int64_t>(cy >> kSteps);
}

/// The same modulo p: multiples of p between -p/2 and p/2 times 2^62 make the division exact. Each call lets |x| and
/// |y| grow by at most p/2 over the larger of them.
template <size_t L>
void ApplyModulo(const Transition& t, Signed62<L>& x, Signed62<L>& y, const Signed62<L>& p, uint64_t p_inverse) {
  Int128 cx = static_cast<Int128>(t.u) * x.limb[0] + static_cast<Int128>(t.v) * y.limb[0];
  Int128 cy = static_cast<Int128>(t.q) * x.limb[0] + static_cast<Int128>(t.r) * y.limb[0];
  auto multiple = [&](Int128 c) {  // centred -c / p mod 2^62
    return static_cast<int64_t>((0 - static_cast<uint64_t>(c) * p_inverse) << 2) >> 2;
  };
  const int64_t mx = multiple(cx), my = multiple(cy);
  cx += static_cast<Int128>(mx) * p.limb[0];
  cy += static_cast<Int128>(my) * p.limb[0];
  for (size_t i = 1; i < L; ++i) {
    cx = (cx >> kSteps) + static_cast<Int128>(t.u) * x.limb[i] + static_cast<Int128>(t.v) * y.limb[i] +
         static_cast<Int128>(mx) * p.limb[i];
    cy = (cy >> kSteps) + static_cast<Int128>(t.q) * x.limb[i] + static_cast<Int128>(t.r) * y.limb[i] +
         static_cast<Int128>(my) * p.limb[i];
    x.limb[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(cx) & kMask);
    y.limb[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(cy) & kMask);
  }
  x.limb[L - 1] = static_cast<int64_t>(cx >> kSteps);
  y.limb[L - 1] = static_cast<int64_t>(cy >> kSteps);
}

/// The shortest length that holds both; only limbs that are pure sign go.
template <size_t L>
size_t Shorten(Signed62<L>& f, Signed62<L>& g, size_t limbs) {
  while (limbs > 1) {
    int64_t top_f = f.limb[limbs - 1], top_g = g.limb[limbs - 1];
    if ((top_f != 0 && top_f != -1) || (top_g != 0 && top_g != -1)) break;
    // The sign moves into the limb below, which must have room for it.
    f.limb[limbs - 2] |= static_cast<int64_t>(static_cast<uint64_t>(top_f) << kSteps);
    g.limb[limbs - 2] |= static_cast<int64_t>(static_cast<uint64_t>(top_g) << kSteps);
    --limbs;
  }
  return limbs;
}

}  // namespace

template <size_t N>
void InvertModulo(const uint64_t (&a)[N], const uint64_t (&p)[N], const uint64_t (&scale)[N], uint64_t (&r)[N]) {
  constexpr size_t L = (64 * N + 8) / kSteps + 1;
  using Number = Signed62<L>;
  const Number modulus = Number::From(p);
  uint64_t p_inverse = 1;
  for (int i = 0; i < 6; ++i) p_inverse *= 2 - p[0] * p_inverse;
  // Throughout x a = scale f and y a = scale g modulo p.
  Number f = modulus, g = Number::From(a), x{}, y = Number::From(scale);
  int64_t delta = 1;
  size_t limbs = L;
  auto g_is_zero = [&] { return std::all_of(g.limb, g.limb + limbs, [](int64_t v) { return v == 0; }); };
  while (!g_is_zero()) {
    auto low = [&](const Number& n) {
      return static_cast<uint64_t>(n.limb[0]) | (limbs > 1 ? static_cast<uint64_t>(n.limb[1]) << kSteps : 0);
    };
    Transition t = DivisionSteps(delta, low(f), low(g));
    ApplyModulo(t, x, y, modulus, p_inverse);
    Apply(t, f, g, limbs);
    limbs = Shorten(f, g, limbs);
  }
  // Now f is 1 or -1 (p if a was zero, and then x is zero).
  if (f.limb[limbs - 1] < 0) {
    Number negative{};
    negative.Add(x, -1);
    x = negative;
  }
  while (x.IsNegative()) x.Add(modulus, 1);
  while (true) {
    Number less = x;
    less.Add(modulus, -1);
    if (less.IsNegative()) break;
    x = less;
  }
  x.To(r);
}

template void InvertModulo(const uint64_t (&)[4], const uint64_t (&)[4], const uint64_t (&)[4], uint64_t (&)[4]);
template void InvertModulo(const uint64_t (&)[6], const uint64_t (&)[6], const uint64_t (&)[6], uint64_t (&)[6]);

}  // namespace cuzk::algebra
