#include "gpu/prover/witness_kernels.h"

#include <algorithm>

#include "gpu/msm/points.cuh"

namespace cuzk::gpu {
namespace {

constexpr int kBlock = 256;

uint32_t Blocks(uint64_t n) { return static_cast<uint32_t>((n + kBlock - 1) / kBlock); }

/// The 256 values of a signed byte are looked up in shared memory (8 KB): most are zero or one, so that lanes agree.
__global__ void __launch_bounds__(kBlock) WidenKernel(const int8_t* narrow, uint64_t rows, FrD* out, uint64_t size) {
  __shared__ FrD table[256];
  {
    int value = static_cast<int>(threadIdx.x) - 128;
    FrD one = FrD::One(), x = FrD::Zero();
    uint32_t magnitude = static_cast<uint32_t>(value < 0 ? -value : value);
#pragma unroll 1
    for (int bit = 7; bit >= 0; --bit) {
      x = x.Double();
      if (magnitude >> bit & 1) x = x + one;
    }
    table[threadIdx.x] = value < 0 ? -x : x;
  }
  __syncthreads();
  for (uint64_t i = blockIdx.x * static_cast<uint64_t>(kBlock) + threadIdx.x; i < size;
       i += gridDim.x * static_cast<uint64_t>(kBlock)) {
    int value = i < rows ? narrow[i] : 0;
    Store(out + i, Load(table + value + 128));
  }
}

__global__ void ScatterKernel(const FrD* elements, const uint32_t* at, uint64_t count, FrD* out) {
  uint64_t i = blockIdx.x * static_cast<uint64_t>(kBlock) + threadIdx.x;
  if (i < count) Store(out + at[i], Load(elements + i));
}

/// A warp takes 32 variables, half a word.
__global__ void NarrowKernel(const FrD* aux, uint64_t count, const uint64_t* boolean, const uint32_t* ranks,
                             uint32_t* bits, FrD* wide) {
  uint64_t i = blockIdx.x * static_cast<uint64_t>(kBlock) + threadIdx.x;
  bool exists = i < count, is_boolean = exists && (boolean[i / 64] >> (i % 64) & 1);
  bool one = false;
  if (exists) {
    FrD x = Load(aux + i);
    if (is_boolean) {
      one = x.IsOne();
    } else {
      uint64_t below = ranks[i / 64] + __popcll(boolean[i / 64] & ((uint64_t{1} << (i % 64)) - 1));
      Store(wide + (i - below), x);
    }
  }
  uint32_t set = __ballot_sync(0xffffffffu, one);
  if (threadIdx.x % 32 == 0 && i / 64 * 64 < count) bits[i / 32] = set;
}

__global__ void GatherKernel(const FrD* inputs, uint32_t inputs_count, const FrD* wide, const uint32_t* source,
                             uint64_t count, FrD* out) {
  uint64_t i = blockIdx.x * static_cast<uint64_t>(kBlock) + threadIdx.x;
  if (i >= count) return;
  uint32_t from = source[i];
  Store(out + i, from < inputs_count ? Load(inputs + from) : Load(wide + (from - inputs_count)));
}

/// A thread takes a word; a block reserves its stretch of the list by one addition.
__global__ void __launch_bounds__(kBlock) ListKernel(BitSelection s, uint32_t* list, uint32_t* count) {
  __shared__ uint32_t reserved, offsets[kBlock / 32];
  uint64_t w = blockIdx.x * static_cast<uint64_t>(kBlock) + threadIdx.x;
  uint64_t set = 0, dense = ~uint64_t{0}, point = 0;
  if (w < s.words) {
    if (s.members != nullptr) {
      dense = s.members[w];
      point = s.first_point + s.ranks[w];
    } else {
      point = s.first_point + 64 * w;
    }
    set = s.bits[w] & dense;
    if (point >= s.end || point + 64 <= s.begin) set = 0;
    if (set != 0 && (point < s.begin || point + 64 > s.end)) {
      for (uint64_t rest = set; rest != 0; rest &= rest - 1) {
        uint64_t low = rest & (0 - rest), at = point + __popcll(dense & (low - 1));
        if (at < s.begin || at >= s.end) set &= ~low;
      }
    }
  }
  uint32_t mine = __popcll(set), before = mine;
  for (int step = 1; step < 32; step *= 2) {
    uint32_t other = __shfl_up_sync(0xffffffffu, before, step);
    if (threadIdx.x % 32 >= static_cast<uint32_t>(step)) before += other;
  }
  if (threadIdx.x % 32 == 31) offsets[threadIdx.x / 32] = before;
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t total = 0;
    for (uint32_t& o : offsets) {
      uint32_t here = o;
      o = total;
      total += here;
    }
    reserved = atomicAdd(count, total);
  }
  __syncthreads();
  uint32_t at = reserved + offsets[threadIdx.x / 32] + before - mine;
  for (; set != 0; set &= set - 1) {
    uint64_t low = set & (0 - set);
    list[at++] = static_cast<uint32_t>(point + __popcll(dense & (low - 1)) - s.begin);
  }
}

/// 48 big-endian bytes as words; false if not below p (flags in the top bits make it so).
CUZK_DEVICE bool LoadBigEndian(const uint8_t* bytes, uint32_t (&words)[12]) {
  const uint32_t* from = reinterpret_cast<const uint32_t*>(bytes);
#pragma unroll
  for (int i = 0; i < 12; ++i) words[i] = __byte_perm(from[11 - i], 0, 0x0123);
  uint32_t p[12], difference[12];
  detail::Words32<algebra::FpParams>::Modulus(p);
  return Sub(words, p, difference) != 0;
}
template <class D>
CUZK_DEVICE bool LoadFp(const uint8_t* bytes, D& out) {
  D x, square;
  bool good = LoadBigEndian(bytes, x.w);
  constexpr auto kSquare = detail::Split<12>(algebra::FieldConstants<algebra::FpParams>::kRSquared.v);
#pragma unroll
  for (int i = 0; i < 12; ++i) square.w[i] = kSquare.v[i];
  out = x * square;
  return good;
}
CUZK_DEVICE bool LoadCoordinate(const uint8_t* bytes, FpD& out) { return LoadFp(bytes, out); }
CUZK_DEVICE bool LoadCoordinate(const uint8_t* bytes, Fp2D& out) {
  bool high = LoadFp(bytes, out.c1), low = LoadFp(bytes + 48, out.c0);
  return high && low;
}
CUZK_DEVICE FpD Four(FpD one) { return one.Double().Double(); }
CUZK_DEVICE Fp2D Four(Fp2D one) {
  auto four = one.c0.Double().Double();
  return {four, four};
}

template <class D>
__global__ void __launch_bounds__(128)
    DecodeKernel(const uint8_t* bytes, uint64_t count, bool on_curve, uint64_t first_index, Affine<D>* out,
                 unsigned long long* first_bad) {
  uint64_t i = blockIdx.x * 128ull + threadIdx.x;
  if (i >= count) return;
  const uint8_t* at = bytes + i * sizeof(Affine<D>);
  Affine<D> p;
  bool good = LoadCoordinate(at, p.x);
  good = LoadCoordinate(at + sizeof(D), p.y) && good;
  if (p.IsInfinity()) good = false;
  if (good && on_curve) good = p.y.Square() == p.x.Square() * p.x + Four(D::One());
  if (!good) atomicMin(first_bad, static_cast<unsigned long long>(first_index + i));
  Store(out + i, p);
}

const FrD* Device(const algebra::Fr* p) { return reinterpret_cast<const FrD*>(p); }
FrD* Device(algebra::Fr* p) { return reinterpret_cast<FrD*>(p); }

}  // namespace

