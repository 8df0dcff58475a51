#pragma once
// Points on the device: the types and straight-line formulas of core/algebra, with the rare cases out of line so that
// the common path keeps its operands in registers (an argument passed by value is copied only when the call is made).

#include "core/algebra/curve/curve_points.h"
#include "gpu/field/device_field.cuh"

namespace cuzk::gpu {

template <class F>
using Affine = algebra::AffinePoint<F>;
template <class F>
using Xyzz = algebra::XyzzPoint<F>;

using G1AffineD = Affine<FpD>;
using G2AffineD = Affine<Fp2D>;
static_assert(sizeof(G1AffineD) == 96 && sizeof(G2AffineD) == 192);

template <class F>
__device__ __noinline__ Xyzz<F> DoubleAffine(Affine<F> p) {
  return algebra::formulas::DoubleToXyzz(p);
}
template <class F>
__device__ __noinline__ Xyzz<F> DoubleXyzz(Xyzz<F> p) {
  return algebra::formulas::Double(p);
}

/// a += b, every case.
template <class F>
CUZK_DEVICE void AddTo(Xyzz<F>& a, const Affine<F>& b) {
  if (b.IsInfinity()) return;
  if (a.IsInfinity()) {
    a = {b.x, b.y, F::One(), F::One()};
    return;
  }
  auto steps = algebra::formulas::AddSteps(a, b);
  if (steps.p.IsZero()) {
    a = steps.r.IsZero() ? DoubleAffine<F>(b) : Xyzz<F>::Infinity();
    return;
  }
  a = algebra::formulas::AddFinish(steps, a.zz, a.zzz);
}
template <class F>
CUZK_DEVICE void AddTo(Xyzz<F>& a, const Xyzz<F>& b) {
  if (b.IsInfinity()) return;
  if (a.IsInfinity()) {
    a = b;
    return;
  }
  auto steps = algebra::formulas::AddSteps(a, b);
  if (steps.p.IsZero()) {
    a = steps.r.IsZero() ? DoubleXyzz<F>(b) : Xyzz<F>::Infinity();
    return;
  }
  a = algebra::formulas::AddFinish(steps, a.zz * b.zz, a.zzz * b.zzz);
}
/// The same out of line, for kernels whose time does not matter as much as their size: compiled once a group.
template <class F>
__device__ __noinline__ Xyzz<F> AddCalled(Xyzz<F> a, Xyzz<F> b) {
  AddTo(a, b);
  return a;
}
template <class F>
__device__ __noinline__ Xyzz<F> AddMixedCalled(Xyzz<F> a, Affine<F> b) {
  AddTo(a, b);
  return a;
}

/// In place in G1, where the call costs a third of the time; a call in G2, where its code would be ten times as long.
template <class F, class Point>
CUZK_DEVICE void AddInPlace(Xyzz<F>& sum, const Point& p) {
  if constexpr (sizeof(F) == 48) {
    AddTo(sum, p);
  } else if constexpr (sizeof(Point) == sizeof(Affine<F>)) {
    sum = AddMixedCalled<F>(sum, p);
  } else {
    sum = AddCalled<F>(sum, p);
  }
}

/// An entry of a bucket: index of a point, and bit 31 for its negative.
inline constexpr uint32_t kNegative = 0x80000000u;

template <class F>
CUZK_DEVICE Affine<F> LoadEntry(const Affine<F>* points, uint32_t entry) {
  const Affine<F>* at = points + (entry & ~kNegative);
  Affine<F> p{LoadConst(&at->x), LoadConst(&at->y)};
  if (entry & kNegative) p.y = -p.y;
  return p;
}

/// Sum over the block's threads of `value`, in thread 0. `shared` holds blockDim.x points; blockDim.x is a power of
/// two.
template <class F>
CUZK_DEVICE Xyzz<F> BlockSum(Xyzz<F> value, Xyzz<F>* shared) {
  for (uint32_t half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x >= half && threadIdx.x < 2 * half) Store(shared + threadIdx.x, value);
    __syncthreads();
    if (threadIdx.x < half) value = AddCalled<F>(value, Load(shared + threadIdx.x + half));
    __syncthreads();
  }
  return value;
}

}  // namespace cuzk::gpu
