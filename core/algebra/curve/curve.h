#pragma once
// The groups G1 (over Fp) and G2 (over Fp2) of BLS12-381: complete operations on points, multiplication by scalars,
// membership tests. Nothing here is constant time: the prover's secrets are protected by the machine, not by timing.

#include <span>
#include <vector>

#include "core/algebra/curve/curve_points.h"
#include "core/algebra/field/fr.h"

namespace cuzk::algebra {

using G1Affine = AffinePoint<Fp>;
using G2Affine = AffinePoint<Fp2>;
using G1 = JacobianPoint<Fp>;
using G2 = JacobianPoint<Fp2>;
using G1Xyzz = XyzzPoint<Fp>;
using G2Xyzz = XyzzPoint<Fp2>;
static_assert(sizeof(G1Affine) == 96 && sizeof(G2Affine) == 192);

/// b of y^2 = x^3 + b: 4, and 4(1+u).
template <class F>
constexpr F CurveB();
template <>
constexpr Fp CurveB<Fp>() {
  return Fp::FromU64(4);
}
template <>
constexpr Fp2 CurveB<Fp2>() {
  return {Fp::FromU64(4), Fp::FromU64(4)};
}

/// The standard generators of the subgroups of order r.
const G1Affine& G1Generator();
const G2Affine& G2Generator();

// Complete additions and doublings: every case, infinity included.

template <class F>
constexpr CUZK_HD JacobianPoint<F> ToJacobian(const AffinePoint<F>& p) {
  if (p.IsInfinity()) return JacobianPoint<F>::Infinity();
  return {p.x, p.y, F::One()};
}
template <class F>
constexpr CUZK_HD JacobianPoint<F> Double(const JacobianPoint<F>& p) {
  return formulas::Double(p);
}
template <class F>
constexpr CUZK_HD JacobianPoint<F> Add(const JacobianPoint<F>& p, const JacobianPoint<F>& q) {
  if (p.IsInfinity()) return q;
  if (q.IsInfinity()) return p;
  auto steps = formulas::AddSteps(p, q);
  if (steps.h.IsZero()) return steps.r.IsZero() ? formulas::Double(p) : JacobianPoint<F>::Infinity();
  return formulas::AddFinish(steps, p.z * q.z);
}
template <class F>
constexpr CUZK_HD JacobianPoint<F> Add(const JacobianPoint<F>& p, const AffinePoint<F>& q) {
  if (p.IsInfinity()) return ToJacobian(q);
  if (q.IsInfinity()) return p;
  auto steps = formulas::AddSteps(p, q);
  if (steps.h.IsZero()) return steps.r.IsZero() ? formulas::Double(p) : JacobianPoint<F>::Infinity();
  return formulas::AddFinish(steps, p.z);
}
template <class F>
constexpr CUZK_HD XyzzPoint<F> ToXyzz(const AffinePoint<F>& p) {
  if (p.IsInfinity()) return XyzzPoint<F>::Infinity();
  return {p.x, p.y, F::One(), F::One()};
}
template <class F>
constexpr CUZK_HD XyzzPoint<F> Double(const XyzzPoint<F>& p) {
  return formulas::Double(p);
}
template <class F>
constexpr CUZK_HD XyzzPoint<F> Add(const XyzzPoint<F>& p, const AffinePoint<F>& q) {
  if (p.IsInfinity()) return ToXyzz(q);
  if (q.IsInfinity()) return p;
  auto steps = formulas::AddSteps(p, q);
  if (steps.p.IsZero()) return steps.r.IsZero() ? formulas::DoubleToXyzz(q) : XyzzPoint<F>::Infinity();
  return formulas::AddFinish(steps, p.zz, p.zzz);
}
template <class F>
constexpr CUZK_HD XyzzPoint<F> Add(const XyzzPoint<F>& p, const XyzzPoint<F>& q) {
  if (p.IsInfinity()) return q;
  if (q.IsInfinity()) return p;
  auto steps = formulas::AddSteps(p, q);
  if (steps.p.IsZero()) return steps.r.IsZero() ? formulas::Double(p) : XyzzPoint<F>::Infinity();
  return formulas::AddFinish(steps, p.zz * q.zz, p.zzz * q.zzz);
}
/// The same point in Jacobian coordinates with Z = ZZ, without a division: X' = X ZZ, Y' = Y ZZ^3 / ZZZ = Y ZZZ.
template <class F>
constexpr CUZK_HD JacobianPoint<F> ToJacobian(const XyzzPoint<F>& p) {
  if (p.IsInfinity()) return JacobianPoint<F>::Infinity();
  return {p.x * p.zz, p.y * p.zzz, p.zz};
}

template <class F>
constexpr JacobianPoint<F> operator+(const JacobianPoint<F>& p, const JacobianPoint<F>& q) {
  return Add(p, q);
}
template <class F>
constexpr JacobianPoint<F> operator+(const JacobianPoint<F>& p, const AffinePoint<F>& q) {
  return Add(p, q);
}
template <class F>
constexpr JacobianPoint<F> operator-(const JacobianPoint<F>& p, const JacobianPoint<F>& q) {
  return Add(p, -q);
}
template <class F>
constexpr JacobianPoint<F>& operator+=(JacobianPoint<F>& p, const JacobianPoint<F>& q) {
  return p = Add(p, q);
}
template <class F>
constexpr JacobianPoint<F>& operator+=(JacobianPoint<F>& p, const AffinePoint<F>& q) {
  return p = Add(p, q);
}
/// Equality as points; Z may differ.
template <class F>
constexpr bool operator==(const JacobianPoint<F>& p, const JacobianPoint<F>& q) {
  if (p.IsInfinity() || q.IsInfinity()) return p.IsInfinity() == q.IsInfinity();
  auto steps = formulas::AddSteps(p, q);
  return steps.h.IsZero() && steps.r.IsZero();
}

/// One inversion. Infinity gives the affine infinity.
G1Affine ToAffine(const G1& p);
G2Affine ToAffine(const G2& p);
/// All with one inversion; out is as long as points.
void BatchToAffine(std::span<const G1> points, std::span<G1Affine> out);
void BatchToAffine(std::span<const G2> points, std::span<G2Affine> out);

/// k p. For any point of the curve, in the subgroup or not.
G1 ScalarMul(const G1Affine& p, const Fr& k);
G2 ScalarMul(const G2Affine& p, const Fr& k);
G1 ScalarMul(const G1& p, const Fr& k);
G2 ScalarMul(const G2& p, const Fr& k);
/// The same for a canonical integer of any length, least significant limb first.
G1 ScalarMul(const G1& p, std::span<const uint64_t> k);
G2 ScalarMul(const G2& p, std::span<const uint64_t> k);

/// The curve equation; true for infinity.
bool IsOnCurve(const G1Affine& p);
bool IsOnCurve(const G2Affine& p);
/// Whether a point of the curve has order r or 1, by endomorphism (M. Scott, eprint 2021/1130): phi(P) = -x^2 P in G1,
/// psi(P) = x P in G2, where x is the curve's parameter.
bool IsInSubgroup(const G1Affine& p);
bool IsInSubgroup(const G2Affine& p);
/// phi(x, y) = (beta x, y), beta a cube root of unity: multiplication by -x^2 on G1.
G1Affine Phi(const G1Affine& p);
/// psi = twist^-1 Frobenius twist: multiplication by x on G2.
G2Affine Psi(const G2Affine& p);

/// A random point of the subgroup: the generator times a random scalar.
G1Affine RandomG1();
G2Affine RandomG2();

}  // namespace cuzk::algebra
