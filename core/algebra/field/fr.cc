#include "core/algebra/field/fr.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/random.h"

namespace cuzk::algebra {

Fr FrRootOfUnity(unsigned log2_order) {
  CUZK_CHECK(log2_order <= kFrTwoAdicity);
  // (r - 1) >> 32
  constexpr uint64_t kOdd[4] = {0xfffe5bfeffffffff, 0x09a1d80553bda402, 0x299d7d483339d808, 0x0000000073eda753};
  Fr root = Fr::FromU64(kFrGenerator).Pow(kOdd);
  for (unsigned i = kFrTwoAdicity; i > log2_order; --i) root = root.Square();
  return root;
}

Fr DotProduct(std::span<const Fr> a, std::span<const Fr> b) {
  CUZK_CHECK(a.size() == b.size());
  Fr sum = Fr::Zero();
#ifdef CUZK_ADX
  constexpr size_t kMost = 64;
  for (size_t i = 0; i < a.size(); i += kMost) {
    Fr part;
    cuzk_fr_dot(part.limb, a[i].limb, b[i].limb, FrParams::kModulus, Fr::Constants::kNegInverse,
                std::min(kMost, a.size() - i));
    sum = i == 0 ? part : sum + part;
  }
#else
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
#endif
  return sum;
}

Fr RandomFr() {
  for (;;) {
    uint8_t bytes[32];
    FillRandom(bytes);
    bytes[31] &= 0x7f;
    if (auto x = Fr::FromBytesLe(std::span<const uint8_t, 32>(bytes))) return *x;
  }
}

StatusOr<Fr> FrFromBytes(const Bytes32& bytes, std::string_view what) {
  if (auto x = Fr::FromBytesLe(bytes)) return *x;
  return absl::InvalidArgumentError(StrCat(what, " is not a canonical field element"));
}

}  // namespace cuzk::algebra
