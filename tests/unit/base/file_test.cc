#include "core/base/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace cuzk {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cuzk-file-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  size_t Entries() const {
    auto it = std::filesystem::directory_iterator(directory_);
    return static_cast<size_t>(std::distance(begin(it), end(it)));
  }
  std::filesystem::path directory_;
};

TEST_F(FileTest, AppearsOnlyWhenCommitted) {
  auto path = directory_ / "x";
  {
    auto file = AtomicFile::Create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Append(AsBytes("hello")).ok());
    EXPECT_FALSE(std::filesystem::exists(path));
    ASSERT_TRUE(file->WriteAt(0, AsBytes("J")).ok());
    ASSERT_TRUE(file->Commit().ok());
  }
  EXPECT_EQ(ReadFile(path).value(), "Jello");
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(FileTest, AbandonedFileLeavesNothing) {
  {
    auto file = AtomicFile::Create(directory_ / "x");
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Append(AsBytes("half")).ok());
  }
  EXPECT_EQ(Entries(), 0u);
}

TEST_F(FileTest, ErrorsNameThePath) {
  auto missing = ReadFile(directory_ / "none");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(missing.status().message().find("none"), std::string::npos);
  EXPECT_EQ(MappedFile::Open(directory_).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(FileTest, EmptyFileIsMapped) {
  ASSERT_TRUE(WriteFile(directory_ / "e", {}).ok());
  auto file = MappedFile::Open(directory_ / "e");
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->bytes().empty());
}

}  // namespace
}  // namespace cuzk
