#pragma once
// One pass of a transform: 2^R-point transforms, R = 6..9, over tiles of 2048 elements.
//
//   tile      2^R rows x C columns, C = 2^(11-R). Row q, column c of a tile is the element
//               block base + q * 2^(s-R) + column        where the sub-transforms have 2^s elements, s > R, or
//               tile base + c * 2^R + q                  in the innermost pass (s = R).
//   block     256 threads, 8 elements each in registers; steps of radix 8 (and one of 4 or 2 where R is no multiple
//             of 3), between them an exchange through shared memory
//   shared    2 planes of 16 bytes: 2048 * 9/8 (one quarter warp of padding per 32) * 32 = 72 KB
//   registers 128 intended: 2 blocks an SM
//   bytes     32 read and 32 written an element; twiddles from the second-level cache
//
// Decimation in frequency (natural to reversed): the pass multiplies its outputs by w_s^(column * j), j the frequency.
// Decimation in time (reversed to natural): it multiplies its inputs, and the steps run the other way.

#include "core/algebra/fr.h"
#include "gpu/field/device_field.cuh"

namespace cuzk::gpu::ntt {

inline constexpr int kTileLog2 = 11;
inline constexpr int kThreads = 256;
inline constexpr int kSharedElements = 2048 / 32 * 36;
inline constexpr int kSharedBytes = kSharedElements * 32;
inline constexpr int kCoarseLog2 = 18;
inline constexpr int kShiftLog2 = 14;

/// Everything that a pass needs beside its radix; passed by value.
struct PassParams {
  FrD* values;
  const FrD* coarse;   // w^(i << fine_log2)
  const FrD* fine;     // w^i
  const FrD* radix;    // powers of the root of order 512
  const FrD* shift;    // two tables of powers, or null
  const FrD* multiply;
  const FrD* subtract;
  FrD scale;
  int log2_size;
  int sub_log2;        // s
  int inverse;
  int scaled;
  int last;            // apply the epilogue
};

CUZK_DEVICE uint32_t Reverse(uint32_t x, int bits) { return bits == 0 ? 0 : __brev(x) >> (32 - bits); }

/// w^e, w of order 2^log2_size, e below 2^log2_size.
CUZK_DEVICE FrD Root(const PassParams& p, uint32_t e) {
  uint32_t n = 1u << p.log2_size;
  if (p.inverse) e = (n - e) & (n - 1);
  int fine_log2 = p.log2_size > kCoarseLog2 ? p.log2_size - kCoarseLog2 : 0;
  FrD r = LoadConst(p.coarse + (e >> fine_log2));
  uint32_t low = e & ((1u << fine_log2) - 1);
  if (fine_log2 > 0 && low != 0) r = r * LoadConst(p.fine + low);
  return r;
}

/// 7^j or its inverse.
CUZK_DEVICE FrD ShiftPower(const PassParams& p, uint32_t j) {
  FrD r = LoadConst(p.shift + (j & ((1u << kShiftLog2) - 1)));
  uint32_t high = j >> kShiftLog2;
  if (high != 0) r = r * LoadConst(p.shift + (1u << kShiftLog2) + high);
  return r;
}

/// The Epilogue at position `at` of the array.
CUZK_DEVICE FrD Finish(const PassParams& p, FrD x, uint32_t at) {
  if (p.scaled) x = x * p.scale;
  if (p.shift != nullptr) x = x * ShiftPower(p, Reverse(at, p.log2_size));
  if (p.multiply != nullptr) x = x * Load(p.multiply + at);
  if (p.subtract != nullptr) x = x - Load(p.subtract + at);
  return x;
}

/// Transform of 2^L elements x[base + i * stride]... in registers, natural order in, reversed out. Roots of order 8 come
/// from the table of order 512.
template <int L>
CUZK_DEVICE void ButterflyDif(FrD* x, const FrD& w1, const FrD& w2, const FrD& w3) {
  if constexpr (L == 3) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      FrD a = x[i], b = x[i + 4];
      x[i] = a + b;
      x[i + 4] = a - b;
    }
    x[5] = x[5] * w1;
    x[6] = x[6] * w2;
    x[7] = x[7] * w3;
    ButterflyDif<2>(x, w1, w2, w3);
    ButterflyDif<2>(x + 4, w1, w2, w3);
  } else if constexpr (L == 2) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      FrD a = x[i], b = x[i + 2];
      x[i] = a + b;
      x[i + 2] = a - b;
    }
    x[3] = x[3] * w2;
    ButterflyDif<1>(x, w1, w2, w3);
    ButterflyDif<1>(x + 2, w1, w2, w3);
  } else {
    FrD a = x[0], b = x[1];
    x[0] = a + b;
    x[1] = a - b;
  }
}

