#pragma once
// One pass of a transform: 2^R-point transforms, R = 6..9, over tiles of 1024 elements.
//
//   tile      2^R rows x C columns, C = 2^(10-R). Row q, column c of a tile is the element
//               block base + q * 2^(s-R) + column        where the sub-transforms have 2^s elements, s > R, or
//               tile base + c * 2^R + q                  in the innermost pass (s = R).
//   block     128 threads, 8 elements each in registers; two or three steps of radix 8 or 4 (two butterflies of
//             4), with an exchange through shared memory after each
//   shared    2 planes of 16 bytes, 32 KB: three blocks fit where a multiprocessor has 100 KB. In every second
//             run of 32 elements neighbouring fours are exchanged, so that the columns of a tile do not meet in
//             the same banks
//   registers 128 intended: 4 blocks an SM
//   range     between passes elements are below 2r, after the last one below r
//   bytes     32 read and 32 written an element; twiddles from the second-level cache
//   code      one copy of a step, used in a loop, and one copy of what happens at the edges of a pass, used in a loop
//   over
//             the thread's elements in shared memory: unrolled, the 90 products of a pass overflow the instruction
//             cache and the pass takes twice as long
//
// Decimation in frequency (natural to reversed): the pass multiplies its outputs by w_s^(column * j), j the frequency.
// Decimation in time (reversed to natural): it multiplies its inputs, and the steps run the other way.

#include "core/algebra/field/fr.h"
#include "gpu/field/factor.cuh"

