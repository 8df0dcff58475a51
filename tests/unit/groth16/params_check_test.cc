// What `cuzkctl params check` finds, on the recorded WindowPoSt file of the reference library.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <set>

#include "core/algebra/curve/point_io.h"
#include "core/base/file.h"
#include "core/groth16/identity.h"
#include "tests/fixtures.h"
#include "tests/unit/groth16/setup.h"

namespace cuzk::groth16 {
namespace {

using testing::HasSubstr;
using testing_support::SectionOffset;

class ParamsCheckTest : public testing::Test {
 protected:
  static SectionCounts Counts() {
    SectionCounts counts;
    counts.ic = 23;
    counts.points = {32767, 22128, 16793, 16029, 16029};
    return counts;
  }
  void SetUp() override {
    auto fixtures = testing_support::Fixtures();
    if (!fixtures) GTEST_SKIP() << "no ground truth here";
    std::filesystem::copy_file(*fixtures / "params/window-2KiB.params", path_);
    std::filesystem::copy_file(*fixtures / "params/window-2KiB.json", dir_ / "window-2KiB.json");
    // Fixtures may be read-only.
    std::filesystem::permissions(path_, std::filesystem::perms::owner_write, std::filesystem::perm_options::add);
    size_ = std::filesystem::file_size(path_);
    ASSERT_EQ(size_, Counts().FileBytes());
  }
  StatusOr<Provenance> Check(bool with_circuit = true) {
    ParameterCheck check{.arithmetic = algebra::BestArithmetic()};
    if (with_circuit) check.counts = Counts();
    return CheckParameters(path_, check, pool_);
  }
  std::string Read(size_t at, size_t bytes) {
    std::string out(bytes, '\0');
    std::ifstream(path_, std::ios::binary).seekg(static_cast<std::streamoff>(at)).read(out.data(), bytes);
    return out;
  }
  void Write(size_t at, std::string_view bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::in | std::ios::out)
        .seekp(static_cast<std::streamoff>(at))
        .write(bytes.data(), bytes.size());
  }

  testing_support::ScratchDir dir_;
  const std::filesystem::path path_ = dir_ / "window-2KiB.params";
  ThreadPool pool_{2};
  size_t size_ = 0;
};

TEST_F(ParamsCheckTest, TheWholeFileIsRead) {
  auto provenance = Check();
  ASSERT_TRUE(provenance.ok()) << provenance.status();
  EXPECT_EQ(*provenance, Provenance::kDevelopment);
  auto file = ParameterFile::Open(path_).value();
  EXPECT_EQ(file->counts(), Counts());
  const std::string key = ReadFile(testing_support::Vectors() / "groth16/window-2KiB.vk").value();
  EXPECT_EQ(ToHex(file->verifying_key().ToBytes()), ToHex(AsBytes(key)));
  EXPECT_EQ(VerifyingKey::FromFile(path_)->ToBytes(), file->verifying_key().ToBytes());
}

TEST_F(ParamsCheckTest, ACutAnywhereIsFound) {
  // At the borders of the key's points, of counts and of sections, beside them, and anywhere.
  std::set<size_t> borders = {0, 96, 192, 384, 576, 672, VerifyingKey::kHeadBytes, VerifyingKey::kHeadBytes + 4};
  for (Query query : kAllQueries) borders.insert({SectionOffset(Counts(), query) - 4, SectionOffset(Counts(), query)});
  std::set<size_t> cuts = {size_ - 1, size_ - 96, size_ - 192};
  for (size_t border : borders) {
    cuts.insert({border, border + 1});
    if (border > 0) cuts.insert(border - 1);
  }
  std::mt19937_64 random(20261130);
  for (int i = 0; i < 200; ++i) cuts.insert(random() % size_);
  for (auto cut = cuts.rbegin(); cut != cuts.rend(); ++cut) {
    std::filesystem::resize_file(path_, *cut);
    for (bool with_circuit : {true, false}) {
      Status status = Check(with_circuit).status();
      ASSERT_TRUE(absl::IsInvalidArgument(status)) << "cut at " << *cut << ": " << status;
      ASSERT_THAT(std::string(status.message()), HasSubstr("window-2KiB.params: ")) << *cut;
    }
  }
}

TEST_F(ParamsCheckTest, BytesTooManyAreFound) {
  Write(size_, std::string(1, '\0'));
  EXPECT_THAT(std::string(Check().status().message()), HasSubstr("1 bytes follow after the last section"));
}

TEST_F(ParamsCheckTest, AChangedPointIsFound) {
  // Of the curve and of the subgroup, but another one: the digest tells.
  const size_t at = SectionOffset(Counts(), Query::kA) + 1234 * kG1Bytes;
  const auto generator = algebra::WriteG1Uncompressed(algebra::G1Generator());
  const std::string old = Read(at, kG1Bytes);
  Write(at, {reinterpret_cast<const char*>(generator.data()), generator.size()});
  EXPECT_THAT(std::string(Check().status().message()), HasSubstr("its development record says"));
  Write(at, old);
  // Of no curve: the point itself tells, in every section.
  for (Query query : kAllQueries) {
    const size_t last = SectionOffset(Counts(), query) + Counts()[query] * PointBytes(query) - 1;
    const std::string byte = Read(last, 1);
    Write(last, std::string(1, static_cast<char>(byte[0] ^ 1)));
    Status status = Check().status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(StrCat("section ", QueryName(query), ": point ", Counts()[query] - 1, ": ")));
    Write(last, byte);
  }
}

