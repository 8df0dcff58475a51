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

/// Read access to a stretch of a witness in memory, in either layout. Does not own the memory.
class WitnessView {
 public:
  /// `memory` is laid out as LeaseLayout::ForRange(shape, layout, begin, end) says.
  WitnessView(const Shape& shape, Layout layout, const Position& begin, const Position& end, const std::byte* memory);

  const LeaseLayout& layout() const { return layout_; }
  /// Rows, aux and inputs of the stretch; the last stretch of a witness holds the input rows.
  const Position& begin() const { return begin_; }
  const Position& end() const { return end_; }

  /// The planes of layout.h, typed. In the plain layout the narrow ones are empty.
  std::span<const int8_t> NarrowRows(Matrix matrix) const;
  std::span<const Fr> WideRows(Matrix matrix) const;
  std::span<const uint64_t> NarrowAux() const;
  std::span<const Fr> WideAux() const;
  std::span<const Fr> inputs() const;

  /// Rows [first, first + out.size()) of a, b or c, or such aux, by their numbers in the whole witness.
  void ExpandRows(Matrix matrix, uint64_t first, std::span<Fr> out) const;
  void ExpandAux(uint64_t first, std::span<Fr> out) const;

 private:
  template <class T>
  std::span<const T> Typed(const Plane& plane) const {
    return {reinterpret_cast<const T*>(memory_ + plane.offset), plane.bytes / sizeof(T)};
  }
  const Shape* shape_;
  LeaseLayout layout_;
  Position begin_, end_;
  const std::byte* memory_;
};

/// Move-only; complete and immutable from the moment a writer returns it. Reading is thread-safe.
class Witness {
 public:
  /// `lease` holds at least LeaseLayout::For(*shape, layout).bytes, already written.
  Witness(std::shared_ptr<const Shape> shape, Layout layout, memory::Lease lease);

  const Shape& shape() const { return *shape_; }
  const std::shared_ptr<const Shape>& shared_shape() const { return shape_; }
  const LeaseLayout& layout() const { return view_.layout(); }
  std::span<const std::byte> bytes() const { return lease_.bytes(); }

  /// All of it: the planes of layout.h, typed, and elements by their numbers.
  const WitnessView& view() const { return view_; }
  std::span<const int8_t> NarrowRows(Matrix matrix) const { return view_.NarrowRows(matrix); }
  std::span<const Fr> WideRows(Matrix matrix) const { return view_.WideRows(matrix); }
  std::span<const uint64_t> NarrowAux() const { return view_.NarrowAux(); }
  std::span<const Fr> WideAux() const { return view_.WideAux(); }
  /// All inputs, ONE first.
  std::span<const Fr> inputs() const { return view_.inputs(); }
  /// Elements [begin, begin + out.size()) of a, b or c (input rows included), or of the aux assignment.
  void ExpandRows(Matrix matrix, uint64_t begin, std::span<Fr> out) const { view_.ExpandRows(matrix, begin, out); }
  void ExpandAux(uint64_t begin, std::span<Fr> out) const { view_.ExpandAux(begin, out); }

  /// Ends the lease, after the last copy; afterwards only shape() and layout() may be used.
  void ReleaseLease() { lease_.Release(); }
  /// Returns the lease, so that another witness can be written into it.
  memory::Lease TakeLease() && { return std::move(lease_); }

 private:
  std::shared_ptr<const Shape> shape_;
  memory::Lease lease_;
  WitnessView view_;
};

}  // namespace cuzk::r1cs