namespace cuzk::gpu::ntt {

inline constexpr int kTileLog2 = 10;
inline constexpr int kThreads = 1 << (kTileLog2 - 3);
inline constexpr int kSharedBytes = static_cast<int>(sizeof(FrD)) << kTileLog2;
inline constexpr int kCoarseLog2 = 18;
inline constexpr int kShiftLog2 = 14;

/// Everything that a pass needs beside its radix; passed by value.
struct PassParams {
  FrD* values;
  const FrFactor* coarse;  // w^(i << fine_log2)
  const FrFactor* fine;    // w^i
  const FrFactor* radix;   // powers of the root of order 512
  const FrFactor* shift;   // two tables of powers, or null
  const FrD* multiply;
  const FrD* subtract;
  FrFactor scale;
  int log2_size;
  int sub_log2;    // s
  int radix_log2;  // R
  int inverse;
  int scaled;
  int last;  // apply the epilogue
};

CUZK_DEVICE uint32_t Reverse(uint32_t x, int bits) { return bits == 0 ? 0 : __brev(x) >> (32 - bits); }

CUZK_DEVICE FrFactor LoadFactor(const FrFactor* from) { return {LoadConst(&from->value), LoadConst(&from->quotient)}; }
/// Elements are below 2r everywhere inside a transform.
CUZK_DEVICE FrD Times(const FrD& x, const FrFactor* w) { return TimesFactor(x, LoadFactor(w)); }

/// x w^e, w of order 2^log2_size, e below 2^log2_size.
CUZK_DEVICE FrD TimesRoot(const PassParams& p, FrD x, uint32_t e) {
  uint32_t n = 1u << p.log2_size;
  if (p.inverse) e = (n - e) & (n - 1);
  int fine_log2 = p.log2_size > kCoarseLog2 ? p.log2_size - kCoarseLog2 : 0;
  uint32_t low = e & ((1u << fine_log2) - 1);
  x = Times(x, p.coarse + (e >> fine_log2));
  if (low != 0) x = Times(x, p.fine + low);
  return x;
}

/// x 7^j, or divided by it.
CUZK_DEVICE FrD TimesShift(const PassParams& p, FrD x, uint32_t j) {
  x = Times(x, p.shift + (j & ((1u << kShiftLog2) - 1)));
  uint32_t high = j >> kShiftLog2;
  if (high != 0) x = Times(x, p.shift + (1u << kShiftLog2) + high);
  return x;
}

/// The Epilogue at position `at` of the array; the result is below r.
CUZK_DEVICE FrD Finish(const PassParams& p, FrD x, uint32_t at) {
  if (p.scaled) x = TimesFactor(x, p.scale);
  if (p.shift != nullptr) x = TimesShift(p, x, Reverse(at, p.log2_size));
  if (p.multiply != nullptr) x = FrD::ProductLazy(x, Load(p.multiply + at));
  x = x.Reduced();
  if (p.subtract != nullptr) x = x - Load(p.subtract + at);
  return x;
}

/// (a + b, a - b), below 2r again.
CUZK_DEVICE void Butterfly(FrD& a, FrD& b) {
  uint32_t two_r[8], sum[8], less[8], difference[8], more[8];
  detail::Words32<algebra::FrParams>::Modulus(two_r);
#pragma unroll
  for (int i = 7; i > 0; --i) two_r[i] = two_r[i] << 1 | two_r[i - 1] >> 31;
  two_r[0] <<= 1;
  uint32_t borrow = Sub(a.w, b.w, difference);
  Add(difference, two_r, more);
  uint32_t carry = AddWithCarry(a.w, b.w, sum);
  uint32_t below = SubWithBorrow(sum, carry, two_r, less);
  Choose(borrow, more, difference, b.w);
  Choose(below, sum, less, a.w);
}

/// Two transforms of 4 elements in registers, natural order in, reversed out; of one of 8 if `eight`.
CUZK_DEVICE void StepDif(FrD (&x)[8], bool eight, const FrFactor* radix, int inverse) {
  const FrFactor* w2 = radix + (inverse ? 384 : 128);
  if (eight) {
#pragma unroll
    for (int i = 0; i < 4; ++i) Butterfly(x[i], x[i + 4]);
    x[5] = Times(x[5], radix + (inverse ? 448 : 64));
    x[6] = Times(x[6], w2);
    x[7] = Times(x[7], radix + (inverse ? 320 : 192));
  }
#pragma unroll
  for (int h = 0; h < 8; h += 4) {
    Butterfly(x[h], x[h + 2]);
    Butterfly(x[h + 1], x[h + 3]);
    x[h + 3] = Times(x[h + 3], w2);
    Butterfly(x[h], x[h + 1]);
    Butterfly(x[h + 2], x[h + 3]);
  }
}

/// The mirror image: reversed order in, natural out.
CUZK_DEVICE void StepDit(FrD (&x)[8], bool eight, const FrFactor* radix, int inverse) {
  const FrFactor* w2 = radix + (inverse ? 384 : 128);
#pragma unroll
  for (int h = 0; h < 8; h += 4) {
    Butterfly(x[h], x[h + 1]);
    Butterfly(x[h + 2], x[h + 3]);
    x[h + 3] = Times(x[h + 3], w2);
    Butterfly(x[h], x[h + 2]);
    Butterfly(x[h + 1], x[h + 3]);
  }
  if (eight) {
    x[5] = Times(x[5], radix + (inverse ? 448 : 64));
    x[6] = Times(x[6], w2);
    x[7] = Times(x[7], radix + (inverse ? 320 : 192));
#pragma unroll
    for (int i = 0; i < 4; ++i) Butterfly(x[i], x[i + 4]);
  }
}

/// A step on sub-blocks of 2^m rows with radix 2^l, l = 3 or 2. R = 6: 3 3; 7: 3 2 2; 8: 3 3 2; 9: 3 3 3.
struct Step {
  int m, l;
};
CUZK_DEVICE int StepCount(int r) { return r == 6 ? 2 : 3; }
CUZK_DEVICE Step StepAt(int r, int index) {
  if (index == 0) return {r, 3};
  if (index == 1) return {r - 3, r == 7 ? 2 : 3};
  return {r == 7 ? 2 : r - 6, r == 9 ? 3 : 2};
}

/// Which element of the tile is a thread's `slot`-th in a step.
struct Place {
  uint32_t row, column, low, t;
  CUZK_DEVICE Place(int r, Step step, int slot) {
    int columns_log2 = kTileLog2 - r, rest_log2 = step.m - step.l;
    uint32_t group = threadIdx.x + static_cast<uint32_t>(slot >> step.l) * kThreads;
    t = static_cast<uint32_t>(slot) & ((1u << step.l) - 1);
    column = group & ((1u << columns_log2) - 1);
    uint32_t rest = group >> columns_log2;
    low = rest & ((1u << rest_log2) - 1);
    row = ((rest >> rest_log2) << step.m) + (t << rest_log2) + low;
  }
};

/// Position of an element in the shared planes.
CUZK_DEVICE uint32_t SharedAt(int r, uint32_t row, uint32_t column) {
  uint32_t i = (row << (kTileLog2 - r)) + column;
  return i ^ (i >> 3 & 4);
}
CUZK_DEVICE void ToShared(uint4* shared, uint32_t at, const FrD& x) {
  shared[at] = make_uint4(x.w[0], x.w[1], x.w[2], x.w[3]);
  shared[at + (1u << kTileLog2)] = make_uint4(x.w[4], x.w[5], x.w[6], x.w[7]);
}
CUZK_DEVICE FrD FromShared(const uint4* shared, uint32_t at) {
  uint4 a = shared[at], b = shared[at + (1u << kTileLog2)];
  FrD r;
  r.w[0] = a.x, r.w[1] = a.y, r.w[2] = a.z, r.w[3] = a.w;
  r.w[4] = b.x, r.w[5] = b.y, r.w[6] = b.z, r.w[7] = b.w;
  return r;
}

/// Twiddle factors between a step and the next: w^(low * j), of order 2^m.
CUZK_DEVICE void StepTwiddles(const PassParams& p, Step step, FrD (&x)[8]) {
  if (step.m == step.l) return;
#pragma unroll
  for (int slot = 1; slot < 8; ++slot) {
    Place place(p.radix_log2, step, slot);
    uint32_t e = (place.low * (__brev(place.t) >> (32 - step.l))) << (9 - step.m);
    if (p.inverse) e = (512 - e) & 511;
    x[slot] = Times(x[slot], p.radix + e);
  }
}

/// An element at the edge of a pass.
struct Edge {
  uint32_t row, address, column;  // column of the sub-transform
};
CUZK_DEVICE Edge EdgeAt(const PassParams& p, uint32_t row, uint32_t tile_column) {
  int columns_log2 = kTileLog2 - p.radix_log2, stride_log2 = p.sub_log2 - p.radix_log2;
  uint32_t tile = blockIdx.x;
  if (stride_log2 == 0) return {row, (tile << kTileLog2) + (tile_column << p.radix_log2) + row, 0};
  int tiles_log2 = stride_log2 - columns_log2;  // tiles of one sub-transform
  uint32_t column = ((tile & ((1u << tiles_log2) - 1)) << columns_log2) + tile_column;
  return {row, ((tile >> tiles_log2) << p.sub_log2) + (row << stride_log2) + column, column};
}
/// Row and column in the tile of the thread's i-th element at the edge, in an order that is coalesced in memory.
CUZK_DEVICE void EdgeElement(const PassParams& p, int i, uint32_t& row, uint32_t& tile_column) {
  uint32_t at = threadIdx.x + static_cast<uint32_t>(i) * kThreads;
  int columns_log2 = kTileLog2 - p.radix_log2;
  bool innermost = p.sub_log2 == p.radix_log2;
  row = innermost ? at & ((1u << p.radix_log2) - 1) : at >> columns_log2;
  tile_column = innermost ? at >> p.radix_log2 : at & ((1u << columns_log2) - 1);
}

/// The factor between this pass and its neighbour towards the outer levels.
CUZK_DEVICE FrD TimesPassTwiddle(const PassParams& p, const FrD& x, const Edge& edge) {
  uint32_t j = Reverse(edge.row, p.radix_log2);
  return TimesRoot(p, x, (edge.column * j) << (p.log2_size - p.sub_log2));
}

template <bool kReversedInput>
__global__ void __launch_bounds__(kThreads, 4) Pass(const PassParams p) {
  extern __shared__ uint4 shared[];
  int r = p.radix_log2, steps = StepCount(r);
  bool twiddles = p.sub_log2 > r;
  FrD x[8];
  if constexpr (kReversedInput) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      uint32_t row, column;
      EdgeElement(p, i, row, column);
      x[i] = Load(p.values + EdgeAt(p, row, column).address);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      uint32_t row, column;
      EdgeElement(p, i, row, column);
      ToShared(shared, SharedAt(r, row, column), x[i]);
    }
    if (twiddles) {
#pragma unroll 1
      for (int i = 0; i < 8; ++i) {
        uint32_t row, column;
        EdgeElement(p, i, row, column);
        Edge edge = EdgeAt(p, row, column);
        uint32_t at = SharedAt(r, row, column);
        ToShared(shared, at, TimesPassTwiddle(p, FromShared(shared, at), edge));
      }
    }
    __syncthreads();
  }
