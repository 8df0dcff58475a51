#include "core/groth16/proof.h"

#include <algorithm>

#include "core/algebra/curve/point_io.h"

namespace cuzk::groth16 {

using algebra::Fr;
using algebra::G1;
using algebra::G1Affine;
using algebra::G2;
using algebra::G2Affine;
using algebra::ScalarMul;

Blinding Blinding::Random() { return {algebra::RandomFr(), algebra::RandomFr()}; }

Proof::Bytes Proof::ToBytes() const {
  Bytes out;
  auto a_bytes = algebra::WriteG1Compressed(a);
  auto b_bytes = algebra::WriteG2Compressed(b);
  auto c_bytes = algebra::WriteG1Compressed(c);
  uint8_t* at = std::copy(a_bytes.begin(), a_bytes.end(), out.data());
  at = std::copy(b_bytes.begin(), b_bytes.end(), at);
  std::copy(c_bytes.begin(), c_bytes.end(), at);
  return out;
}

StatusOr<Proof> Proof::FromBytes(std::span<const uint8_t, kBytes> bytes) {
  auto finite = [](auto point, std::string_view name) {
    if (!point.ok()) return decltype(point)(Annotate(point.status(), StrCat("proof: ", name)));
    if (point->IsInfinity()) point = absl::InvalidArgumentError(StrCat("proof: ", name, ": point is infinity"));
    return point;
  };
  Proof out;
  CUZK_ASSIGN_OR_RETURN(out.a, finite(algebra::ReadG1Compressed(bytes.subspan(0, 48)), "A"));
  CUZK_ASSIGN_OR_RETURN(out.b, finite(algebra::ReadG2Compressed(bytes.subspan(48, 96)), "B"));
  CUZK_ASSIGN_OR_RETURN(out.c, finite(algebra::ReadG1Compressed(bytes.subspan(144, 48)), "C"));
  return out;
}

StatusOr<Proof> Assemble(const VerifyingKey& key, const MsmResults& sums, const Blinding& blinding) {
  if (key.delta_g1.IsInfinity() || key.delta_g2.IsInfinity()) {
    return absl::FailedPreconditionError("delta of the verifying key is infinity: it would cancel the blinding");
  }
  const auto& [r, s] = blinding;
  G1 a = sums.a + key.alpha_g1 + ScalarMul(key.delta_g1, r);
  G2 b = sums.b_g2 + key.beta_g2 + ScalarMul(key.delta_g2, s);
  G1 c = sums.h + sums.l + ScalarMul(sums.a, s) + ScalarMul(sums.b_g1, r) + ScalarMul(key.alpha_g1, s) +
         ScalarMul(key.beta_g1, r) + ScalarMul(key.delta_g1, r * s);
  Proof out{ToAffine(a), ToAffine(b), ToAffine(c)};
  if (out.a.IsInfinity() || out.b.IsInfinity() || out.c.IsInfinity()) {
    return absl::FailedPreconditionError("a point of the proof is infinity");
  }
  return out;
}

}  // namespace cuzk::groth16