/// The mirror image: reversed order in, natural out.
template <int L>
CUZK_DEVICE void ButterflyDit(FrD* x, const FrD& w1, const FrD& w2, const FrD& w3) {
  if constexpr (L == 3) {
    ButterflyDit<2>(x, w1, w2, w3);
    ButterflyDit<2>(x + 4, w1, w2, w3);
    x[5] = x[5] * w1;
    x[6] = x[6] * w2;
    x[7] = x[7] * w3;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      FrD a = x[i], b = x[i + 4];
      x[i] = a + b;
      x[i + 4] = a - b;
    }
  } else if constexpr (L == 2) {
    ButterflyDit<1>(x, w1, w2, w3);
    ButterflyDit<1>(x + 2, w1, w2, w3);
    x[3] = x[3] * w2;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      FrD a = x[i], b = x[i + 2];
      x[i] = a + b;
      x[i + 2] = a - b;
    }
  } else {
    FrD a = x[0], b = x[1];
    x[0] = a + b;
    x[1] = a - b;
  }
}

/// How the R levels are cut into steps of at most 3.
template <int R>
struct Steps {
  static constexpr int kFirst = 3;
  static constexpr int kSecond = R == 7 ? 2 : 3;
  static constexpr int kThird = R - kFirst - kSecond;  // 0 for R = 6
};

/// Which element of the tile is a thread's `slot`-th in a step on sub-blocks of 2^M rows with radix 2^L.
template <int R, int M, int L>
struct Place {
  uint32_t row, column, low;
  CUZK_DEVICE Place(int slot) {
    constexpr int kColumnsLog2 = kTileLog2 - R;
    uint32_t group = threadIdx.x + static_cast<uint32_t>(slot >> L) * kThreads;
    uint32_t t = static_cast<uint32_t>(slot) & ((1u << L) - 1);
    column = group & ((1u << kColumnsLog2) - 1);
    uint32_t rest = group >> kColumnsLog2;
    low = rest & ((1u << (M - L)) - 1);
    row = ((rest >> (M - L)) << M) + (t << (M - L)) + low;
  }
  /// Position in the shared planes.
  CUZK_DEVICE uint32_t Shared() const {
    uint32_t i = (row << (kTileLog2 - R)) + column;
    return i + (i >> 5) * 4;
  }
};

CUZK_DEVICE void ToShared(uint4* shared, uint32_t at, const FrD& x) {
  shared[at] = make_uint4(x.w[0], x.w[1], x.w[2], x.w[3]);
  shared[at + kSharedElements] = make_uint4(x.w[4], x.w[5], x.w[6], x.w[7]);
}
CUZK_DEVICE FrD FromShared(const uint4* shared, uint32_t at) {
  uint4 a = shared[at], b = shared[at + kSharedElements];
  FrD r;
  r.w[0] = a.x, r.w[1] = a.y, r.w[2] = a.z, r.w[3] = a.w;
  r.w[4] = b.x, r.w[5] = b.y, r.w[6] = b.z, r.w[7] = b.w;
  return r;
}

/// Root of order 512 to the e, e < 512.
CUZK_DEVICE FrD RadixRoot(const PassParams& p, uint32_t e) {
  if (p.inverse) e = (512 - e) & 511;
  return LoadConst(p.radix + e);
}

/// Twiddle factors between a step on 2^M rows and the next: w^(low * j), of order 2^M.
template <int R, int M, int L>
CUZK_DEVICE void StepTwiddles(const PassParams& p, FrD (&x)[8]) {
  if constexpr (M > L) {
#pragma unroll
    for (int slot = 0; slot < 8; ++slot) {
      constexpr uint32_t kMask = (1u << L) - 1;
      uint32_t j = Reverse(slot & kMask, L);
      if (j == 0) continue;
      Place<R, M, L> place(slot);
      x[slot] = x[slot] * RadixRoot(p, (place.low * j) << (9 - M));
    }
  }
}

template <int R, int M, int L>
CUZK_DEVICE void Exchange(uint4* shared, FrD (&x)[8], bool to_shared) {
#pragma unroll
  for (int slot = 0; slot < 8; ++slot) {
    Place<R, M, L> place(slot);
    if (to_shared) {
      ToShared(shared, place.Shared(), x[slot]);
    } else {
      x[slot] = FromShared(shared, place.Shared());
    }
  }
}

/// Where element (row, column) of this block's tile lies in the array.
template <int R>
CUZK_DEVICE uint32_t Address(const PassParams& p, uint32_t row, uint32_t column, uint32_t& column_in_block) {
  constexpr int kColumnsLog2 = kTileLog2 - R;
  int stride_log2 = p.sub_log2 - R;
  uint32_t tile = blockIdx.x;
  if (stride_log2 == 0) {
    column_in_block = 0;
    return (tile << kTileLog2) + (column << R) + row;
  }
  int tiles_log2 = stride_log2 - kColumnsLog2;  // tiles of one sub-transform
  uint32_t sub = tile >> tiles_log2;
  column_in_block = ((tile & ((1u << tiles_log2) - 1)) << kColumnsLog2) + column;
  return (sub << p.sub_log2) + (row << stride_log2) + column_in_block;
}

