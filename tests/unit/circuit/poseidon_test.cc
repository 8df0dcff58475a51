// Poseidon's constants and digests against published values.
#include "core/circuit/poseidon/poseidon.h"

#include <gtest/gtest.h>

#include "core/base/hash.h"

namespace cuzk::circuit {
namespace {

std::string BigEndianHex(const Fr& x) { return ToHex(x.ToBytesBe()); }

std::string DigestOf(const std::vector<Fr>& elements) {
  Hasher hasher(HashKind::kSha256);
  for (const Fr& x : elements) hasher.Update(x.ToBytesBe());
  return ToHex(hasher.Finish32());
}

std::vector<Fr> Counting(uint32_t n) {
  std::vector<Fr> preimage;
  for (uint32_t i = 0; i < n; ++i) preimage.push_back(Fr::FromU64(i));
  return preimage;
}

struct HashCase {
  uint32_t arity;
  const char* digest;
};

class PoseidonHashOfCounting : public testing::TestWithParam<HashCase> {};

TEST_P(PoseidonHashOfCounting, EqualsPublishedDigest) {
  EXPECT_EQ(BigEndianHex(PoseidonHash(Counting(GetParam().arity))), GetParam().digest);
}

INSTANTIATE_TEST_SUITE_P(
    Arities, PoseidonHashOfCounting,
    testing::Values(HashCase{2, "396508d75e76a56b739e0fd902efe161a6fba9339d05a69d2e203c369a02e7ff"},
                    HashCase{4, "58a54b10a9e5848a00db3c6579229399fb6b4605bf1327ec019814ff6662075d"},
                    HashCase{8, "2394611da3a5de5512010042116770774b682e9d9cc4aed92a9934f56d38a5e6"},
                    HashCase{11, "0c0fc1b2e5227f286ca537e232ebe87a09f3dcd8ccb08fc1cee3bbc32b693163"},
                    HashCase{16, "2d3ae2663381ae8ac1c2fb5a6f871e635b8dbc6d30680a6f1291c74060266d37"},
                    HashCase{24, "63beb8831f11ae15066f39bf783f3d9fc3e779f6468815b1d7ef3569f585b321"},
                    HashCase{36, "699303082a6e5d5f540a30e03c10bbaa75cd368df8a8ac3c4473606dfa4e8140"}),
    [](const auto& info) { return "Arity" + std::to_string(info.param.arity); });

TEST(Poseidon, OrderOfPreimageMatters) {
  const std::array<Fr, 2> preimage = {Fr::One(), Fr::Zero()};
  EXPECT_EQ(BigEndianHex(PoseidonHash(preimage)), "042f94ffbe786bc393c003cc74a24f26ec5907b3dc3094afb339ff6079800b5e");
}

TEST(Poseidon, RandomnessTagGivesAnotherDigest) {
  EXPECT_EQ(BigEndianHex(PoseidonRandomness(Fr::Zero(), Fr::One())),
            "314a35c4e7f0924ead1fc58134a0fe25e3580bea397367c7e5a74ec4bc077758");
}

struct ConstantsCase {
  uint32_t arity;
  const char *rc, *keys, *mds, *pre_sparse, *sparse;
};

class PoseidonConstantsOf : public testing::TestWithParam<ConstantsCase> {};

TEST_P(PoseidonConstantsOf, EqualPublishedDigests) {
  const ConstantsCase& want = GetParam();
  const PoseidonConstants& c = PoseidonConstants::ForArity(want.arity);
  EXPECT_EQ(DigestOf(c.round_constants), want.rc);
  EXPECT_EQ(DigestOf(c.keys), want.keys);
  EXPECT_EQ(DigestOf(c.mds), want.mds);
  EXPECT_EQ(DigestOf(c.pre_sparse), want.pre_sparse);
  std::vector<Fr> sparse;
  for (size_t k = 0; k < c.partial_rounds; ++k) {
    sparse.insert(sparse.end(), &c.w_hat[k * c.width], &c.w_hat[k * c.width] + c.width);
    sparse.insert(sparse.end(), &c.v_rest[k * c.arity], &c.v_rest[k * c.arity] + c.arity);
  }
  EXPECT_EQ(DigestOf(sparse), want.sparse);
}

INSTANTIATE_TEST_SUITE_P(
    Arities, PoseidonConstantsOf,
    testing::Values(ConstantsCase{2, "0779cd8f8e0d48e5937593d75305b94cdd838329d1bcf3a5144de2c50266d34f",
                                  "642b02f144e164c0104bd7fb097471e2e0384efdc0843b7435b265c0984de5c6",
                                  "b1b606f5f5d684f95469cd0d81f74dd370cf217da5c8097560367105122f2807",
                                  "4f68a6ac7d7fde5243871030eb4ec7a7281bf10ceb289f619c9f104d235e0865",
                                  "3dd0fb337e40c8c682764f97aab670c0c6cbcfca73f418ed68e76b3720db816e"},
                    ConstantsCase{4, "e7977c72d08b6934841ec067ac6af315b9945758063a95eb3c6ea19a469a3514",
                                  "bc4b399a54a3406a26d4a052ef25db111cf6646b4693387d7c51a82b67edb887",
                                  "d3513fb16b7a96f11026d375defc29c7edb4f2be3966f37ce9e5c8b9757db380",
                                  "23b428b28121e1245a6276efb8a60c827a895d1dc5bd8946e5603d9cdee96bf6",
                                  "6c241076739b74d032b3f653bd3a7063c0e414bde05db0484586abfd3a9dcce4"},
                    ConstantsCase{8, "53d16e2f1c0141cbfd5d8bfa4cb69abcbbd056d13a523f929a93e981434ee9f7",
                                  "552492cc0303c34869ace5bdb2a67b30dcb5a974d53ac0db9c0cb73cc1917793",
                                  "483e53dc896deb1617857484f930b0616c0c16d3210d081131dd806aba18cc06",
                                  "7d236c69ffaa7c366d77c59a41fe35f7089462b4d4a1d2065c3dba8635fec3d3",
                                  "ea02c81e48ba7080a3a4fb883223931bea57d9312d69bf28757f7400ccc489bf"},
                    ConstantsCase{11, "fc4a4168ce7ec88b94267db09eb377bcc5b7a1f1f40ec3b856e9c2b531f5c829",
                                  "b40532751ee562784c5fa1a6063fe30bd07ad75c1e8c0a00536b94faf1d9cddf",
                                  "9ce07bdbc6f75f706c8178a23ca57e4a287f2a9f118cd549fcef0f1a6ec7b8fd",
                                  "eee57c67b155afb3f92d7f350def78eb7093fb4fe47978f31d0e1dc992f83aeb",
                                  "fb9560fd2bd7d34296b7a29051edc76bfc3e392a08509d5d606907f8b10f2107"}),
    [](const auto& info) { return "Arity" + std::to_string(info.param.arity); });

}  // namespace
}  // namespace cuzk::circuit
