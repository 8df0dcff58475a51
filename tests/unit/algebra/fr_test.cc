#include "core/algebra/field/fr.h"

#include <gtest/gtest.h>

namespace cuzk::algebra {
namespace {

std::string Hex(const Fr& x) { return ToHex(x.ToBytesBe()); }

TEST(Fr, DerivedConstantsAreTheKnownOnes) {
  EXPECT_EQ(Fr::Constants::kNegInverse, 0xfffffffeffffffffu);
  EXPECT_EQ(Hex(FrRootOfUnity(32)), "16a2a19edfe81f20d09b681922c813b4b63683508c2280b93829971f439f0d2b");
  EXPECT_EQ(Hex(FrRootOfUnity(27)), "23397a9300f8f98bece8ea224f31d25db94f1101b1d7a628e2d0a7869f0319ed");
  EXPECT_EQ(Hex(Fr::FromU64(7).Inverse()), "211f5460e751918257c7624b7077624aaa362edc49241a48db6db6db24924925");
  EXPECT_EQ(Fr::FromU64(7).limb[0], 0x0000000efffffff1u);
  EXPECT_EQ(Fr::FromU64(7).limb[3], 0x351332208fc5a8c4u);
}

TEST(Fr, RootsHaveTheirOrder) {
  for (unsigned k : {0u, 1u, 5u, 32u}) {
    Fr x = FrRootOfUnity(k);
    for (unsigned i = 0; i < k; ++i) {
      EXPECT_FALSE(x.IsOne());
      x = x.Square();
    }
    EXPECT_TRUE(x.IsOne());
  }
}

TEST(Fr, DotProductsAreSumsOfProducts) {
  for (size_t n : {0u, 1u, 2u, 9u, 37u, 63u, 64u, 65u, 130u}) {
    for (uint64_t kind = 0; kind < 3; ++kind) {  // the largest factors, one and zero among them, any
      std::vector<Fr> a, b;
      Fr sum = Fr::Zero();
      for (size_t i = 0; i < n; ++i) {
        Fr largest = Fr::FromMontgomery((-Fr::FromMontgomery({1, 0, 0, 0})).limb);
        a.push_back(kind == 2 ? RandomFr() : largest);
        b.push_back(kind == 2 ? RandomFr() : kind == 1 && i % 3 < 2 ? Fr::FromU64(i % 3) : largest);
        sum += a[i] * b[i];
      }
      EXPECT_EQ(DotProduct(a, b), sum) << n << " products of kind " << kind;
    }
  }
}

TEST(Fr, BytesRefuseTheModulusAndAbove) {
  Bytes32 modulus = (-Fr::One()).ToBytesLe();  // r - 1
  EXPECT_TRUE(Fr::FromBytesLe(modulus).has_value());
  modulus[0] += 1;
  EXPECT_FALSE(Fr::FromBytesLe(modulus).has_value());
  auto error = FrFromBytes(modulus, "comm_d");
  EXPECT_EQ(error.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(error.status().message().find("comm_d"), std::string::npos);
}

}  // namespace
}  // namespace cuzk::algebra
