#pragma once
// Points of y^2 = x^3 + b (a = 0) in three coordinate systems, and the addition formulas as straight-line arithmetic.
// F is any field type: one element, eight lanes, or the device's. Nothing here looks at a value: the cases (infinity,
// equal or opposite points) are handled by curve.h, by the lanes, and by the kernels, each in its own way.

#include "core/algebra/field/fp2.h"

namespace cuzk::algebra {

/// x, y. Infinity is all zero, which is no point of either curve; there is no flag.
template <class F>
struct AffinePoint {
  F x, y;

  static constexpr CUZK_HD AffinePoint Infinity() { return {F::Zero(), F::Zero()}; }
  constexpr CUZK_HD bool IsInfinity() const { return x.IsZero() && y.IsZero(); }
  constexpr CUZK_HD AffinePoint operator-() const { return {x, -y}; }
  friend constexpr CUZK_HD bool operator==(const AffinePoint& a, const AffinePoint& b) {
    return a.x == b.x && a.y == b.y;
  }
};

/// (X/Z^2, Y/Z^3); Z = 0 is infinity.
template <class F>
struct JacobianPoint {
  F x, y, z;

  static constexpr CUZK_HD JacobianPoint Infinity() { return {F::One(), F::One(), F::Zero()}; }
  constexpr CUZK_HD bool IsInfinity() const { return z.IsZero(); }
  constexpr CUZK_HD JacobianPoint operator-() const { return {x, -y, z}; }
};

/// (X/ZZ, Y/ZZZ) with ZZ^3 = ZZZ^2; ZZ = 0 is infinity. The cheapest form to add affine points to.
template <class F>
struct XyzzPoint {
  F x, y, zz, zzz;

  static constexpr CUZK_HD XyzzPoint Infinity() { return {F::One(), F::One(), F::Zero(), F::Zero()}; }
  constexpr CUZK_HD bool IsInfinity() const { return zz.IsZero(); }
  constexpr CUZK_HD XyzzPoint operator-() const { return {x, -y, zz, zzz}; }
};

/// Straight-line formulas; names of operations and sources are those of the Explicit-Formulas Database.
namespace formulas {

/// dbl-2009-l: 2M + 5S. Right for infinity too; the curves have no point of order two in F.
template <class F>
constexpr CUZK_HD JacobianPoint<F> Double(const JacobianPoint<F>& p) {
  F a = p.x.Square(), b = p.y.Square(), c = b.Square();
  F d = ((p.x + b).Square() - a - c).Double();
  F e = a.Double() + a;
  F x = e.Square() - d.Double();
  F y = e * (d - x) - c.Double().Double().Double();
  F z = (p.y * p.z).Double();
  return {x, y, z};
}

/// The two differences that decide the case of a Jacobian addition: h = U2 - U1 and r = S2 - S1.
template <class F>
struct JacobianSteps {
  F u1, s1, h, r;
};
template <class F>
constexpr CUZK_HD JacobianSteps<F> AddSteps(const JacobianPoint<F>& p, const JacobianPoint<F>& q) {
  F zz1 = p.z.Square(), zz2 = q.z.Square();
  F u1 = p.x * zz2, u2 = q.x * zz1;
  F s1 = p.y * q.z * zz2, s2 = q.y * p.z * zz1;
  return {u1, s1, u2 - u1, s2 - s1};
}
template <class F>
constexpr CUZK_HD JacobianSteps<F> AddSteps(const JacobianPoint<F>& p, const AffinePoint<F>& q) {
  F zz1 = p.z.Square();
  return {p.x, p.y, q.x * zz1 - p.x, q.y * p.z * zz1 - p.y};
}
/// The sum for h != 0; `zz` is Z1 Z2 (Z1 where the second point is affine). add-1998-cmo-2.
template <class F>
constexpr CUZK_HD JacobianPoint<F> AddFinish(const JacobianSteps<F>& s, const F& zz) {
  F hh = s.h.Square(), hhh = s.h * hh, v = s.u1 * hh;
  F x = s.r.Square() - hhh - v.Double();
  F y = s.r * (v - x) - s.s1 * hhh;
  return {x, y, zz * s.h};
}

/// dbl-2008-s-1 for XYZZ: 6M + 4S less the term in a.
template <class F>
constexpr CUZK_HD XyzzPoint<F> Double(const XyzzPoint<F>& p) {
  F u = p.y.Double(), v = u.Square(), w = u * v, s = p.x * v;
  F xx = p.x.Square(), m = xx.Double() + xx;
  F x = m.Square() - s.Double();
  return {x, m * (s - x) - w * p.y, v * p.zz, w * p.zzz};
}
/// Twice an affine point (not infinity): mdbl-2008-s-1.
template <class F>
constexpr CUZK_HD XyzzPoint<F> DoubleToXyzz(const AffinePoint<F>& p) {
  F u = p.y.Double(), v = u.Square(), w = u * v, s = p.x * v;
  F xx = p.x.Square(), m = xx.Double() + xx;
  F x = m.Square() - s.Double();
  return {x, m * (s - x) - w * p.y, v, w};
}

/// The two differences that decide the case of an XYZZ addition: p = U2 - U1 and r = S2 - S1.
template <class F>
struct XyzzSteps {
  F u1, s1, p, r;
};
template <class F>
constexpr CUZK_HD XyzzSteps<F> AddSteps(const XyzzPoint<F>& a, const AffinePoint<F>& b) {
  return {a.x, a.y, b.x * a.zz - a.x, b.y * a.zzz - a.y};
}
template <class F>
constexpr CUZK_HD XyzzSteps<F> AddSteps(const XyzzPoint<F>& a, const XyzzPoint<F>& b) {
  F u1 = a.x * b.zz, s1 = a.y * b.zzz;
  return {u1, s1, b.x * a.zz - u1, b.y * a.zzz - s1};
}
/// The sum for p != 0; `zz`, `zzz` are the products of both points' (the first point's where the second is affine).
/// madd-2008-s and add-2008-s.
template <class F>
constexpr CUZK_HD XyzzPoint<F> AddFinish(const XyzzSteps<F>& s, const F& zz, const F& zzz) {
  F pp = s.p.Square(), ppp = s.p * pp, q = s.u1 * pp;
  F x = s.r.Square() - ppp - q.Double();
  return {x, s.r * (q - x) - s.s1 * ppp, zz * pp, zzz * ppp};
}

/// The sum of two affine points, given `slope` = (y2-y1)/(x2-x1), or 3x^2/2y for twice a point. 2M + 1S.
template <class F>
constexpr CUZK_HD AffinePoint<F> AddWithSlope(const AffinePoint<F>& a, const F& x2, const F& slope) {
  F x = slope.Square() - a.x - x2;
  return {x, slope * (a.x - x) - a.y};
}

}  // namespace formulas
}  // namespace cuzk::algebra
