#pragma once
// Many multiples of one point, for the parameter generator: a table of multiples per window of the scalar, and
// additions in affine coordinates that share inversions.

#include <cstdint>
#include <span>
#include <vector>

#include "core/algebra/curve/curve.h"
#include "core/algebra/msm/msm_scalars.h"
#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/thread_pool.h"

namespace cuzk::algebra {

/// F is Fp or Fp2. Immutable once made; may be used by several threads at once.
template <class F>
class FixedBase {
 public:
  /// Makes the table for about `multiples` uses (the window is chosen so that table and uses together are cheapest; at
  /// most 8 MB for G1 and 16 MB for G2). `arithmetic` must be supported; it is that of Multiply too.
  FixedBase(const AffinePoint<F>& base, uint64_t multiples, ThreadPool& pool,
            Arithmetic arithmetic = Arithmetic::kScalar);

  /// out[i] = scalars[i] times the base; spans equally long. Zero gives infinity.
  void Multiply(std::span<const Fr> scalars, std::span<AffinePoint<F>> out, ThreadPool& pool) const;

 private:
  void MakeTable(const AffinePoint<F>& base, ThreadPool& pool);
  void MultiplyPiece(std::span<const Fr> scalars, std::span<AffinePoint<F>> out) const;
  /// digit times 2^(window bits) base, for a positive digit.
  const AffinePoint<F>& Entry(size_t window, uint32_t digit) const {
    return table_[window * shape_.Buckets() + digit - 1];
  }

  Arithmetic arithmetic_;
  WindowShape shape_;
  std::vector<AffinePoint<F>> table_;
};

extern template class FixedBase<Fp>;
extern template class FixedBase<Fp2>;

}  // namespace cuzk::algebra
