#pragma once
// The optimal ate pairing of BLS12-381, as a product over many pairs with one final exponentiation.
//
// e(P, Q) here is the cube of the textbook's reduced ate pairing (the exponent 3(p^12-1)/r has the shorter addition
// chain of Hayashida, Hayasaka and Teruya, eprint 2020/875). It is as bilinear and non-degenerate; products compared
// with each other are unaffected. Values never leave the process.

#include <array>
#include <span>

#include "core/algebra/curve/curve.h"
#include "core/algebra/curve/pairing_steps.h"
#include "core/algebra/simd/cpu_arithmetic.h"

namespace cuzk::algebra {

/// The target group: elements of order r of Fp12.
using Gt = Fp12;

/// The coefficients of all lines of one G2 point; 68 lines, about 20 KB. For points that are paired again and again.
class PreparedG2 {
 public:
  using Line = LineOf<Fp>;
  static constexpr size_t kLines = 68;

  /// `q` must be in the subgroup, or infinity.
  explicit PreparedG2(const G2Affine& q);
  bool IsInfinity() const { return infinity_; }
  const std::array<Line, kLines>& lines() const { return lines_; }

 private:
  bool infinity_;
  std::array<Line, kLines> lines_;
};

struct PreparedPair {
  G1Affine p;
  const PreparedG2* q;  // outlives the call
};

/// The product of the Miller loops of all pairs, before the final exponentiation; a pair with infinity counts as one.
/// All pairs share the squarings of one loop. An empty product is one.
Fp12 MillerLoop(std::span<const PreparedPair> pairs);
/// The same for points that are used once; spans are equally long. Lanes take eight pairs at a time, from four on.
Fp12 MillerLoop(std::span<const G1Affine> p, std::span<const G2Affine> q, Arithmetic arithmetic = Arithmetic::kScalar);

/// f^(3(p^12-1)/r). `f` must not be zero (a Miller loop never is).
Gt FinalExponentiation(const Fp12& f);

/// FinalExponentiation(MillerLoop({p}, {q})).
Gt Pairing(const G1Affine& p, const G2Affine& q);

/// g^k in the target group.
Gt Pow(const Gt& g, const Fr& k);

}  // namespace cuzk::algebra
