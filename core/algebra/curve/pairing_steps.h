#pragma once
// The steps of Miller's loop as straight-line arithmetic, over one element or eight lanes (F is Fp or FpX8).

#include "core/algebra/curve/curve_points.h"
#include "core/algebra/field/fp12.h"

namespace cuzk::algebra {

/// The loop runs over the bits of |x|; the curve's parameter x is -kMillerX.
inline constexpr uint64_t kMillerX = 0xd201000000010000;

/// A line l(P) = c0 + (c1 x_P) v + (c4 y_P) v w, up to a factor that the final exponentiation removes.
template <class F>
struct LineOf {
  Fp2Of<F> c0, c1, c4;
};

/// The running point of the loop, (X/Z, Y/Z).
template <class F>
struct MillerPoint {
  Fp2Of<F> x, y, z;
};

/// The tangent at t; t becomes twice itself. Costello, Lange and Naehrig, eprint 2009/615, section 5, for
/// y^2 = x^3 + 4(1+u), with the point scaled by 4 in place of their halves.
template <class F>
LineOf<F> MillerDouble(MillerPoint<F>& t) {
  using E = Fp2Of<F>;
  E a = t.x * t.y, b = t.y.Square(), c = t.z.Square();
  E e = (c.Double() + c).MulByNonResidue().Double().Double();  // 3 b' Z^2
  E f = e.Double() + e, g = b + f;
  E h = (t.y + t.z).Square() - b - c;  // 2YZ
  E i = e - b, j = t.x.Square(), ee = e.Square().Double().Double();
  t = {(a * (b - f)).Double(), g.Square() - (ee.Double() + ee), (b * h).Double().Double()};
  return {i, j.Double() + j, -h};
}

/// The line through t and q; t becomes t + q.
template <class F>
LineOf<F> MillerAdd(MillerPoint<F>& t, const AffinePoint<Fp2Of<F>>& q) {
  using E = Fp2Of<F>;
  E theta = t.y - q.y * t.z, lambda = t.x - q.x * t.z;
  E c = theta.Square(), d = lambda.Square(), e = lambda * d, f = t.z * c, g = t.x * d;
  E h = e + f - g.Double();
  t = {lambda * h, theta * (g - h) - e * t.y, t.z * e};
  return {theta * q.x - lambda * q.y, -theta, lambda};
}

/// f times the line's value at p.
template <class F>
Fp12Of<F> MulByLine(const Fp12Of<F>& f, const LineOf<F>& line, const AffinePoint<F>& p) {
  return f.MulBy014(line.c0, line.c1 * p.x, line.c4 * p.y);
}

}  // namespace cuzk::algebra
