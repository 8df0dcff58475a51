#pragma once
// The quadratic extension F[u]/(u^2+1), written over any base field F: one element, eight lanes, or the device's.

#include <optional>
#include <type_traits>

#include "core/algebra/field/fp.h"

namespace cuzk::algebra {

/// c0 + c1 u. Memory order is c0 first; the serialised order is c1 first (point_io.h).
template <class F>
struct Fp2Of {
  using Base = F;
  F c0, c1;

  static constexpr CUZK_HD Fp2Of Zero() { return {F::Zero(), F::Zero()}; }
  static constexpr CUZK_HD Fp2Of One() { return {F::One(), F::Zero()}; }

  friend constexpr CUZK_HD Fp2Of operator+(const Fp2Of& a, const Fp2Of& b) { return {a.c0 + b.c0, a.c1 + b.c1}; }
  friend constexpr CUZK_HD Fp2Of operator-(const Fp2Of& a, const Fp2Of& b) { return {a.c0 - b.c0, a.c1 - b.c1}; }
  /// Karatsuba: three products in F.
  friend constexpr CUZK_HD Fp2Of operator*(const Fp2Of& a, const Fp2Of& b) {
#ifdef CUZK_ADX
    if constexpr (std::is_same_v<F, Fp>) {
      if (!std::is_constant_evaluated()) {
        static_assert(sizeof(Fp2Of) == 12 * sizeof(uint64_t));
        Fp2Of r;
        cuzk_fp2_mul_6(reinterpret_cast<uint64_t*>(&r), reinterpret_cast<const uint64_t*>(&a),
                       reinterpret_cast<const uint64_t*>(&b), FpParams::kModulus, Fp::Constants::kNegInverse);
        return r;
      }
    }
#endif
    F low = a.c0 * b.c0, high = a.c1 * b.c1;
    F cross = (a.c0 + a.c1) * (b.c0 + b.c1);
    return {low - high, cross - low - high};
  }
  friend constexpr CUZK_HD Fp2Of operator*(const Fp2Of& a, const F& b) { return {a.c0 * b, a.c1 * b}; }
  constexpr CUZK_HD Fp2Of operator-() const { return {-c0, -c1}; }
  constexpr CUZK_HD Fp2Of& operator+=(const Fp2Of& b) { return *this = *this + b; }
  constexpr CUZK_HD Fp2Of& operator-=(const Fp2Of& b) { return *this = *this - b; }
  constexpr CUZK_HD Fp2Of& operator*=(const Fp2Of& b) { return *this = *this * b; }
  constexpr CUZK_HD Fp2Of Double() const { return {c0.Double(), c1.Double()}; }
  /// (c0+c1)(c0-c1) + 2 c0 c1 u.
  constexpr CUZK_HD Fp2Of Square() const {
    F cross = c0 * c1;
    return {(c0 + c1) * (c0 - c1), cross.Double()};
  }
  /// c0 - c1 u, which is also the p-th power.
  constexpr CUZK_HD Fp2Of Conjugate() const { return {c0, -c1}; }
  /// Product with 1 + u, the non-residue that the next floor is built on.
  constexpr CUZK_HD Fp2Of MulByNonResidue() const { return {c0 - c1, c0 + c1}; }
  /// c0^2 + c1^2.
  constexpr CUZK_HD F Norm() const { return c0.Square() + c1.Square(); }
  /// 1/this; zero gives zero.
  constexpr CUZK_HD Fp2Of Inverse() const {
    F t = Norm().Inverse();
    return {c0 * t, -(c1 * t)};
  }

  friend constexpr CUZK_HD bool operator==(const Fp2Of& a, const Fp2Of& b) { return a.c0 == b.c0 && a.c1 == b.c1; }
  constexpr CUZK_HD bool IsZero() const { return c0.IsZero() && c1.IsZero(); }
  constexpr CUZK_HD bool IsOne() const { return c0.IsOne() && c1.IsZero(); }
};

using Fp2 = Fp2Of<Fp>;
static_assert(sizeof(Fp2) == 96);

/// A square root, or nothing if there is none. Which of the two roots is not specified.
std::optional<Fp> Sqrt(const Fp& a);
std::optional<Fp2> Sqrt(const Fp2& a);

/// Whether y > -y as integers (Fp), or in the order that looks at c1 first (Fp2): the sign bit of compressed points.
bool IsLarger(const Fp& y);
bool IsLarger(const Fp2& y);

}  // namespace cuzk::algebra
