#pragma once
// What a device keeps of a circuit's shape: which rows are wide, which variables each query has, and where the scalars
// of whole field elements come from.

#include <array>
#include <cstdint>
#include <vector>

#include "core/groth16/parameter_file.h"
#include "core/r1cs/shape.h"
#include "gpu/runtime/buffer.h"
#include "gpu/runtime/stream.h"

namespace cuzk::gpu {

/// The queries over variables; b_g1 and b_g2 share theirs.
enum class Terms { kL, kA, kB };
inline constexpr size_t kTerms = 3;

/// Whole elements of one query, in ascending order of points.
struct WideTerms {
  Buffer<uint32_t> source;       ///< input, or I + number of the wide aux
  Buffer<uint32_t> point;        ///< index within the section
  std::vector<uint32_t> points;  ///< the same on the host
};

class CircuitTables {
 public:
  /// Copies to the current card and waits.
  static StatusOr<CircuitTables> Make(const r1cs::Shape& shape, DeviceMemory& memory, StreamView stream);
  /// Device bytes that Make takes.
  static uint64_t Bytes(const r1cs::Shape& shape);

  const Buffer<uint32_t>& wide_rows(r1cs::Matrix m) const { return wide_rows_[static_cast<size_t>(m)]; }
  const WideTerms& wide(Terms t) const { return wide_[static_cast<size_t>(t)]; }
  /// Density over aux, and its ranks; null for kL.
  const uint64_t* members(Terms t) const { return members_[static_cast<size_t>(t)].data(); }
  const uint32_t* ranks(Terms t) const { return ranks_[static_cast<size_t>(t)].data(); }
  /// Points of the section that belong to inputs; they come first.
  uint64_t input_points(Terms t) const { return input_points_[static_cast<size_t>(t)]; }
  const uint64_t* boolean() const { return boolean_.data(); }
  const uint32_t* boolean_ranks() const { return boolean_ranks_.data(); }

 private:
  std::array<Buffer<uint32_t>, r1cs::kMatrixCount> wide_rows_;
  std::array<WideTerms, kTerms> wide_;
  std::array<Buffer<uint64_t>, kTerms> members_;
  std::array<Buffer<uint32_t>, kTerms> ranks_;
  std::array<uint64_t, kTerms> input_points_{};
  Buffer<uint64_t> boolean_;
  Buffer<uint32_t> boolean_ranks_;
};

}  // namespace cuzk::gpu
