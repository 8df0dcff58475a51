#include "gpu/ntt/transform.h"

#include <algorithm>
#include <vector>

#include "gpu/ntt/passes.cuh"
#include "gpu/ntt/roots.h"

namespace cuzk::gpu {
namespace {

using algebra::Fr;
using ntt::PassParams;

constexpr int kSmallLog2 = 11;

/// The whole transform in one block for at most 2^11 elements: radix 2 in shared memory. 64 KB.
__global__ void __launch_bounds__(1024) SmallTransform(PassParams p, bool from_reversed) {
  extern __shared__ uint4 shared[];
  FrD* x = reinterpret_cast<FrD*>(shared);
  uint32_t n = 1u << p.log2_size;
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) Store(x + i, Load(p.values + i));
  for (int level = 0; level < p.log2_size; ++level) {
    __syncthreads();
    int half_log2 = from_reversed ? level : p.log2_size - 1 - level;
    for (uint32_t i = threadIdx.x; i < n / 2; i += blockDim.x) {
      uint32_t low = i & ((1u << half_log2) - 1);
      uint32_t at = ((i >> half_log2) << (half_log2 + 1)) + low;
      uint32_t exponent = low << (p.log2_size - 1 - half_log2);
      FrD a = Load(x + at), b = Load(x + at + (1u << half_log2));
      if (from_reversed) b = ntt::TimesRoot(p, b, exponent);
      ntt::Butterfly(a, b);
      if (!from_reversed) b = ntt::TimesRoot(p, b, exponent);
      Store(x + at, a);
      Store(x + at + (1u << half_log2), b);
    }
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) Store(p.values + i, ntt::Finish(p, Load(x + i), i));
}

/// out[i] = base^(i << shift_log2), given squares[k] = base^(2^k).
__global__ void Powers(FrFactor* out, uint32_t count, int shift_log2, const FrD* squares) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  FrD r = FrD::One();
  for (int k = 0; i >> k != 0; ++k) {
    if (i >> k & 1) r = r * Load(squares + k + shift_log2);
  }
  FrFactor factor = MakeFactor(r);
  Store(&out[i].value, factor.value);
  Store(&out[i].quotient, factor.quotient);
}

__global__ void ReverseKernel(const FrD* in, FrD* out, int log2_size) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 1u << log2_size) return;
  Store(out + i, Load(in + ntt::Reverse(i, log2_size)));
}

__global__ void ShiftKernel(PassParams p, bool reversed) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 1u << p.log2_size) return;
  uint32_t j = reversed ? ntt::Reverse(i, p.log2_size) : i;
  Store(p.values + i, ntt::TimesShift(p, Load(p.values + i), j).Reduced());
}

constexpr int kSquares = 32;
constexpr size_t kFactorElements = sizeof(FrFactor) / sizeof(Fr);

/// Fills `out`, two elements a factor, with powers of `base`.
Status FillPowers(Fr base, std::span<Fr> out, int shift_log2, FrD* squares, StreamView stream) {
  std::vector<Fr> host = ntt::RepeatedSquares(base, kSquares);
  CUZK_CUDA(cudaMemcpyAsync(squares, host.data(), kSquares * sizeof(Fr), cudaMemcpyHostToDevice, stream.get()));
  uint32_t count = static_cast<uint32_t>(out.size() / kFactorElements);
  Powers<<<(count + 255) / 256, 256, 0, stream.get()>>>(reinterpret_cast<FrFactor*>(out.data()), count, shift_log2,
                                                        squares);
  CUZK_CUDA_LAUNCHED("Powers");
  return stream.Synchronize();
}

/// The levels of each pass, outermost first, as even as possible.
std::vector<int> CutLevels(int log2_size) {
  int passes = (log2_size + 8) / 9;
  std::vector<int> r;
  for (int i = 0; i < passes; ++i) r.push_back(log2_size / passes + (i < log2_size % passes ? 1 : 0));
  return r;
}

int CoarseLog2(unsigned log2_size) { return std::min<int>(static_cast<int>(log2_size), ntt::kCoarseLog2); }
uint32_t ShiftCount(unsigned log2_size) {
  return (1u << ntt::kShiftLog2) + (1u << std::max<int>(0, static_cast<int>(log2_size) - ntt::kShiftLog2));
}

}  // namespace

uint64_t DomainTables::Bytes(unsigned log2_size) {
  uint64_t factors = (uint64_t{1} << CoarseLog2(log2_size)) + (uint64_t{1} << (log2_size - CoarseLog2(log2_size))) +
                     512 + 2 * uint64_t{ShiftCount(log2_size)};
  return factors * sizeof(FrFactor) + kSquares * sizeof(Fr);
}

