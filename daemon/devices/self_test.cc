#include "daemon/devices/self_test.h"

#include <string>
#include <vector>

#include "core/algebra/curve/curve_points.h"
#include "core/algebra/msm/fixed_base.h"

namespace cuzk::daemon {
namespace {

using algebra::Fr;

/// What vanishes and what carries, every bit alone, and numbers that look random; the same at each start.
std::vector<Fr> Scalars() {
  constexpr int kBits = 255, kMixed = 64;
  std::vector<Fr> scalars = {Fr::Zero(), -Fr::One()};
  Fr power = Fr::One(), mixed = Fr::FromU64(3);
  for (int i = 0; i < kBits; ++i, power = power + power) scalars.push_back(power);
  for (int i = 0; i < kMixed; ++i, mixed = mixed * mixed + Fr::One()) scalars.push_back(mixed);
  return scalars;
}

template <class F>
Status Compare(groth16::BaseMultiplier& multiplier, std::string_view group, const algebra::AffinePoint<F>& generator,
               ThreadPool& pool) {
  const std::vector<Fr> scalars = Scalars();
  std::vector<algebra::AffinePoint<F>> right(scalars.size()), computed(scalars.size());
  algebra::FixedBase<F>(generator, scalars.size(), pool).Multiply(scalars, right, pool);
  CUZK_RETURN_IF_ERROR(multiplier.Multiply(scalars, computed));
  for (size_t i = 0; i < scalars.size(); ++i) {
    if (computed[i] == right[i]) continue;
    return absl::DataLossError(StrCat("a point of ", group, " is computed wrong (number ", i, " of the self-test)"));
  }
  return absl::OkStatus();
}

}  // namespace

Status TestMultiplier(groth16::BaseMultiplier& multiplier, ThreadPool& pool) {
  CUZK_RETURN_IF_ERROR(Compare(multiplier, "G1", algebra::G1Generator(), pool));
  return Compare(multiplier, "G2", algebra::G2Generator(), pool);
}

}  // namespace cuzk::daemon
