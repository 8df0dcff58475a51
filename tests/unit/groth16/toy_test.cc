// ToyCircuit as the reference made it: the file and both proofs, byte for byte.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/algebra/msm/msm.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/groth16/verifier.h"
#include "tests/unit/groth16/setup.h"

namespace cuzk::groth16 {
namespace {

using algebra::Fr;
using algebra::G1Affine;
using algebra::G2Affine;

Fr FrFromHex(std::string_view big_endian) {
  auto bytes = FromHex(big_endian);
  std::reverse(bytes->begin(), bytes->end());
  return *Fr::FromBytesLe(std::span<const uint8_t, 32>(bytes->data(), 32));
}

/// The quotient's coefficients, as recorded.
std::vector<Fr> ToyQuotient() {
  return {FrFromHex("0cadfe4d188d39b3e59a53a0e10db3a09528bdf053ffd20fe3ffffffe3ffffd1"),
          FrFromHex("069495e61c690d46a38cc3e569ba4f8e1f1e50e1bc195d4101d714a08a539f5a"),
          FrFromHex("3245411775320b547dba543409e3c19e50dc5e10eca1b0c130b8e84722e3ca2e"),
          FrFromHex("23fc26f77a016825c3cfde9915c54049779e44336798f7771ff1364e7fc6beeb"),
          FrFromHex("0d34e3f366cbe2e208211453f2d6bcff7372735170fb6f032dc7b24af424147d"),
          FrFromHex("1da0f88016fa534599b2c5ea4379cdf201a47757a28373c9c272a80cca8705f6"),
          FrFromHex("5047d48fad2ecc05cf56035aa8de217bfb3bf44e6e13e9fa81ee884a81253ad6")};
}

std::vector<Fr> Scalars(std::initializer_list<uint64_t> values) {
  std::vector<Fr> out;
  for (uint64_t v : values) out.push_back(Fr::FromU64(v));
  return out;
}

class ToyTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = testing_support::Generate(*testing_support::ToyCircuit(), testing_support::SmallWaste(),
                                          dir_ / "toy.params", pool_);
    ASSERT_TRUE(made.ok()) << made.status();
    made_ = *made;
    auto file = ParameterFile::Open(made_.params);
    ASSERT_TRUE(file.ok()) << file.status();
    file_ = *file;
  }

  algebra::G1 SumG1(Query query, const std::vector<Fr>& scalars) {
    std::vector<G1Affine> points(file_->counts()[query]);
    EXPECT_TRUE(DecodeG1(*file_, {query}, points, pool_, {.policy = PointPolicy::kSubgroup}).ok());
    EXPECT_EQ(points.size(), scalars.size());
    return algebra::Msm(points, scalars, pool_);
  }
  MsmResults Sums() {
    // Witness x=7, y=9, z=63, t=90, d=90; a has ONE, z, d, x, t; b has ONE, y.
    MsmResults out;
    out.h = SumG1(Query::kH, ToyQuotient());
    out.l = SumG1(Query::kL, Scalars({7, 9, 90}));
    out.a = SumG1(Query::kA, Scalars({1, 63, 90, 7, 90}));
    out.b_g1 = SumG1(Query::kBG1, Scalars({1, 9}));
    std::vector<G2Affine> points(2);
    EXPECT_TRUE(DecodeG2(*file_, 0, points, pool_, {.policy = PointPolicy::kSubgroup}).ok());
    out.b_g2 = algebra::Msm(points, Scalars({1, 9}), pool_);
    return out;
  }

  testing_support::ScratchDir dir_;
  ThreadPool pool_{2};
  GeneratorOutput made_;
  std::shared_ptr<const ParameterFile> file_;
};

