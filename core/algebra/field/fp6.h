#pragma once
// The cubic extension Fp2[v]/(v^3 - (1+u)), over any base field F.

#include "core/algebra/field/fp2.h"

namespace cuzk::algebra {

/// c0 + c1 v + c2 v^2.
template <class F>
struct Fp6Of {
  using E = Fp2Of<F>;
  E c0, c1, c2;

  static constexpr Fp6Of Zero() { return {E::Zero(), E::Zero(), E::Zero()}; }
  static constexpr Fp6Of One() { return {E::One(), E::Zero(), E::Zero()}; }

  friend constexpr Fp6Of operator+(const Fp6Of& a, const Fp6Of& b) { return {a.c0 + b.c0, a.c1 + b.c1, a.c2 + b.c2}; }
  friend constexpr Fp6Of operator-(const Fp6Of& a, const Fp6Of& b) { return {a.c0 - b.c0, a.c1 - b.c1, a.c2 - b.c2}; }
  constexpr Fp6Of operator-() const { return {-c0, -c1, -c2}; }
  /// Karatsuba over three terms: six products.
  friend constexpr Fp6Of operator*(const Fp6Of& a, const Fp6Of& b) {
    E t0 = a.c0 * b.c0, t1 = a.c1 * b.c1, t2 = a.c2 * b.c2;
    E t12 = (a.c1 + a.c2) * (b.c1 + b.c2) - t1 - t2;
    E t01 = (a.c0 + a.c1) * (b.c0 + b.c1) - t0 - t1;
    E t02 = (a.c0 + a.c2) * (b.c0 + b.c2) - t0 - t2;
    return {t0 + t12.MulByNonResidue(), t01 + t2.MulByNonResidue(), t02 + t1};
  }
  constexpr Fp6Of& operator+=(const Fp6Of& b) { return *this = *this + b; }
  constexpr Fp6Of& operator-=(const Fp6Of& b) { return *this = *this - b; }
  constexpr Fp6Of& operator*=(const Fp6Of& b) { return *this = *this * b; }
  constexpr Fp6Of Double() const { return {c0.Double(), c1.Double(), c2.Double()}; }
  /// CH-SQR2 of Chung and Hasan: two products and three squares.
  constexpr Fp6Of Square() const {
    E s0 = c0.Square(), s1 = (c0 * c1).Double(), s2 = (c0 - c1 + c2).Square(), s3 = (c1 * c2).Double(),
      s4 = c2.Square();
    return {s0 + s3.MulByNonResidue(), s1 + s4.MulByNonResidue(), s1 + s2 + s3 - s0 - s4};
  }
  /// Product with b0 + b1 v.
  constexpr Fp6Of MulBy01(const E& b0, const E& b1) const {
    E t0 = c0 * b0, t1 = c1 * b1;
    E low = ((c1 + c2) * b1 - t1).MulByNonResidue() + t0;
    E middle = (b0 + b1) * (c0 + c1) - t0 - t1;
    E high = (c0 + c2) * b0 - t0 + t1;
    return {low, middle, high};
  }
  /// Product with b1 v.
  constexpr Fp6Of MulBy1(const E& b1) const { return {(c2 * b1).MulByNonResidue(), c0 * b1, c1 * b1}; }
  /// Product with v, the non-residue of the next floor.
  constexpr Fp6Of MulByNonResidue() const { return {c2.MulByNonResidue(), c0, c1}; }
  /// 1/this; zero gives zero.
  constexpr Fp6Of Inverse() const {
    E t0 = c0.Square() - (c1 * c2).MulByNonResidue();
    E t1 = c2.Square().MulByNonResidue() - c0 * c1;
    E t2 = c1.Square() - c0 * c2;
    E norm = c0 * t0 + (c2 * t1 + c1 * t2).MulByNonResidue();
    E inverse = norm.Inverse();
    return {t0 * inverse, t1 * inverse, t2 * inverse};
  }

  friend constexpr bool operator==(const Fp6Of& a, const Fp6Of& b) {
    return a.c0 == b.c0 && a.c1 == b.c1 && a.c2 == b.c2;
  }
  constexpr bool IsZero() const { return c0.IsZero() && c1.IsZero() && c2.IsZero(); }
  constexpr bool IsOne() const { return c0.IsOne() && c1.IsZero() && c2.IsZero(); }
};

using Fp6 = Fp6Of<Fp>;

}  // namespace cuzk::algebra
