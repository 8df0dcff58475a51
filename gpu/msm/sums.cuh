#pragma once
// Where the sums of items lie, and how the later kernels read them.

#include "gpu/field/inverse.cuh"
#include "gpu/msm/points.cuh"

namespace cuzk::gpu {

/// Not for infinity. 1/ZZZ, then 1/ZZ = (ZZ/ZZZ)^2.
template <class F>
__device__ __noinline__ Affine<F> ToAffineCalled(Xyzz<F> p) {
  F i = p.zzz.Inverse(), z = p.zz * i;
  return {p.x * z.Square(), p.y * i};
}

/// XYZZ sums, one after the other.
template <class F>
struct XyzzSums {
  Xyzz<F>* sums;
  CUZK_DEVICE void AddInto(Xyzz<F>& sum, uint32_t place) const { AddInPlace(sum, Load(sums + place)); }
  /// Only from a thread that owns the place.
  CUZK_DEVICE void Put(uint32_t place, const Xyzz<F>& value) const { Store(sums + place, value); }
};

/// Affine sums in planes of 16 bytes: consecutive threads with consecutive places read consecutive addresses.
template <class F>
struct AffineSums {
  static constexpr int kPlanes = sizeof(F) / 16;  // of one coordinate
  uint4* planes;
  uint64_t capacity;

  CUZK_DEVICE F LoadCoordinate(int coordinate, uint32_t place) const {
    F r;
    uint4* words = reinterpret_cast<uint4*>(&r);
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) words[i] = planes[(coordinate * kPlanes + i) * capacity + place];
    return r;
  }
  CUZK_DEVICE void StoreCoordinate(int coordinate, uint32_t place, const F& value) const {
    const uint4* words = reinterpret_cast<const uint4*>(&value);
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) planes[(coordinate * kPlanes + i) * capacity + place] = words[i];
  }
  CUZK_DEVICE Affine<F> LoadPoint(uint32_t place) const { return {LoadCoordinate(0, place), LoadCoordinate(1, place)}; }
  CUZK_DEVICE void StorePoint(uint32_t place, const Affine<F>& p) const {
    StoreCoordinate(0, place, p.x);
    StoreCoordinate(1, place, p.y);
  }
  CUZK_DEVICE void AddInto(Xyzz<F>& sum, uint32_t place) const { AddInPlace(sum, LoadPoint(place)); }
  CUZK_DEVICE void Put(uint32_t place, const Xyzz<F>& value) const {
    if (value.IsInfinity()) {
      StorePoint(place, Affine<F>::Infinity());
      return;
    }
    StorePoint(place, ToAffineCalled<F>(value));
  }
};

}  // namespace cuzk::gpu
