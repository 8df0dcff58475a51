#pragma once
// The top floor Fp6[w]/(w^2 - v), over any base field F; the target group of the pairing lives in it.

#include <span>

#include "core/algebra/field/fp6.h"

namespace cuzk::algebra {

/// c0 + c1 w.
template <class F>
struct Fp12Of {
  using E = Fp6Of<F>;
  E c0, c1;

  static constexpr Fp12Of Zero() { return {E::Zero(), E::Zero()}; }
  static constexpr Fp12Of One() { return {E::One(), E::Zero()}; }

  friend constexpr Fp12Of operator+(const Fp12Of& a, const Fp12Of& b) { return {a.c0 + b.c0, a.c1 + b.c1}; }
  friend constexpr Fp12Of operator-(const Fp12Of& a, const Fp12Of& b) { return {a.c0 - b.c0, a.c1 - b.c1}; }
  constexpr Fp12Of operator-() const { return {-c0, -c1}; }
  friend constexpr Fp12Of operator*(const Fp12Of& a, const Fp12Of& b) {
    E low = a.c0 * b.c0, high = a.c1 * b.c1;
    E cross = (a.c0 + a.c1) * (b.c0 + b.c1);
    return {low + high.MulByNonResidue(), cross - low - high};
  }
  constexpr Fp12Of& operator*=(const Fp12Of& b) { return *this = *this * b; }
  constexpr Fp12Of Double() const { return {c0.Double(), c1.Double()}; }
  constexpr Fp12Of Square() const {
    E cross = c0 * c1;
    E t = (c0 + c1) * (c0 + c1.MulByNonResidue());
    return {t - cross - cross.MulByNonResidue(), cross.Double()};
  }
  /// Product with the sparse value of a line: b0 + b1 v + b4 v w.
  constexpr Fp12Of MulBy014(const Fp2Of<F>& b0, const Fp2Of<F>& b1, const Fp2Of<F>& b4) const {
    E low = c0.MulBy01(b0, b1), high = c1.MulBy1(b4);
    E cross = (c0 + c1).MulBy01(b0, b1 + b4);
    return {low + high.MulByNonResidue(), cross - low - high};
  }
  /// c0 - c1 w: the p^6-th power, and the inverse in the cyclotomic subgroup.
  constexpr Fp12Of Conjugate() const { return {c0, -c1}; }
  /// 1/this; zero gives zero.
  constexpr Fp12Of Inverse() const {
    E t = (c0.Square() - c1.Square().MulByNonResidue()).Inverse();
    return {c0 * t, -(c1 * t)};
  }
  /// The square, for elements of the cyclotomic subgroup only (Granger and Scott, eprint 2009/565, section 3.2).
  constexpr Fp12Of CyclotomicSquare() const {
    using Q = Fp2Of<F>;
    struct Pair {
      Q even, odd;
    };
    // (a + b s)^2 in Fp4 = Fp2[s]/(s^2 - (1+u)).
    auto square4 = [](const Q& a, const Q& b) -> Pair {
      Q aa = a.Square(), bb = b.Square();
      return {aa + bb.MulByNonResidue(), (a + b).Square() - aa - bb};
    };
    auto triple_minus_double = [](const Q& t, const Q& z) { return (t - z).Double() + t; };
    auto triple_plus_double = [](const Q& t, const Q& z) { return (t + z).Double() + t; };
    Pair a = square4(c0.c0, c1.c1), b = square4(c1.c0, c0.c2), c = square4(c0.c1, c1.c2);
    return {
        {triple_minus_double(a.even, c0.c0), triple_minus_double(b.even, c0.c1), triple_minus_double(c.even, c0.c2)},
        {triple_plus_double(c.odd.MulByNonResidue(), c1.c0), triple_plus_double(a.odd, c1.c1),
         triple_plus_double(b.odd, c1.c2)}};
  }

  friend constexpr bool operator==(const Fp12Of& a, const Fp12Of& b) { return a.c0 == b.c0 && a.c1 == b.c1; }
  constexpr bool IsZero() const { return c0.IsZero() && c1.IsZero(); }
  constexpr bool IsOne() const { return c0.IsOne() && c1.IsZero(); }

  /// this^e; e has its least significant limb first.
  constexpr Fp12Of Pow(std::span<const uint64_t> e) const {
    Fp12Of r = One();
    for (size_t i = e.size() * 64; i-- > 0;) {
      r = r.Square();
      if (e[i / 64] >> (i % 64) & 1) r *= *this;
    }
    return r;
  }
};

using Fp12 = Fp12Of<Fp>;

}  // namespace cuzk::algebra
