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
#include "gpu/field/wide.cuh"
#include "gpu/msm/points.cuh"

namespace cuzk::gpu {

template <class F>
struct AdditionSteps;

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
  /// Of a product.
  static CUZK_DEVICE FpD Reduced(const FpD& a) { return a.Reduced(); }
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

/// a b, two reductions for three products. Out of line: a copy for each product of an addition would not fit the
/// instruction cache. Below 2 + 2 ab / 9.8 in multiples of p; a and b below 4.9, ab below 9.8.
template <int = 0>
static __device__ __noinline__ Fp2D LazyProductCalled(Fp2D a, Fp2D b) {
  constexpr int N = FpD::N;
  uint32_t low[2 * N], high[2 * N], sum[2 * N], p[N];
  detail::WideProduct(a.c0.w, b.c0.w, low);
  detail::WideProduct(a.c1.w, b.c1.w, high);
  Add(low, high, sum);
  uint32_t borrow = Sub(low, high, low);
  detail::Words32<algebra::FpParams>::Modulus(p);
  // p 2^384 more where the difference is negative.
  low[N] = AddCc(low[N], p[0] & borrow);
#pragma unroll
  for (int i = 1; i < N - 1; ++i) low[N + i] = AddcCc(low[N + i], p[i] & borrow);
  low[2 * N - 1] = Addc(low[2 * N - 1], p[N - 1] & borrow);
  uint32_t a_sum[N], b_sum[N];
  Add(a.c0.w, a.c1.w, a_sum);
  Add(b.c0.w, b.c1.w, b_sum);
  Fp2D r;
  detail::ReduceWide<algebra::FpParams>(low, r.c0.w);
  detail::WideProduct(a_sum, b_sum, high);
  Sub(high, sum, high);
  detail::ReduceWide<algebra::FpParams>(high, r.c1.w);
  return r;
}
/// a^2 for a below 3: (a0 + a1)(a0 - a1) below 2.9, 2 a0 a1 below 2.9.
template <int = 0>
static __device__ __noinline__ Fp2D LazySquareCalled(Fp2D a) {
  using Steps = AdditionSteps<FpD>;
  FpD x, y, sum, twice;
#pragma unroll
  for (int i = 0; i < FpD::N; ++i) x.w[i] = a.c0.w[i], y.w[i] = a.c1.w[i];
  Add(x.w, y.w, sum.w);
  Add(x.w, x.w, twice.w);
  FpD first = Steps::Product(sum, Steps::MinusModulo<3>(x, y)), second = Steps::Product(twice, y);
  Fp2D r;
#pragma unroll
  for (int i = 0; i < FpD::N; ++i) r.c0.w[i] = first.w[i], r.c1.w[i] = second.w[i];
  return r;
}

/// The same in Fp2; ranges are those of each coordinate, and a product of a and b is below 2, or below 1 + 2 ab / 9.8.
///   kept of a sum   -x and -y in [0, 2)
///   denominator     px - x in [0, 3)
///   prefix, inverse below 2.6: each is a product by a denominator of what is below 2.6
///   numerator       py - y in [0, 3], slope below 1 + 2 * 2.4 * 3 / 9.8 = 2.5
///   new -x          px - x - slope^2 in (-4.9, 1)
///   new -y          slope * (new x - x) - (-y), the factor in (0, 4): the product is below 3
template <>
struct AdditionSteps<Fp2D> {
  using Fp = AdditionSteps<FpD>;
  static constexpr int N = FpD::N;

  /// a - b, with k p more if that is negative, and p less if that is not below p.
  template <int k>
  static CUZK_DEVICE void MinusReduced(const FpCalledD& a, const FpCalledD& b, FpCalledD& r) {
    uint32_t kp[N], more[N];
    Fp::Multiple<k>(kp);
    uint32_t borrow = Sub(a.w, b.w, r.w);
    Add(r.w, kp, more);
    Choose(borrow, more, r.w, r.w);
    detail::ReduceOnce<algebra::FpParams>(r.w);
  }
  template <int k>
  static CUZK_DEVICE void MinusPlus(const FpCalledD& a, const FpCalledD& b, FpCalledD& r) {
    uint32_t kp[N];
    Fp::Multiple<k>(kp);
    Sub(a.w, b.w, r.w);
    Add(r.w, kp, r.w);
  }

  static CUZK_DEVICE Fp2D Product(const Fp2D& a, const Fp2D& b) { return LazyProductCalled(a, b); }
  static CUZK_DEVICE Fp2D Reduced(const Fp2D& a) { return {a.c0.Reduced().Reduced(), a.c1.Reduced().Reduced()}; }
  static CUZK_DEVICE Fp2D Square(const Fp2D& a) { return LazySquareCalled(a); }
  static CUZK_DEVICE Fp2D Denominator(const Fp2D& px, const Fp2D& minus_x) {
    Fp2D r;
    Add(px.c0.w, minus_x.c0.w, r.c0.w);
    Add(px.c1.w, minus_x.c1.w, r.c1.w);
    return r;
  }
  static CUZK_DEVICE bool MaybeZero(const Fp2D& d) {
    uint32_t k0 = 0 - d.c0.w[0] * Fp::Constants::kNegInverse, k1 = 0 - d.c1.w[0] * Fp::Constants::kNegInverse;
    return (k0 | k1) < 4;
  }
  static CUZK_DEVICE bool MaybeInfinity(const Fp2D& x) { return (x.c0.w[0] | x.c1.w[0]) == 0; }
  static CUZK_DEVICE Fp2D Numerator(const Fp2D& py, bool negative, const Fp2D& minus_y) {
    uint32_t p[N], mask = negative ? ~0u : 0u;
    Fp::Multiple<1>(p);
    Fp2D r;
    Sub(p, py.c0.w, r.c0.w);
    Sub(p, py.c1.w, r.c1.w);
    Choose(mask, r.c0.w, py.c0.w, r.c0.w);
    Choose(mask, r.c1.w, py.c1.w, r.c1.w);
    Add(r.c0.w, minus_y.c0.w, r.c0.w);
    Add(r.c1.w, minus_y.c1.w, r.c1.w);
    return r;
  }
  static CUZK_DEVICE Fp2D MinusX(const Fp2D& px, const Fp2D& minus_x, const Fp2D& square) {
    Fp2D u, r;
    MinusPlus<2>(px.c0, minus_x.c0, u.c0);  // in (0, 3)
    MinusPlus<2>(px.c1, minus_x.c1, u.c1);
    MinusReduced<3>(u.c0, square.c0, r.c0);
    MinusReduced<3>(u.c1, square.c1, r.c1);
    return r;
  }
  static CUZK_DEVICE Fp2D Run(const Fp2D& minus_x, const Fp2D& new_minus_x) {
    Fp2D r;
    MinusPlus<2>(minus_x.c0, new_minus_x.c0, r.c0);
    MinusPlus<2>(minus_x.c1, new_minus_x.c1, r.c1);
    return r;
  }
  static CUZK_DEVICE Fp2D MinusY(const Fp2D& product, const Fp2D& minus_y) {
    Fp2D r;
    MinusReduced<2>(product.c0, minus_y.c0, r.c0);
    MinusReduced<2>(product.c1, minus_y.c1, r.c1);
    return r;
  }
  static CUZK_DEVICE Affine<Fp2D> Canonical(const Fp2D& minus_x, const Fp2D& minus_y) {
    return {{-minus_x.c0.Reduced(), -minus_x.c1.Reduced()}, {-minus_y.c0.Reduced(), -minus_y.c1.Reduced()}};
  }
};

}  // namespace cuzk::gpu