template <int R, int L>
CUZK_DEVICE void AllButterflies(const PassParams& p, FrD (&x)[8], bool dit) {
  FrD w1, w2, w3;
  if constexpr (L >= 2) w2 = RadixRoot(p, 128);
  if constexpr (L == 3) {
    w1 = RadixRoot(p, 64);
    w3 = RadixRoot(p, 192);
  }
#pragma unroll
  for (int g = 0; g < 8; g += 1 << L) {
    if (dit) {
      ButterflyDit<L>(x + g, w1, w2, w3);
    } else {
      ButterflyDif<L>(x + g, w1, w2, w3);
    }
  }
}

template <int R>
__global__ void __launch_bounds__(kThreads, 2) DifPass(const PassParams p) {
  extern __shared__ uint4 shared[];
  using S = Steps<R>;
  constexpr int kM2 = R - S::kFirst, kM3 = kM2 - S::kSecond;
  FrD x[8];
  uint32_t column;
#pragma unroll
  for (int slot = 0; slot < 8; ++slot) {
    Place<R, R, S::kFirst> place(slot);
    x[slot] = Load(p.values + Address<R>(p, place.row, place.column, column));
  }
  AllButterflies<R, S::kFirst>(p, x, false);
  StepTwiddles<R, R, S::kFirst>(p, x);
  Exchange<R, R, S::kFirst>(shared, x, true);
  __syncthreads();
  Exchange<R, kM2, S::kSecond>(shared, x, false);
  AllButterflies<R, S::kSecond>(p, x, false);
  StepTwiddles<R, kM2, S::kSecond>(p, x);
  constexpr int kLastM = S::kThird > 0 ? kM3 : kM2;
  constexpr int kLastL = S::kThird > 0 ? S::kThird : S::kSecond;
  if constexpr (S::kThird > 0) {
    Exchange<R, kM2, S::kSecond>(shared, x, true);
    __syncthreads();
    Exchange<R, kM3, S::kThird>(shared, x, false);
    AllButterflies<R, S::kThird>(p, x, false);
  }
#pragma unroll
  for (int slot = 0; slot < 8; ++slot) {
    Place<R, kLastM, kLastL> place(slot);
    uint32_t at = Address<R>(p, place.row, place.column, column);
    if (p.sub_log2 > R) {
      uint32_t j = Reverse(place.row, R);
      x[slot] = x[slot] * Root(p, (column * j) << (p.log2_size - p.sub_log2));
    }
    if (p.last) x[slot] = Finish(p, x[slot], at);
    Store(p.values + at, x[slot]);
  }
}

template <int R>
__global__ void __launch_bounds__(kThreads, 2) DitPass(const PassParams p) {
  extern __shared__ uint4 shared[];
  using S = Steps<R>;
  constexpr int kM2 = R - S::kFirst, kM3 = kM2 - S::kSecond;
  constexpr int kLastM = S::kThird > 0 ? kM3 : kM2;
  constexpr int kLastL = S::kThird > 0 ? S::kThird : S::kSecond;
  FrD x[8];
  uint32_t column;
#pragma unroll
  for (int slot = 0; slot < 8; ++slot) {
    Place<R, kLastM, kLastL> place(slot);
    x[slot] = Load(p.values + Address<R>(p, place.row, place.column, column));
    if (p.sub_log2 > R) {
      uint32_t j = Reverse(place.row, R);
      x[slot] = x[slot] * Root(p, (column * j) << (p.log2_size - p.sub_log2));
    }
  }
  if constexpr (S::kThird > 0) {
    AllButterflies<R, S::kThird>(p, x, true);
    Exchange<R, kM3, S::kThird>(shared, x, true);
    __syncthreads();
    Exchange<R, kM2, S::kSecond>(shared, x, false);
  }
  StepTwiddles<R, kM2, S::kSecond>(p, x);
  AllButterflies<R, S::kSecond>(p, x, true);
  Exchange<R, kM2, S::kSecond>(shared, x, true);
  __syncthreads();
  Exchange<R, R, S::kFirst>(shared, x, false);
  StepTwiddles<R, R, S::kFirst>(p, x);
  AllButterflies<R, S::kFirst>(p, x, true);
#pragma unroll
  for (int slot = 0; slot < 8; ++slot) {
    Place<R, R, S::kFirst> place(slot);
    uint32_t at = Address<R>(p, place.row, place.column, column);
    if (p.last) x[slot] = Finish(p, x[slot], at);
    Store(p.values + at, x[slot]);
  }
}

}  // namespace cuzk::gpu::ntt
