#pragma once
// Many multiples of one point on the device, for development parameters and for the points of tests and benches.

#include <memory>

#include "core/algebra/curve/curve.h"
#include "gpu/runtime/buffer.h"
#include "gpu/runtime/stream.h"

namespace cuzk::gpu {

/// The table of one point: d 2^(8w) P for 32 windows and digits 1..255. F is Fp or Fp2. Immutable once made.
template <class F>
class FixedBaseTable {
 public:
  static constexpr size_t kWindows = 32, kDigits = 255;
  /// Computes on the host (about 10 ms) and copies; waits for the copy.
  static StatusOr<FixedBaseTable> Make(const algebra::AffinePoint<F>& base, DeviceMemory& memory, StreamView stream);

  /// out[i] = scalars[i] P, scalars in Montgomery form. Zero gives infinity. Enqueues.
  Status Multiply(const algebra::Fr* scalars, size_t n, algebra::AffinePoint<F>* out, StreamView stream) const;

 private:
  Buffer<algebra::AffinePoint<F>> table_;
};

/// *first becomes the least of its value and first_index + the index of a point that is infinity. Enqueues.
template <class F>
Status FindInfinity(const algebra::AffinePoint<F>* points, size_t n, uint64_t first_index, unsigned long long* first,
                    StreamView stream);

namespace detail {
template <class F>
Status EnqueueFixedBase(const algebra::AffinePoint<F>* table, const algebra::Fr* scalars, size_t n,
                        algebra::AffinePoint<F>* out, StreamView stream);
}  // namespace detail

}  // namespace cuzk::gpu