Status WidenRows(const int8_t* narrow, uint64_t rows, algebra::Fr* out, uint64_t size, StreamView stream) {
  WidenKernel<<<std::min<uint32_t>(Blocks(size), 2048), kBlock, 0, stream.get()>>>(narrow, rows, Device(out), size);
  CUZK_CUDA_LAUNCHED("WidenKernel");
  return absl::OkStatus();
}

Status Scatter(const algebra::Fr* elements, const uint32_t* at, uint64_t count, algebra::Fr* out, StreamView stream) {
  if (count == 0) return absl::OkStatus();
  ScatterKernel<<<Blocks(count), kBlock, 0, stream.get()>>>(Device(elements), at, count, Device(out));
  CUZK_CUDA_LAUNCHED("ScatterKernel");
  return absl::OkStatus();
}

Status ReadRows(const RowPlanes& planes, r1cs::Matrix matrix, const Buffer<uint32_t>& wide_rows, algebra::Fr* out,
                StreamView stream) {
  const r1cs::PlanePair& pair = planes.layout.rows[static_cast<size_t>(matrix)];
  const auto* wide = reinterpret_cast<const algebra::Fr*>(planes.lease + pair.wide.offset);
  if (planes.layout.layout == r1cs::Layout::kPlain) {
    CUZK_CUDA(cudaMemcpyAsync(out, wide, planes.rows * sizeof(algebra::Fr), cudaMemcpyDeviceToDevice, stream.get()));
    CUZK_CUDA(cudaMemsetAsync(out + planes.rows, 0, (planes.size - planes.rows) * sizeof(algebra::Fr), stream.get()));
    return absl::OkStatus();
  }
  const auto* narrow = reinterpret_cast<const int8_t*>(planes.lease + pair.narrow.offset);
  CUZK_RETURN_IF_ERROR(WidenRows(narrow, planes.rows, out, planes.size, stream));
  return Scatter(wide, wide_rows.data(), wide_rows.size(), out, stream);
}

