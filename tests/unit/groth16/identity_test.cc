#include "core/groth16/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/file.h"
#include "core/base/hash.h"
#include "tests/unit/groth16/scratch_dir.h"

namespace cuzk::groth16 {
namespace {

using testing::HasSubstr;

class IdentityTest : public testing::Test {
 protected:
  StatusOr<Provenance> Ask(const std::optional<std::string>& published) {
    CUZK_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path_));
    return Identify(file, published, {});
  }
  void WriteRecord(const std::string& name, const std::string& json) {
    ASSERT_TRUE(WriteFile(dir_ / name, AsBytes(json)).ok());
  }
  void SetUp() override { ASSERT_TRUE(WriteFile(path_, AsBytes(content_)).ok()); }
  std::string ContentSha256() const { return ToHex(Sha256(AsBytes(content_))); }
  testing_support::ScratchDir dir_;
  const std::filesystem::path path_ = dir_ / "v28-x.params";
  const std::string content_ = "not points, but Identify does not look at them";
  const std::string published_ = PublishedDigest(AsBytes(content_));
};

TEST_F(IdentityTest, DigestIsTheFirstHalfOfBlake2b512) {
  EXPECT_EQ(PublishedDigest({}), "786a02f742015903c6c6fd852552d272");
  EXPECT_EQ(published_.size(), 32u);
}

TEST_F(IdentityTest, ProgressCoversAllBytes) {
  const std::string large((size_t{40} << 20) + 5, 'x');
  ASSERT_TRUE(WriteFile(dir_ / "large", AsBytes(large)).ok());
  uint64_t last = 0, calls = 0;
  const InputFile file = InputFile::Open(dir_ / "large").value();
  const std::string hashed = Sha256Digest(file, [&](uint64_t done, uint64_t total) {
                               EXPECT_EQ(total, large.size());
                               last = done, ++calls;
                             }).value();
  EXPECT_EQ(last, large.size());
  EXPECT_EQ(calls, 3u);
  EXPECT_EQ(hashed, ToHex(Sha256(AsBytes(large))));
}

TEST_F(IdentityTest, StopsBetweenTwoPieces) {
  std::ofstream(dir_ / "large.params").close();
  std::filesystem::resize_file(dir_ / "large.params", uint64_t{1} << 30);  // a hole: it would take seconds to hash
  const InputFile file = InputFile::Open(dir_ / "large.params").value();
  for (const std::string& record : {std::string(), DevelopmentRecord{std::string(64, '0')}.ToJson()}) {
    if (!record.empty()) WriteRecord("large.development.json", record);
    std::stop_source stop;
    uint64_t calls = 0;
    Progress progress = [&](uint64_t, uint64_t) { ++calls, stop.request_stop(); };
    Status status = Identify(file, published_, progress, stop.get_token()).status();
    EXPECT_TRUE(absl::IsCancelled(status)) << status;
    EXPECT_EQ(calls, 1u);
  }
}

TEST_F(IdentityTest, PublishedFile) {
  EXPECT_EQ(Ask(published_).value(), Provenance::kPublished);
  Status status = Ask(std::string(32, '0')).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(published_));
  EXPECT_TRUE(absl::IsFailedPrecondition(Ask(std::nullopt).status()));
}

TEST_F(IdentityTest, DevelopmentFile) {
  const DevelopmentRecord record{ContentSha256(), "0.1 \"x\"", ToxicWaste::Random()};
  WriteRecord("v28-x.development.json", record.ToJson());
  EXPECT_EQ(Ask(std::nullopt).value(), Provenance::kDevelopment);
  EXPECT_EQ(Ask(std::string(32, '0')).value(), Provenance::kDevelopment);
  auto again = ReadDevelopmentRecord(path_).value();
  ASSERT_TRUE(again && again->waste);
  EXPECT_EQ(again->version, record.version);
  EXPECT_EQ(again->waste->tau, record.waste->tau);
  EXPECT_EQ(again->waste->gamma, record.waste->gamma);
}

TEST_F(IdentityTest, RecordedFixtureStandsForTheRecord) {
  WriteRecord("v28-x.json", StrCat("{\"params_sha256\":\"", ContentSha256(), "\"}"));
  EXPECT_EQ(Ask(std::nullopt).value(), Provenance::kDevelopment);
}

TEST_F(IdentityTest, RecordOfOtherBytesIsRefused) {
  WriteRecord("v28-x.development.json", DevelopmentRecord{std::string(64, 'a'), "", {}}.ToJson());
  EXPECT_TRUE(absl::IsFailedPrecondition(Ask(std::nullopt).status()));
}

TEST_F(IdentityTest, AFileThatChangesIsRefused) {
  const InputFile file = InputFile::Open(path_).value();
  std::filesystem::resize_file(path_, 3);
  EXPECT_TRUE(absl::IsFailedPrecondition(Identify(file, published_, {}).status()));
  ASSERT_TRUE(WriteFile(path_, AsBytes(content_)).ok());  // another file: the open one is as it was
  EXPECT_TRUE(absl::IsFailedPrecondition(Identify(file, published_, {}).status()));
}

TEST_F(IdentityTest, MalformedRecordIsRefused) {
  WriteRecord("v28-x.development.json", "{\"params_sha256\":\"AB\"}");
  EXPECT_TRUE(absl::IsInvalidArgument(Ask(published_).status()));
  WriteRecord("v28-x.development.json", "{");
  EXPECT_TRUE(absl::IsInvalidArgument(Ask(published_).status()));
}

}  // namespace
}  // namespace cuzk::groth16
