#pragma once
// The verifying key of one circuit, which is also the first part of a parameter file.
// Layout (all points uncompressed, big-endian; the count is a big-endian u32): alpha_g1, beta_g1, beta_g2, gamma_g2,
// delta_g1, delta_g2, n_ic, ic[n_ic]. A `.vk` file is exactly these bytes.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/algebra/curve/curve.h"
#include "core/base/bytes.h"
#include "core/base/input_file.h"
#include "core/base/status.h"

namespace cuzk::groth16 {

/// Bytes of an uncompressed point in files.
inline constexpr size_t kG1Bytes = 96;
inline constexpr size_t kG2Bytes = 192;

/// All points are finite, on the curve and in the subgroup of order r; `ic` holds ONE's point first. Immutable once
/// read; may be shared by threads.
struct VerifyingKey {
  /// Bytes before the list of ic.
  static constexpr size_t kHeadBytes = 3 * kG1Bytes + 3 * kG2Bytes;

  algebra::G1Affine alpha_g1, beta_g1;
  algebra::G2Affine beta_g2, gamma_g2;
  algebra::G1Affine delta_g1;
  algebra::G2Affine delta_g2;
  std::vector<algebra::G1Affine> ic;

  /// Number of public inputs a proof is verified with: ic without ONE.
  size_t public_inputs() const { return ic.size() - 1; }
  /// Bytes of the file form.
  uint64_t file_bytes() const { return kHeadBytes + 4 + kG1Bytes * uint64_t{ic.size()}; }
  std::vector<uint8_t> ToBytes() const;

  // The readers give InvalidArgument that names the first point or count that is wrong: not canonical, not on the
  // curve, not in the subgroup, infinity, or bytes missing. `expected_ic` is the number of points that ic must have; it
  // is compared before any of them is read. Without it memory grows with the points that were read and checked, never
  // with what the count claims.

  /// Reads a key from the front of `bytes` and removes it there.
  static StatusOr<VerifyingKey> Take(ByteSpan& bytes, std::optional<uint64_t> expected_ic = {});
  /// Reads a key that is the whole of `bytes`.
  static StatusOr<VerifyingKey> FromBytes(ByteSpan bytes);
  /// Reads a key from the front of a file; errors of the system besides.
  static StatusOr<VerifyingKey> ReadFrom(const InputFile& file, std::optional<uint64_t> expected_ic = {});
  /// Reads a `.vk` file, which ends with the key, or the head of a `.params` file.
  static StatusOr<VerifyingKey> FromFile(const std::filesystem::path& path);
};

}  // namespace cuzk::groth16
