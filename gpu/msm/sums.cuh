#pragma once
// Where the sums of items lie, and how the later kernels read them.

#include "gpu/field/inverse.cuh"
#include "gpu/msm/lazy.cuh"
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

/// Affine sums, negated and as lazy.cuh leaves them, with a prefix product each, in planes of 16 bytes over tiles of
/// 128 sums: consecutive threads with consecutive places read consecutive addresses, and the planes of one sum are at
/// fixed distances.
template <class F>
struct AffineSums {
  static constexpr int kPlanes = sizeof(F) / 16;  // of one coordinate
  enum Coordinate { kMinusX, kMinusY, kPrefix, kCoordinates };
  static constexpr uint32_t kTile = 128;
  static constexpr uint32_t kTileWords = kCoordinates * kPlanes * kTile;
  uint4* words;

  static uint64_t Words(uint64_t sums) { return (sums + kTile - 1) / kTile * kTileWords; }
  CUZK_DEVICE uint4* At(uint32_t place) const {
    return words + static_cast<uint64_t>(place / kTile) * kTileWords + place % kTile;
  }
  static constexpr CUZK_DEVICE uint32_t Offset(int coordinate, int plane) {
    return static_cast<uint32_t>(coordinate * kPlanes + plane) * kTile;
  }
  static CUZK_DEVICE F LoadCoordinate(const uint4* at, int coordinate) {
    F r;
    uint4* to = reinterpret_cast<uint4*>(&r);
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) to[i] = at[Offset(coordinate, i)];
    return r;
  }
  static CUZK_DEVICE void StoreCoordinate(uint4* at, int coordinate, const F& value) {
    const uint4* from = reinterpret_cast<const uint4*>(&value);
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) at[Offset(coordinate, i)] = from[i];
  }
  /// Reduced.
  CUZK_DEVICE Affine<F> LoadPoint(uint32_t place) const {
    const uint4* at = At(place);
    return AdditionSteps<F>::Canonical(LoadCoordinate(at, kMinusX), LoadCoordinate(at, kMinusY));
  }
  CUZK_DEVICE void StorePoint(uint32_t place, const Affine<F>& p) const {
    uint4* at = At(place);
    StoreCoordinate(at, kMinusX, -p.x);
    StoreCoordinate(at, kMinusY, -p.y);
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