#pragma unroll 1
  for (int index = 0; index < steps; ++index) {
    Step step = StepAt(r, kReversedInput ? steps - 1 - index : index);
    if (!kReversedInput && index == 0) {
#pragma unroll
      for (int slot = 0; slot < 8; ++slot) {
        Place place(r, step, slot);
        x[slot] = Load(p.values + EdgeAt(p, place.row, place.column).address);
      }
    } else {
#pragma unroll
      for (int slot = 0; slot < 8; ++slot) {
        Place place(r, step, slot);
        x[slot] = FromShared(shared, SharedAt(r, place.row, place.column));
      }
    }
    if constexpr (kReversedInput) {
      StepTwiddles(p, step, x);
      StepDit(x, step.l == 3, p.radix, p.inverse);
    } else {
      StepDif(x, step.l == 3, p.radix, p.inverse);
      StepTwiddles(p, step, x);
    }
#pragma unroll
    for (int slot = 0; slot < 8; ++slot) {
      Place place(r, step, slot);
      ToShared(shared, SharedAt(r, place.row, place.column), x[slot]);
    }
    __syncthreads();
  }
#pragma unroll 1
  for (int i = 0; i < 8; ++i) {
    uint32_t row, column;
    EdgeElement(p, i, row, column);
    Edge edge = EdgeAt(p, row, column);
    FrD y = FromShared(shared, SharedAt(r, row, column));
    if (!kReversedInput && twiddles) y = TimesPassTwiddle(p, y, edge);
    if (p.last) y = Finish(p, y, edge.address);
    Store(p.values + edge.address, y);
  }
}

}  // namespace cuzk::gpu::ntt
