#pragma once
// Points made on the device whose discrete logarithms the host knows: the answer of any sum over them is one
// multiplication of the generator.

#include "core/base/thread_pool.h"
#include "tests/device/on_device.h"

namespace cuzk::gpu::testing {

template <class F>
const algebra::AffinePoint<F>& Generator() {
  if constexpr (std::is_same_v<F, algebra::Fp>) {
    return algebra::G1Generator();
  } else {
    return algebra::G2Generator();
  }
}

/// points[i] = (1 + i * 0x9e3779b97f4a7c15 mod 2^64) G in device memory.
inline algebra::Fr KnownLogarithm(uint64_t i) { return algebra::Fr::FromU64(1 + i * 0x9e3779b97f4a7c15ull); }

template <class F>
Buffer<algebra::AffinePoint<F>> KnownPoints(size_t n, DeviceMemory& memory, const Stream& stream) {
  auto points = Must(Buffer<algebra::AffinePoint<F>>::Allocate(memory, n));
  auto table = Must(FixedBaseTable<F>::Make(Generator<F>(), memory, stream));
  constexpr size_t kPiece = 1 << 22;
  auto scalars = Must(Buffer<algebra::Fr>::Allocate(memory, std::min(n, kPiece)));
  std::vector<algebra::Fr> host;
  ThreadPool pool(0);
  for (size_t begin = 0; begin < n; begin += kPiece) {
    size_t count = std::min(kPiece, n - begin);
    host.resize(count);
    pool.ParallelFor(count, 1 << 14, [&](size_t from, size_t to) {
      for (size_t i = from; i < to; ++i) host[i] = KnownLogarithm(begin + i);
    });
    EXPECT_EQ(cudaMemcpy(scalars.data(), host.data(), count * sizeof(algebra::Fr), cudaMemcpyHostToDevice),
              cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_TRUE(table.Multiply(scalars.data(), count, points.data() + begin, stream).ok());
    EXPECT_TRUE(stream.view().Synchronize().ok());
  }
  return points;
}

/// A page-locked array.
template <class T>
class Pinned {
 public:
  explicit Pinned(size_t n) : size_(n) {
    EXPECT_EQ(cudaHostAlloc(&data_, n * sizeof(T), cudaHostAllocDefault), cudaSuccess);
  }
  ~Pinned() { static_cast<void>(cudaFreeHost(data_)); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  T* data() const { return static_cast<T*>(data_); }
  size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  size_t size_;
};

}  // namespace cuzk::gpu::testing
