#pragma once
// The steps of an affine addition with a given inverse, on coordinates of a sum that are kept negated and, in Fp, not
// fully reduced. Between its six products an addition needs only sums and differences; with room above p (2^384 is
// 9.8 p) most of them need no comparison with p.
//
// Ranges in Fp, in multiples of p; a product of a and b is below 1 + ab / 9.8:
//   kept of a sum   -x in (0, 3], -y in [0, 2); both zero: infinity (x = 0 is no point of the groups)
//   a point         x, y in [0, 1)
//   denominator     px - x in (0, 4)
//   prefix, inverse below 1.7: each is a product by a denominator of what is below 1.7
//   numerator       py - y in [0, 3), slope below 1 + 3 * 1.3 / 9.8 = 1.4
//   new -x          px - x - slope^2, 0 to 3 added
//   new -y          slope * (new x - x) - (-y), the factor in (0, 6): the product is below 1.9

#include "gpu/field/square.cuh"
#include "gpu/msm/points.cuh"

namespace cuzk::gpu {

/// Every value is reduced; for fields where calls cost more than subtractions.
template <class F>
struct AdditionSteps {
  static CUZK_DEVICE F Product(const F& a, const F& b) { return a * b; }
  static CUZK_DEVICE F Square(const F& a) { return a.Square(); }
  static CUZK_DEVICE F Denominator(const F& px, const F& minus_x) { return px + minus_x; }
  /// Whether a denominator may be zero; seldom wrongly true, never wrongly false.
  static CUZK_DEVICE bool MaybeZero(const F& d) { return (d.c0.w[0] | d.c1.w[0]) == 0; }
  static CUZK_DEVICE bool MaybeInfinity(const F& x) { return (x.c0.w[0] | x.c1.w[0]) == 0; }
  static CUZK_DEVICE F Numerator(const F& py, bool negative, const F& minus_y) {
    return (negative ? -py : py) + minus_y;
  }
  static CUZK_DEVICE F MinusX(const F& px, const F& minus_x, const F& square) { return px - minus_x - square; }
  static CUZK_DEVICE F Run(const F& minus_x, const F& new_minus_x) { return minus_x - new_minus_x; }
  static CUZK_DEVICE F MinusY(const F& product, const F& minus_y) { return product - minus_y; }
  static CUZK_DEVICE Affine<F> Canonical(const F& minus_x, const F& minus_y) { return {-minus_x, -minus_y}; }
};

template <>
struct AdditionSteps<FpD> {
  static constexpr int N = FpD::N;
  using Constants = detail::Words32<algebra::FpParams>;

  /// k p.
  template <int k>
  static CUZK_DEVICE void Multiple(uint32_t (&r)[N]) {
    constexpr auto kWords = [] {
      auto w = detail::Split<N>(algebra::FpParams::kModulus);
      uint64_t carry = 0;
      for (int i = 0; i < N; ++i) {
        carry += static_cast<uint64_t>(w.v[i]) * k;
        w.v[i] = static_cast<uint32_t>(carry);
        carry >>= 32;
      }
      return w;
    }();
#pragma unroll
    for (int i = 0; i < N; ++i) r[i] = kWords.v[i];
  }
  /// a - b + k p, which the caller knows to be positive.
  template <int k>
  static CUZK_DEVICE FpD MinusPlus(const FpD& a, const FpD& b) {
    FpD r;
    uint32_t kp[N];
    Multiple<k>(kp);
    Sub(a.w, b.w, r.w);
    Add(r.w, kp, r.w);
    return r;
  }
  /// a - b, and k p added if that is negative.
  template <int k>
  static CUZK_DEVICE FpD MinusModulo(const FpD& a, const FpD& b) {
    FpD r;
    uint32_t kp[N], more[N];
    Multiple<k>(kp);
    uint32_t borrow = Sub(a.w, b.w, r.w);
    Add(r.w, kp, more);
    Choose(borrow, more, r.w, r.w);
    return r;
  }

  static CUZK_DEVICE FpD Product(const FpD& a, const FpD& b) {
    FpD r;
    detail::MontMulLazy<algebra::FpParams>(a.w, b.w, r.w);
    return r;
  }
  static CUZK_DEVICE FpD Square(const FpD& a) {
    FpD r;
    detail::MontSquareLazy<algebra::FpParams>(a.w, r.w);
    return r;
  }
  static CUZK_DEVICE FpD Denominator(const FpD& px, const FpD& minus_x) {
    FpD r;
    Add(px.w, minus_x.w, r.w);
    return r;
  }
  /// k p for k = 0 to 4 has the low word k p_0, and no other low word has its quotient by p_0 below 5.
  static CUZK_DEVICE bool MaybeZero(const FpD& d) { return 0 - d.w[0] * Constants::kNegInverse < 5; }
  static CUZK_DEVICE bool MaybeInfinity(const FpD& x) { return x.w[0] == 0; }
  static CUZK_DEVICE FpD Numerator(const FpD& py, bool negative, const FpD& minus_y) {
    FpD r;
    uint32_t p[N];
    Multiple<1>(p);
    Sub(p, py.w, r.w);
    Choose(negative ? ~0u : 0u, r.w, py.w, r.w);
    Add(r.w, minus_y.w, r.w);
    return r;
  }
  static CUZK_DEVICE FpD MinusX(const FpD& px, const FpD& minus_x, const FpD& square) {
    return MinusModulo<3>(MinusPlus<2>(px, square), minus_x);
  }
  static CUZK_DEVICE FpD Run(const FpD& minus_x, const FpD& new_minus_x) { return MinusPlus<3>(minus_x, new_minus_x); }
  static CUZK_DEVICE FpD MinusY(const FpD& product, const FpD& minus_y) { return MinusModulo<2>(product, minus_y); }
  static CUZK_DEVICE Affine<FpD> Canonical(const FpD& minus_x, const FpD& minus_y) {
    return {-minus_x.Reduced().Reduced(), -minus_y.Reduced()};
  }
};

}  // namespace cuzk::gpu
