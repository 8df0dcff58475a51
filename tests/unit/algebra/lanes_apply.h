#pragma once
// What lanes_ifma.cc and lanes_fma.cc do with the lanes of the header that they include first.

#include "tests/unit/algebra/lanes.h"

namespace cuzk::algebra {
namespace {  // NOLINT: see lanes52.h

/// a b + a - b by way of sums far from the modulus, which the lanes do not reduce.
template <class Lanes>
Lanes SumOfMany(const Lanes& a, const Lanes& b) {
  Lanes product = a * b, sum = product;
  for (int i = 0; i < 12; ++i) sum = sum + product + a - b;
  Lanes back = sum * Lanes::One();
  for (int i = 0; i < 12; ++i) back = back - product - a + b;
  return back + a - b;
}

template <class Lanes>
Lanes Apply(LaneOperation operation, const Lanes& a, const Lanes& b) {
  switch (operation) {
    case LaneOperation::kAdd:
      return a + b;
    case LaneOperation::kSub:
      return a - b;
    case LaneOperation::kMul:
      return a * b;
    case LaneOperation::kNegate:
      return -a;
    case LaneOperation::kTwice:
      return a.Double();
    case LaneOperation::kSquare:
      return a.Square();
    case LaneOperation::kSumOfMany:
      return SumOfMany(a, b);
  }
  return a;
}

inline void ApplyToFp(LaneOperation operation, const Fp* a, const Fp* b, Fp* out) {
  Apply(operation, FpX8::FromMemory(a), FpX8::FromMemory(b)).ToMemory(out);
}
inline void ApplyToFp2(LaneOperation operation, const Fp2* a, const Fp2* b, Fp2* out) {
  auto load = [](const Fp2* p) {
    Fp c0[8], c1[8];
    for (size_t i = 0; i < 8; ++i) c0[i] = p[i].c0, c1[i] = p[i].c1;
    return Fp2X8{FpX8::FromMemory(c0), FpX8::FromMemory(c1)};
  };
  Fp2X8 r = Apply(operation, load(a), load(b));
  Fp c0[8], c1[8];
  r.c0.ToMemory(c0);
  r.c1.ToMemory(c1);
  for (size_t i = 0; i < 8; ++i) out[i] = {c0[i], c1[i]};
}

}  // namespace
}  // namespace cuzk::algebra
