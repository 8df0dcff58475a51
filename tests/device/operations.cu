#include "tests/device/operations.h"

#include "gpu/field/factor.cuh"
#include "gpu/field/inverse.cuh"
#include "gpu/msm/lazy.cuh"
#include "gpu/msm/sums.cuh"
#include "gpu/runtime/buffer.h"
#include "gpu/runtime/stream.h"

namespace cuzk::gpu::testing {
namespace {

template <class F>
struct DeviceOf;
template <>
struct DeviceOf<algebra::Fr> {
  using Type = FrD;
};
template <>
struct DeviceOf<algebra::Fp> {
  using Type = FpD;
};
template <>
struct DeviceOf<algebra::Fp2> {
  using Type = Fp2D;
};

template <class D>
__global__ void FieldKernel(FieldOp op, const D* a, const D* b, D* out, size_t n) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  D x = Load(a + i), y = Load(b + i), r = D::Zero();
  switch (op) {
    case FieldOp::kAdd:
      r = x + y;
      break;
    case FieldOp::kSub:
      r = x - y;
      break;
    case FieldOp::kMul:
      r = x * y;
      break;
    case FieldOp::kSquare:
      r = x.Square();
      break;
    case FieldOp::kNegate:
      r = -x;
      break;
    case FieldOp::kDouble:
      r = x.Double();
      break;
    case FieldOp::kInverse:
      if constexpr (sizeof(D) != 32) r = x.Inverse();
      break;
    case FieldOp::kKnownFactor:
      if constexpr (std::is_same_v<D, FrD>) {
        FrFactor factor = MakeFactor(y);
        r = TimesFactor(TimesFactor(x, factor), factor).Reduced();
      }
      break;
    case FieldOp::kOwnSquare:
      if constexpr (!std::is_same_v<D, FrD>) {
        using Steps = AdditionSteps<D>;
        r = Steps::Reduced(Steps::Square(Steps::Product(x, y)));
      }
      break;
  }
  Store(out + i, r);
}

template <class D>
__global__ void PointKernel(PointOp op, const Affine<D>* a, const Affine<D>* b, Affine<D>* out, size_t n) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Affine<D> p = Load(a + i), q = Load(b + i);
  Xyzz<D> sum = Xyzz<D>::Infinity();
  sum = AddMixedCalled<D>(sum, p);
  if (op == PointOp::kAddMixed) {
    sum = AddMixedCalled<D>(sum, q);
  } else {
    Xyzz<D> other = AddMixedCalled<D>(Xyzz<D>::Infinity(), q);
    sum = AddMixedCalled<D>(AddMixedCalled<D>(sum, q), -q);
    other = AddMixedCalled<D>(AddMixedCalled<D>(other, p), -p);
    sum = AddCalled<D>(sum, other);
  }
  Store(out + i, sum.IsInfinity() ? Affine<D>::Infinity() : ToAffineCalled<D>(sum));
}

template <class D>
__global__ void RateKernel(D* values, int repeats) {
  D x = Load(values + threadIdx.x), y = Load(values + threadIdx.x + 256);
#pragma unroll 1
  for (int i = 0; i < repeats; ++i) x = x * y;
  if (x.IsZero()) Store(values + threadIdx.x, x);
}

template <class T>
StatusOr<Buffer<T>> ToDevice(DeviceMemory& memory, const std::vector<T>& values) {
  CUZK_ASSIGN_OR_RETURN(auto buffer, Buffer<T>::Allocate(memory, values.size()));
  CUZK_CUDA(cudaMemcpy(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice));
  return buffer;
}

template <class T, class Launch>
StatusOr<std::vector<T>> OnDevice(const std::vector<T>& a, const std::vector<T>& b, Launch launch) {
  DeviceMemory memory;
  CUZK_ASSIGN_OR_RETURN(auto x, ToDevice(memory, a));
  CUZK_ASSIGN_OR_RETURN(auto y, ToDevice(memory, b));
  CUZK_ASSIGN_OR_RETURN(auto r, Buffer<T>::Allocate(memory, a.size()));
  launch(x.data(), y.data(), r.data());
  CUZK_CUDA_LAUNCHED("operation");
  std::vector<T> out(a.size());
  CUZK_CUDA(cudaMemcpy(out.data(), r.data(), r.bytes(), cudaMemcpyDeviceToHost));
  return out;
}

}  // namespace