TEST_F(ParamsCheckTest, ASwappedSectionIsFound) {
  // As a whole, with its count: l is not as long as a.
  const size_t l = SectionOffset(Counts(), Query::kL) - 4, a = SectionOffset(Counts(), Query::kA) - 4;
  const size_t b = SectionOffset(Counts(), Query::kBG1) - 4;
  const std::string l_bytes = Read(l, a - l), a_bytes = Read(a, b - a);
  Write(l, a_bytes + l_bytes);
  EXPECT_THAT(std::string(Check().status().message()), HasSubstr("section l has 16793 points, expected 22128"));
  Write(l, l_bytes + a_bytes);
  // Only the points, as many as both have: every length and every point is right, the digest is not.
  const size_t points = SectionOffset(Counts(), Query::kBG1);
  const std::string some = Read(points, Counts()[Query::kBG1] * kG1Bytes);
  Write(points, a_bytes.substr(4, some.size()));
  Write(a + 4, some);
  EXPECT_THAT(std::string(Check().status().message()), HasSubstr("its development record says"));
}

TEST_F(ParamsCheckTest, TheKeyFileBesideItIsLookedAt) {
  const std::filesystem::path key = dir_ / "window-2KiB.vk";
  const std::string own = Read(0, VerifyingKey::kHeadBytes + 4 + Counts().ic * kG1Bytes);
  ASSERT_TRUE(WriteFile(key, AsBytes(own)).ok());
  EXPECT_TRUE(Check().ok()) << Check().status();
  const std::string other = ReadFile(testing_support::Vectors() / "groth16/winning-2KiB.vk").value();
  ASSERT_TRUE(WriteFile(key, AsBytes(other)).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(Check().status()));
  EXPECT_THAT(std::string(Check().status().message()),
              HasSubstr("window-2KiB.vk: is not the key of window-2KiB.params"));
  ASSERT_TRUE(WriteFile(key, AsBytes(own.substr(1))).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(Check().status())) << Check().status();
}

// A circuit's published key is known by its digest; any other key is for development.
TEST(KeyIdentity, OnlyThePublishedKeyIsPublished) {
  const VerifyingKey key = VerifyingKey::FromFile(testing_support::Vectors() / "groth16/winning-2KiB.vk").value();
  const std::string digest = PublishedDigest(key.ToBytes());
  EXPECT_EQ(IdentifyKey(key, digest), Provenance::kPublished);
  EXPECT_EQ(IdentifyKey(key, std::nullopt), Provenance::kDevelopment);
  EXPECT_EQ(IdentifyKey(key, std::string(32, '0')), Provenance::kDevelopment);
  EXPECT_EQ(IdentifyKey(key, ""), Provenance::kDevelopment);
  VerifyingKey other = key;
  std::swap(other.alpha_g1, other.beta_g1);
  EXPECT_EQ(IdentifyKey(other, digest), Provenance::kDevelopment);
}

// More than a key is in a `.params` alone.
TEST(KeyFiles, EndWithTheKey) {
  testing_support::ScratchDir dir;
  const std::string key = ReadFile(testing_support::Vectors() / "groth16/winning-2KiB.vk").value();
  ASSERT_TRUE(WriteFile(dir / "x.vk", AsBytes(key + "more")).ok());
  ASSERT_TRUE(WriteFile(dir / "x.params", AsBytes(key + "more")).ok());
  EXPECT_TRUE(VerifyingKey::FromFile(dir / "x.params").ok());
  EXPECT_THAT(std::string(VerifyingKey::FromFile(dir / "x.vk").status().message()),
              HasSubstr("x.vk: 4 bytes follow after the key"));
}

}  // namespace
}  // namespace cuzk::groth16