StatusOr<DomainTables> DomainTables::Make(unsigned log2_size, DeviceMemory& memory, StreamView stream) {
  if (log2_size > kMaxLog2Domain) {
    return absl::InvalidArgumentError(
        StrCat("a domain of 2^", log2_size, " is more than the 2^", kMaxLog2Domain, " that the GPU's transforms do"));
  }
  DomainTables t;
  t.log2_size_ = log2_size;
  int coarse = CoarseLog2(log2_size), fine = static_cast<int>(log2_size) - coarse;
  CUZK_ASSIGN_OR_RETURN(auto squares, Buffer<FrD>::Allocate(memory, kSquares));
  CUZK_ASSIGN_OR_RETURN(t.coarse_, Buffer<Fr>::Allocate(memory, kFactorElements << coarse));
  CUZK_ASSIGN_OR_RETURN(t.fine_, Buffer<Fr>::Allocate(memory, kFactorElements << fine));
  CUZK_ASSIGN_OR_RETURN(t.radix_, Buffer<Fr>::Allocate(memory, kFactorElements * 512));
  Fr root = algebra::FrRootOfUnity(log2_size);
  CUZK_RETURN_IF_ERROR(FillPowers(root, t.coarse_.span(), fine, squares.data(), stream));
  CUZK_RETURN_IF_ERROR(FillPowers(root, t.fine_.span(), 0, squares.data(), stream));
  CUZK_RETURN_IF_ERROR(FillPowers(algebra::FrRootOfUnity(9), t.radix_.span(), 0, squares.data(), stream));
  for (int i = 0; i < 2; ++i) {
    Fr base = ntt::CosetShift(i == 1);
    CUZK_ASSIGN_OR_RETURN(t.shift_[i], Buffer<Fr>::Allocate(memory, kFactorElements * ShiftCount(log2_size)));
    constexpr size_t kLow = kFactorElements << ntt::kShiftLog2;
    auto low = t.shift_[i].span().first(kLow), high = t.shift_[i].span().subspan(kLow);
    CUZK_RETURN_IF_ERROR(FillPowers(base, low, 0, squares.data(), stream));
    CUZK_RETURN_IF_ERROR(FillPowers(base, high, ntt::kShiftLog2, squares.data(), stream));
  }
  return t;
}

Status DomainTables::Run(Fr* values, bool from_reversed, bool inverse, const Epilogue& end, StreamView stream) const {
  auto device = [](const Fr* p) { return reinterpret_cast<const FrD*>(p); };
  auto factors = [](const Buffer<Fr>& b) { return reinterpret_cast<const FrFactor*>(b.data()); };
  PassParams p{};
  p.values = reinterpret_cast<FrD*>(values);
  p.coarse = factors(coarse_);
  p.fine = factors(fine_);
  p.radix = factors(radix_);
  if (end.shift_powers != 0) p.shift = factors(shift_[end.shift_powers > 0 ? 0 : 1]);
  p.multiply = device(end.multiply);
  p.subtract = device(end.subtract);
  p.scale = MakeFactor(FrD(end.scale));
  p.scaled = end.scaled;
  p.log2_size = static_cast<int>(log2_size_);
  p.inverse = inverse;
  if (p.log2_size <= kSmallLog2) {
    uint32_t threads = std::clamp<uint32_t>(1u << log2_size_ >> 1, 32, 1024);
    int bytes = (1 << kSmallLog2) * static_cast<int>(sizeof(Fr));
    CUZK_CUDA(cudaFuncSetAttribute(SmallTransform, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    SmallTransform<<<1, threads, bytes, stream.get()>>>(p, from_reversed);
    CUZK_CUDA_LAUNCHED("SmallTransform");
    return absl::OkStatus();
  }
  std::vector<int> levels = CutLevels(p.log2_size);
  std::vector<int> sub(levels.size());
  int s = p.log2_size;
  for (size_t i = 0; i < levels.size(); ++i) {
    sub[i] = s;
    s -= levels[i];
  }
  for (size_t step = 0; step < levels.size(); ++step) {
    size_t i = from_reversed ? levels.size() - 1 - step : step;
    p.sub_log2 = sub[i];
    p.last = step + 1 == levels.size();
    p.radix_log2 = levels[i];
    auto kernel = from_reversed ? ntt::Pass<true> : ntt::Pass<false>;
    CUZK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, ntt::kSharedBytes));
    kernel<<<1u << (p.log2_size - ntt::kTileLog2), ntt::kThreads, ntt::kSharedBytes, stream.get()>>>(p);
    CUZK_CUDA_LAUNCHED("transform pass");
  }
  return absl::OkStatus();
}

Status DomainTables::ToReversed(Fr* values, bool inverse, const Epilogue& end, StreamView stream) const {
  return Run(values, false, inverse, end, stream);
}

Status DomainTables::FromReversed(Fr* values, bool inverse, const Epilogue& end, StreamView stream) const {
  if (end.shift_powers != 0) return absl::InvalidArgumentError("only coefficients are shifted");
  return Run(values, true, inverse, end, stream);
}

Status DomainTables::Shift(Fr* values, bool reversed, bool inverse, StreamView stream) const {
  PassParams p{};
  p.values = reinterpret_cast<FrD*>(values);
  p.shift = reinterpret_cast<const FrFactor*>(shift_[inverse ? 1 : 0].data());
  p.log2_size = static_cast<int>(log2_size_);
  ShiftKernel<<<static_cast<uint32_t>((size() + 255) / 256), 256, 0, stream.get()>>>(p, reversed);
  CUZK_CUDA_LAUNCHED("ShiftKernel");
  return absl::OkStatus();
}

Status ReverseOrder(const Fr* in, Fr* out, unsigned log2_size, StreamView stream) {
  uint32_t blocks = static_cast<uint32_t>(((size_t{1} << log2_size) + 255) / 256);
  ReverseKernel<<<blocks, 256, 0, stream.get()>>>(reinterpret_cast<const FrD*>(in), reinterpret_cast<FrD*>(out),
                                                  static_cast<int>(log2_size));
  CUZK_CUDA_LAUNCHED("ReverseOrder");
  return absl::OkStatus();
}

}  // namespace cuzk::gpu
