#pragma once
// A partition's assignment and its row evaluations, in one lease.

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "core/base/hash.h"
#include "core/memory/pinned_pool.h"
#include "core/r1cs/layout.h"
#include "core/r1cs/shape.h"

namespace cuzk::r1cs {

/// Move-only; complete and immutable from the moment a writer returns it. Reading is thread-safe.
class Witness {
 public:
  /// `lease` holds at least LeaseLayout::For(*shape, layout).bytes, already written.
  Witness(std::shared_ptr<const Shape> shape, Layout layout, memory::Lease lease);

  const Shape& shape() const { return *shape_; }
  const std::shared_ptr<const Shape>& shared_shape() const { return shape_; }
  const LeaseLayout& layout() const { return layout_; }
  std::span<const std::byte> bytes() const { return lease_.bytes(); }

  /// The planes of layout.h, typed. In the plain layout the narrow ones are empty.
  std::span<const int8_t> NarrowRows(Matrix matrix) const;
  std::span<const Fr> WideRows(Matrix matrix) const;
  std::span<const uint64_t> NarrowAux() const;
  std::span<const Fr> WideAux() const;
  /// All inputs, ONE first.
  std::span<const Fr> inputs() const;

  /// Elements [begin, begin + out.size()) of a, b or c (input rows included), or of the aux assignment, whatever the
  /// layout.
  void ExpandRows(Matrix matrix, uint64_t begin, std::span<Fr> out) const;
  void ExpandAux(uint64_t begin, std::span<Fr> out) const;

  /// Gives the lease home, when the last copy has been made; afterwards only shape() and layout() may be used.
  void ReleaseLease() { lease_.Release(); }

 private:
  std::shared_ptr<const Shape> shape_;
  LeaseLayout layout_;
  memory::Lease lease_;
};

}  // namespace cuzk::r1cs
