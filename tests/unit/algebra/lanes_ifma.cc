#include "tests/unit/algebra/lanes_ifma.h"

#include "core/algebra/field/fp_lanes.h"
#include "core/algebra/field/fr_lanes.h"

namespace cuzk::algebra {
namespace {

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

}  // namespace

template <>
void ApplyLanes<Fr>(LaneOperation operation, const Fr* a, const Fr* b, Fr* out) {
  Apply(operation, FrX8::FromMemory(a, 1), FrX8::FromMemory(b, 1)).ToMemory(out, 1);
}

template <>
void ApplyLanes<Fp>(LaneOperation operation, const Fp* a, const Fp* b, Fp* out) {
  Apply(operation, FpX8::FromMemory(a), FpX8::FromMemory(b)).ToMemory(out);
}

template <>
void ApplyLanes<Fp2>(LaneOperation operation, const Fp2* a, const Fp2* b, Fp2* out) {
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

}  // namespace cuzk::algebra
