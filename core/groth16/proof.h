#pragma once
// From the five sums to the 192 bytes of a proof.

#include <array>
#include <cstdint>

#include "core/algebra/curve/curve.h"
#include "core/algebra/field/fr.h"
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/groth16/verifying_key.h"

namespace cuzk::groth16 {

/// The sums of the five multi-exponentiations over the queries, without any element of the key and before blinding.
/// What a device returns for one partition.
struct MsmResults {
  algebra::G1 h, l, a, b_g1;
  algebra::G2 b_g2;
};

/// The two scalars that hide the witness. They are fresh for every proof; only tests choose them.
struct Blinding {
  algebra::Fr r, s;
  /// From the operating system's generator.
  static Blinding Random();
};

/// One Groth16 proof: finite points.
struct Proof {
  static constexpr size_t kBytes = 192;
  using Bytes = std::array<uint8_t, kBytes>;

  algebra::G1Affine a;
  algebra::G2Affine b;
  algebra::G1Affine c;

  /// A (48 bytes), B (96), C (48), compressed.
  Bytes ToBytes() const;
  /// InvalidArgument names the point that is not canonical, not on the curve, not in the subgroup, or infinity.
  static StatusOr<Proof> FromBytes(std::span<const uint8_t, kBytes> bytes);
};

/// A = alpha + a + r delta;  B = beta + b2 + s delta;  C = h + l + s a + r b1 + s alpha + r beta + r s delta
/// where alpha, beta and delta are the key's points. FailedPrecondition if delta is infinity (an adversarial key would
/// cancel the blinding) or a point of the proof would be.
StatusOr<Proof> Assemble(const VerifyingKey& key, const MsmResults& results, const Blinding& blinding);

}  // namespace cuzk::groth16