template <class F>
StatusOr<std::vector<F>> Apply(FieldOp op, const std::vector<F>& a, const std::vector<F>& b) {
  using D = typename DeviceOf<F>::Type;
  uint32_t blocks = static_cast<uint32_t>((a.size() + 127) / 128);
  return OnDevice(a, b, [&](const F* x, const F* y, F* r) {
    FieldKernel<D><<<blocks, 128>>>(op, reinterpret_cast<const D*>(x), reinterpret_cast<const D*>(y),
                                    reinterpret_cast<D*>(r), a.size());
  });
}

template <class F>
StatusOr<std::vector<algebra::AffinePoint<F>>> Apply(PointOp op, const std::vector<algebra::AffinePoint<F>>& a,
                                                     const std::vector<algebra::AffinePoint<F>>& b) {
  using D = typename DeviceOf<F>::Type;
  using P = algebra::AffinePoint<F>;
  uint32_t blocks = static_cast<uint32_t>((a.size() + 127) / 128);
  return OnDevice(a, b, [&](const P* x, const P* y, P* r) {
    PointKernel<D><<<blocks, 128>>>(op, reinterpret_cast<const Affine<D>*>(x), reinterpret_cast<const Affine<D>*>(y),
                                    reinterpret_cast<Affine<D>*>(r), a.size());
  });
}

template <class F>
StatusOr<double> ProductsPerSecond(int repeats) {
  using D = typename DeviceOf<F>::Type;
  DeviceMemory memory;
  std::vector<F> values(512);
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < sizeof(F); ++j)
      reinterpret_cast<uint8_t*>(&values[i])[j] = static_cast<uint8_t>(17 * i + 31 * j + 3) & 15;
  }
  CUZK_ASSIGN_OR_RETURN(auto buffer, ToDevice(memory, values));
  CUZK_ASSIGN_OR_RETURN(Stream stream, Stream::Create());
  CUZK_ASSIGN_OR_RETURN(Event begin, Event::Create());
  CUZK_ASSIGN_OR_RETURN(Event end, Event::Create());
  constexpr int kBlocks = 132 * 8;
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    CUZK_RETURN_IF_ERROR(begin.Record(stream));
    RateKernel<D><<<kBlocks, 256, 0, stream.get()>>>(reinterpret_cast<D*>(buffer.data()), repeats);
    CUZK_CUDA_LAUNCHED("RateKernel");
    CUZK_RETURN_IF_ERROR(end.Record(stream));
    CUZK_RETURN_IF_ERROR(end.Synchronize());
    CUZK_ASSIGN_OR_RETURN(float ms, end.MillisecondsSince(begin));
    best = std::max(best, 1e3 * kBlocks * 256.0 * repeats / ms);
  }
  return best;
}

#define CUZK_INSTANTIATE(F)                                                                       \
  template StatusOr<std::vector<F>> Apply(FieldOp, const std::vector<F>&, const std::vector<F>&); \
  template StatusOr<double> ProductsPerSecond<F>(int);
CUZK_INSTANTIATE(algebra::Fr)
CUZK_INSTANTIATE(algebra::Fp)
CUZK_INSTANTIATE(algebra::Fp2)
template StatusOr<std::vector<algebra::G1Affine>> Apply(PointOp, const std::vector<algebra::G1Affine>&,
                                                        const std::vector<algebra::G1Affine>&);
template StatusOr<std::vector<algebra::G2Affine>> Apply(PointOp, const std::vector<algebra::G2Affine>&,
                                                        const std::vector<algebra::G2Affine>&);

}  // namespace cuzk::gpu::testing