TEST_F(ToyTest, FileIsTheReferences) {
  EXPECT_EQ(made_.bytes, 3192u);
  EXPECT_EQ(made_.sha256, "7fe97a1ddc11894426928a52284f8cb9ad4c551c841d2484e5167e9bbcec1fb1");
  auto params = ReadFile(made_.params);
  auto key = ReadFile(made_.key);
  ASSERT_TRUE(params.ok() && key.ok());
  EXPECT_EQ(ToHex(Sha256(AsBytes(*params))), made_.sha256);
  EXPECT_EQ(*key, params->substr(0, 1156));
  EXPECT_EQ(file_->counts().FileBytes(), 3192u);
}

TEST_F(ToyTest, ProofWithoutBlindingIsTheReferences) {
  auto proof = Assemble(file_->verifying_key(), Sums(), {Fr::Zero(), Fr::Zero()});
  ASSERT_TRUE(proof.ok());
  EXPECT_EQ(ToHex(proof->ToBytes()),
            "b4826c141a6666b7d3d122c26eacbb0f4dca834c5b71e7270a2e018890c8a87d3de7bc380f2ee7e5b7024b040209e984"
            "a93c5e202b28e903b49def2872f4554b550439a83143313ce79a178b6f28cdebc8c2fa62e0770f412ebc48197884950c"
            "1271cc668f5db52b9e108336cc51f7c6613d315e9bc73195650ece4fb265298ed8777d0d08eae5fc78a06e3a7b54100e"
            "b0097d2db914c296c7283d936fea7a53f63f14c1e9f7074dcc14ec4ed94fe4c0fb7be548dbd7e7bd73c39b8643707fb9");
}

TEST_F(ToyTest, BlindedProofIsTheReferencesAndVerifies) {
  auto proof = Assemble(file_->verifying_key(), Sums(), {Fr::FromU64(7), Fr::FromU64(9)});
  ASSERT_TRUE(proof.ok());
  EXPECT_EQ(ToHex(proof->ToBytes()),
            "9391feec57f458e3df6bfeb872165b1f303eca70abe5a1583d9ec8edba8bd5cf6bd1e761342c184dcd5313c5bdac9840"
            "a854672ec8177069174689a95e8942d7eaf646cb11b780ba3f48d2c39f74a9e2be30cd9b524685e660021cb304cd9d58"
            "0944787180db87fda5492d79e81f4fcc543c34351d586b4c5d2e3893b75c786651d308bb91849149391a09cc613104e5"
            "944a217c8597b77214e9faec90515d041760196b3cd5eea567f4448660d7f93cb277af686655d4fcfd0ca3bfaabe2ffe");
  const Verifier verifier(file_->verifying_key());
  EXPECT_TRUE(verifier.Verify({*proof, Scalars({63, 90})}, pool_).value());
  EXPECT_FALSE(verifier.Verify({*proof, Scalars({90, 63})}, pool_).value());
  auto again = Proof::FromBytes(proof->ToBytes());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->ToBytes(), proof->ToBytes());
}

TEST_F(ToyTest, InfiniteDeltaIsRefused) {
  VerifyingKey key = file_->verifying_key();
  key.delta_g1 = G1Affine::Infinity();
  EXPECT_TRUE(absl::IsFailedPrecondition(Assemble(key, Sums(), Blinding::Random()).status()));
  key = file_->verifying_key();
  key.delta_g2 = G2Affine::Infinity();
  EXPECT_TRUE(absl::IsFailedPrecondition(Assemble(key, Sums(), Blinding::Random()).status()));
}

TEST_F(ToyTest, FreshBlindingGivesOtherProofsThatVerify) {
  auto first = Assemble(file_->verifying_key(), Sums(), Blinding::Random());
  auto second = Assemble(file_->verifying_key(), Sums(), Blinding::Random());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->ToBytes(), second->ToBytes());
  const std::vector<Statement> both = {{*first, Scalars({63, 90})}, {*second, Scalars({63, 90})}};
  EXPECT_THAT(Verifier(file_->verifying_key()).FindWrong(both, pool_).value(), testing::IsEmpty());
}

}  // namespace
}  // namespace cuzk::groth16
