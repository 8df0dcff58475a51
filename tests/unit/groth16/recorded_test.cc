// Keys and proofs of the reference library, byte for byte.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <map>
#include <string>
#include <vector>

#include "core/algebra/curve/point_io.h"
#include "core/base/file.h"
#include "core/groth16/generator.h"
#include "core/groth16/identity.h"
#include "core/groth16/verifier.h"
#include "tests/fixtures.h"

namespace cuzk::groth16 {
namespace {

using algebra::Fr;

std::filesystem::path Folder() { return testing_support::Vectors() / "groth16"; }

Fr Scalar(std::string_view hex) { return algebra::FrFromBytes(Bytes32FromHex(hex).value(), "scalar").value(); }
algebra::G1 PointG1(std::string_view hex) {
  return algebra::ToJacobian(algebra::ReadG1Compressed(FromHex(hex).value()).value());
}
algebra::G2 PointG2(std::string_view hex) {
  return algebra::ToJacobian(algebra::ReadG2Compressed(FromHex(hex).value()).value());
}

struct Recorded {
  std::string name, key;
  MsmResults sums;
  Blinding blinding;
  std::vector<Fr> public_inputs;
  std::string proof;
};

std::vector<Recorded> ReadRecorded() {
  std::vector<Recorded> out;
  simdjson::dom::parser parser;
  simdjson::dom::element all = parser.load((Folder() / "proofs.json").string());
  for (simdjson::dom::element item : all["proofs"].get_array()) {
    auto text = [&](const char* key) { return std::string_view(item[key]); };
    auto point = [&](const char* key) { return std::string_view(item["msm"][key]); };
    Recorded r;
    r.name = text("name");
    r.key = text("key");
    r.sums = {PointG1(point("h")), PointG1(point("l")), PointG1(point("a")), PointG1(point("b_g1")),
              PointG2(point("b_g2"))};
    r.blinding = {Scalar(text("r")), Scalar(text("s"))};
    for (std::string_view input : item["public_inputs"].get_array()) r.public_inputs.push_back(Scalar(input));
    r.proof = text("proof");
    out.push_back(std::move(r));
  }
  return out;
}

VerifyingKey Key(const std::string& name) { return VerifyingKey::FromFile(Folder() / (name + ".vk")).value(); }

TEST(RecordedProofs, AssembleToTheSameBytes) {
  const std::vector<Recorded> all = ReadRecorded();
  ASSERT_EQ(all.size(), 18u);
  for (const Recorded& r : all) {
    auto proof = Assemble(Key(r.key), r.sums, r.blinding);
    ASSERT_TRUE(proof.ok()) << r.name << ": " << proof.status();
    EXPECT_EQ(ToHex(proof->ToBytes()), r.proof) << r.name;
  }
}

TEST(RecordedProofs, VerifyAloneAndTogether) {
  ThreadPool pool(2);
  std::map<std::string, std::vector<Statement>> by_key;
  for (const Recorded& r : ReadRecorded()) {
    const std::vector<uint8_t> bytes = FromHex(r.proof).value();
    auto proof = Proof::FromBytes(std::span<const uint8_t, Proof::kBytes>(bytes.data(), Proof::kBytes));
    ASSERT_TRUE(proof.ok()) << r.name << ": " << proof.status();
    by_key[r.key].push_back({*proof, r.public_inputs});
  }
  EXPECT_EQ(by_key.size(), 6u);
  for (auto& [name, statements] : by_key) {
    const Verifier verifier(Key(name));
    EXPECT_TRUE(verifier.Verify(statements[0], pool).value()) << name;
    EXPECT_THAT(verifier.FindWrong(statements, pool).value(), testing::IsEmpty()) << name;
    statements.back().public_inputs.back() += Fr::One();
    EXPECT_FALSE(verifier.Verify(statements.back(), pool).value()) << name;
    EXPECT_THAT(verifier.FindWrong(statements, pool).value(), testing::ElementsAre(statements.size() - 1)) << name;
  }
}

TEST(RecordedKeys, ReadAndWriteTheSameBytes) {
  for (std::string name : {"porep-2KiB", "update-2KiB", "window-2KiB", "window-8MiB", "winning-2KiB", "winning-8MiB"}) {
    const std::string bytes = ReadFile(Folder() / (name + ".vk")).value();
    auto key = VerifyingKey::FromBytes(AsBytes(bytes));
    ASSERT_TRUE(key.ok()) << name << ": " << key.status();
    EXPECT_EQ(ToHex(key->ToBytes()), ToHex(AsBytes(bytes))) << name;
  }
}

TEST(RecordedKeys, FollowFromTheRecordedWaste) {
  const std::string json = ReadFile(Folder() / "porep-2KiB.json").value();
  const ToxicWaste waste = ToxicWaste::FromJson(json).value();
  const VerifyingKey key = Key("porep-2KiB");
  EXPECT_EQ(key.delta_g1, ToAffine(ScalarMul(algebra::G1Generator(), waste.delta)));
  EXPECT_EQ(key.gamma_g2, ToAffine(ScalarMul(algebra::G2Generator(), waste.gamma)));
  EXPECT_EQ(DevelopmentRecord::FromJson(json).value().sha256,
            "bfb0f562520313d0f38303d57916ed252bbfc13ad48b75827680952f979fe4de");
}

TEST(RecordedKeys, AnyCutAndAnyFlippedByteIsRefused) {
  std::string bytes = ReadFile(Folder() / "update-2KiB.vk").value();
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ASSERT_FALSE(VerifyingKey::FromBytes(AsBytes(bytes).first(cut)).ok()) << cut;
  }
  for (size_t at = 0; at < bytes.size(); at += 13) {
    bytes[at] ^= 0x10;
    ASSERT_FALSE(VerifyingKey::FromBytes(AsBytes(bytes)).ok()) << at;
    bytes[at] ^= 0x10;
  }
  bytes += '\0';
  EXPECT_FALSE(VerifyingKey::FromBytes(AsBytes(bytes)).ok());
}

TEST(ProofBytes, PointsOutsideAreRefusedByName) {
  const std::vector<uint8_t> good = FromHex(ReadRecorded()[0].proof).value();
  auto read = [](std::vector<uint8_t> bytes) {
    return Proof::FromBytes(std::span<const uint8_t, Proof::kBytes>(bytes.data(), Proof::kBytes)).status();
  };
  ASSERT_TRUE(read(good).ok());
  const std::pair<size_t, const char*> points[] = {{0, "A"}, {48, "B"}, {144, "C"}};
  for (auto [at, name] : points) {
    std::vector<uint8_t> bytes = good;
    const size_t size = at == 48 ? 96 : 48;
    std::fill_n(bytes.begin() + at, size, 0);
    bytes[at] = 0xc0;
    EXPECT_THAT(std::string(read(bytes).message()), testing::HasSubstr(StrCat("proof: ", name, ": point is infinity")));
    bytes = good;
    bytes[at] &= 0x7f;
    EXPECT_THAT(std::string(read(bytes).message()), testing::HasSubstr(StrCat("proof: ", name)));
    bytes = good;
    std::fill_n(bytes.begin() + at, 48, 0xff);
    EXPECT_FALSE(read(bytes).ok());
  }
}

}  // namespace
}  // namespace cuzk::groth16