Status NarrowAux(const algebra::Fr* aux, uint64_t count, const uint64_t* boolean, const uint32_t* boolean_ranks,
                 uint64_t* bits, algebra::Fr* wide, StreamView stream) {
  if (count == 0) return absl::OkStatus();
  uint64_t whole_words = (count + 63) / 64 * 64;
  NarrowKernel<<<Blocks(whole_words), kBlock, 0, stream.get()>>>(Device(aux), count, boolean, boolean_ranks,
                                                                 reinterpret_cast<uint32_t*>(bits), Device(wide));
  CUZK_CUDA_LAUNCHED("NarrowKernel");
  return absl::OkStatus();
}

Status GatherScalars(const algebra::Fr* inputs, uint32_t inputs_count, const algebra::Fr* wide, const uint32_t* source,
                     uint64_t count, algebra::Fr* out, StreamView stream) {
  if (count == 0) return absl::OkStatus();
  GatherKernel<<<Blocks(count), kBlock, 0, stream.get()>>>(Device(inputs), inputs_count, Device(wide), source, count,
                                                           Device(out));
  CUZK_CUDA_LAUNCHED("GatherKernel");
  return absl::OkStatus();
}

Status ListSetBits(const BitSelection& selection, uint32_t* list, uint32_t* count, StreamView stream) {
  if (selection.words == 0) return absl::OkStatus();
  ListKernel<<<Blocks(selection.words), kBlock, 0, stream.get()>>>(selection, list, count);
  CUZK_CUDA_LAUNCHED("ListKernel");
  return absl::OkStatus();
}

Status DecodePoints(const uint8_t* bytes, uint64_t count, bool g2, bool on_curve, uint64_t first_index, void* out,
                    unsigned long long* first_bad, StreamView stream) {
  if (count == 0) return absl::OkStatus();
  uint32_t blocks = static_cast<uint32_t>((count + 127) / 128);
  if (g2) {
    DecodeKernel<Fp2D><<<blocks, 128, 0, stream.get()>>>(bytes, count, on_curve, first_index,
                                                         static_cast<G2AffineD*>(out), first_bad);
  } else {
    DecodeKernel<FpD><<<blocks, 128, 0, stream.get()>>>(bytes, count, on_curve, first_index,
                                                        static_cast<G1AffineD*>(out), first_bad);
  }
  CUZK_CUDA_LAUNCHED("DecodeKernel");
  return absl::OkStatus();
}

}  // namespace cuzk::gpu
