#include "gpu/prover/witness_kernels.h"

#include <algorithm>

#include "gpu/msm/points.cuh"

namespace cuzk::gpu {
namespace {

constexpr int kBlock = 256;

uint32_t Blocks(uint64_t n) { return static_cast<uint32_t>((n + kBlock - 1) / kBlock); }

CUZK_DEVICE uint64_t Below(uint64_t i) { return (uint64_t{1} << (i % 64)) - 1; }
/// Members below i.
CUZK_DEVICE uint64_t RankOf(const RankedBits& set, uint64_t i) {
  return __ldg(set.ranks + i / 64) + __popcll(__ldg(set.words + i / 64) & Below(i));
}

/// The 256 values of a signed byte are looked up in shared memory (8 KB): most are zero or one, so that lanes agree.
__global__ void __launch_bounds__(kBlock) WidenKernel(RowPiece piece, RankedBits wide_rows, FrD* out) {
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
  const FrD* wide = reinterpret_cast<const FrD*>(piece.wide);
  for (uint64_t i = blockIdx.x * static_cast<uint64_t>(kBlock) + threadIdx.x; i < piece.count;
       i += gridDim.x * static_cast<uint64_t>(kBlock)) {
    const uint64_t row = piece.first + i;
    if (__ldg(wide_rows.words + row / 64) >> (row % 64) & 1) {
      Store(out + row, Load(wide + (RankOf(wide_rows, row) - piece.wide_before)));
    } else {
      Store(out + row, Load(table + piece.narrow[i] + 128));
    }
  }
}

/// A warp takes 32 variables, half a word.
__global__ void __launch_bounds__(kBlock) NarrowKernel(PlainAux piece, RankedBits boolean, uint32_t* bits, FrD* whole) {
  const FrD* values = reinterpret_cast<const FrD*>(piece.values);
  uint64_t i = blockIdx.x * static_cast<uint64_t>(kBlock) + threadIdx.x, aux = piece.first + i;
  bool exists = i < piece.count, is_boolean = exists && (boolean.words[aux / 64] >> (aux % 64) & 1);
  bool one = false;
  if (exists) {
    FrD x = Load(values + i);
    if (is_boolean) {
      one = x.IsOne();
    } else {
      Store(whole + (aux - RankOf(boolean, aux) - piece.whole_before), x);
    }
  }
  uint32_t set = __ballot_sync(0xffffffffu, one);
  if (bits != nullptr && threadIdx.x % 32 == 0 && i / 64 * 64 < piece.count) bits[aux / 32] = set;
}

/// One variable's place in a query.
struct TermPlace {
  bool is_term;  // a member with a whole scalar
  uint64_t term, point;
};
CUZK_DEVICE TermPlace PlaceOf(const TermTables& t, const TermRange& range, uint64_t aux) {
  const uint64_t w = aux / 64, bit = uint64_t{1} << (aux % 64), whole = ~__ldg(t.boolean.words + w);
  if (t.members.words == nullptr) {
    return {(whole & bit) != 0, aux - RankOf(t.boolean, aux) - range.first_term, aux - range.first_point};
  }
  const uint64_t dense = __ldg(t.members.words + w);
  return {(whole & dense & bit) != 0,
          t.inputs + __ldg(t.term_ranks + w) + __popcll(whole & dense & Below(aux)) - range.first_term,
          t.inputs + __ldg(t.members.ranks + w) + __popcll(dense & Below(aux)) - range.first_point};
}

/// A thread per aux; the first ones take the inputs too.
__global__ void __launch_bounds__(kBlock)
    GatherKernel(TermTables t, TermRange range, const FrD* inputs, const FrD* whole, FrD* scalars, uint32_t* points) {
  const uint64_t i = blockIdx.x * static_cast<uint64_t>(kBlock) + threadIdx.x;
  if (range.begin == 0 && i < t.inputs) {
    Store(scalars + i, Load(inputs + t.input_list[i]));
    if (points != nullptr) points[i] = static_cast<uint32_t>(i);
  }
  const uint64_t aux = range.begin + i;
  if (aux >= range.end) return;
  const TermPlace place = PlaceOf(t, range, aux);
  if (!place.is_term) return;
  Store(scalars + place.term, Load(whole + (aux - RankOf(t.boolean, aux) - range.first_whole)));
  if (points != nullptr) points[place.term] = static_cast<uint32_t>(place.point);
}

/// A block per kBlock aux, and one before them for every kBlock inputs. Terms of consecutive aux are consecutive, so
/// the block's points go out as one run.
__global__ void __launch_bounds__(kBlock) CompactKernel(TermTables t, TermRange range, uint32_t input_blocks,
                                                        const uint4* points, uint32_t parts, uint4* out) {
  __shared__ uint32_t from[kBlock];
  __shared__ uint32_t warps[kBlock / 32];
  bool taken = false;
  uint64_t term = 0, point = 0;
  if (blockIdx.x < input_blocks) {
    term = point = blockIdx.x * static_cast<uint64_t>(kBlock) + threadIdx.x;
    taken = term < t.inputs;
  } else {
    const uint64_t aux = range.begin + (blockIdx.x - input_blocks) * static_cast<uint64_t>(kBlock) + threadIdx.x;
    if (aux < range.end) {
      const TermPlace place = PlaceOf(t, range, aux);
      taken = place.is_term;
      term = place.term;
      point = place.point;
    }
  }
  const uint32_t set = __ballot_sync(0xffffffffu, taken), lane = threadIdx.x % 32;
  if (lane == 0) warps[threadIdx.x / 32] = __popc(set);
  __syncthreads();
  uint32_t before = __popc(set & ((1u << lane) - 1)), all = 0;
  for (uint32_t w = 0; w < kBlock / 32; ++w) {
    if (w < threadIdx.x / 32) before += warps[w];
    all += warps[w];
  }
  __shared__ uint64_t first;
  if (taken) {
    from[before] = static_cast<uint32_t>(point);
    if (before == 0) first = term;
  }
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < all * parts; k += kBlock) {
    const uint32_t item = k / parts, part = k % parts;
    out[(first + item) * parts + part] = points[static_cast<uint64_t>(from[item]) * parts + part];
  }
}

/// A thread takes a word; a block reserves its stretch of the list by one addition.
__global__ void __launch_bounds__(kBlock)
    ListKernel(TermTables t, TermRange range, const uint64_t* bits, uint32_t* list, uint32_t* count) {
  __shared__ uint32_t reserved, offsets[kBlock / 32];
  const uint64_t w = range.begin / 64 + blockIdx.x * static_cast<uint64_t>(kBlock) + threadIdx.x;
  uint64_t set = 0, dense = ~uint64_t{0}, point = 0;
  if (64 * w < range.end) {
    if (t.members.words != nullptr) {
      dense = t.members.words[w];
      point = t.inputs + t.members.ranks[w];
    } else {
      point = 64 * w;
    }
    point -= range.first_point;
    set = bits[w] & dense;
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
    list[at++] = static_cast<uint32_t>(point + __popcll(dense & (low - 1)));
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

Status WidenRows(const RowPiece& piece, const RankedBits& wide_rows, algebra::Fr* out, StreamView stream) {
  if (piece.count == 0) return absl::OkStatus();
  if (piece.narrow == nullptr) {
    return CUZK_CUDA_STATUS(cudaMemcpyAsync(out + piece.first, piece.wide, piece.count * sizeof(algebra::Fr),
                                            cudaMemcpyDeviceToDevice, stream.get()));
  }
  WidenKernel<<<std::min<uint32_t>(Blocks(piece.count), 2048), kBlock, 0, stream.get()>>>(piece, wide_rows,
                                                                                          Device(out));
  CUZK_CUDA_LAUNCHED("WidenKernel");
  return absl::OkStatus();
}

Status NarrowAux(const PlainAux& piece, const RankedBits& boolean, uint64_t* bits, algebra::Fr* whole,
                 StreamView stream) {
  if (piece.count == 0) return absl::OkStatus();
  uint64_t whole_words = (piece.count + 63) / 64 * 64;
  NarrowKernel<<<Blocks(whole_words), kBlock, 0, stream.get()>>>(piece, boolean, reinterpret_cast<uint32_t*>(bits),
                                                                 Device(whole));
  CUZK_CUDA_LAUNCHED("NarrowKernel");
  return absl::OkStatus();
}

Status GatherTerms(const TermTables& tables, const TermRange& range, const algebra::Fr* inputs,
                   const algebra::Fr* whole, algebra::Fr* scalars, uint32_t* points, StreamView stream) {
  const uint64_t threads = std::max<uint64_t>(range.end - range.begin, range.begin == 0 ? tables.inputs : 0);
  if (threads == 0) return absl::OkStatus();
  GatherKernel<<<Blocks(threads), kBlock, 0, stream.get()>>>(tables, range, Device(inputs), Device(whole),
                                                             Device(scalars), points);
  CUZK_CUDA_LAUNCHED("GatherKernel");
  return absl::OkStatus();
}

Status CompactPoints(const TermTables& tables, const TermRange& range, const std::byte* points, uint32_t point_bytes,
                     std::byte* out, StreamView stream) {
  const uint32_t input_blocks = range.begin == 0 ? Blocks(tables.inputs) : 0;
  const uint32_t blocks = input_blocks + Blocks(range.end - range.begin);
  if (blocks == 0) return absl::OkStatus();
  CompactKernel<<<blocks, kBlock, 0, stream.get()>>>(tables, range, input_blocks,
                                                     reinterpret_cast<const uint4*>(points), point_bytes / 16,
                                                     reinterpret_cast<uint4*>(out));
  CUZK_CUDA_LAUNCHED("CompactKernel");
  return absl::OkStatus();
}

Status ListSetBits(const TermTables& tables, const TermRange& range, const uint64_t* bits, uint32_t* list,
                   uint32_t* count, StreamView stream) {
  const uint64_t words = (range.end + 63) / 64 - range.begin / 64;
  if (words == 0) return absl::OkStatus();
  ListKernel<<<Blocks(words), kBlock, 0, stream.get()>>>(tables, range, bits, list, count);
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
