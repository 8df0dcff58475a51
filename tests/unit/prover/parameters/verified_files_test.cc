#include "core/prover/parameters/verified_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"

namespace cuzk::prover {
namespace {

class VerifiedFilesTest : public testing::Test {
 protected:
  VerifiedFilesTest() { std::filesystem::create_directories(folder_); }
  ~VerifiedFilesTest() override { std::filesystem::remove_all(folder_); }

  InputFile Make(const std::string& name, std::string_view text = "text") {
    EXPECT_TRUE(WriteFile(folder_ / name, AsBytes(text)).ok());
    return InputFile::Open(folder_ / name).value();
  }

  const std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / StrCat("verified-", getpid());
  const std::filesystem::path kept_ = folder_ / "kept";
};

TEST_F(VerifiedFilesTest, AreRememberedOverARestart) {
  const InputFile one = Make("one"), two = Make("two");
  {
    VerifiedFiles files(kept_);
    EXPECT_FALSE(files.Has(one, "aa"));
    ASSERT_TRUE(files.Add(one, "aa").ok());
    ASSERT_TRUE(files.Add(two, "bb").ok());
    EXPECT_TRUE(files.Has(one, "aa"));
    EXPECT_FALSE(files.Has(one, "bb"));
  }
  const VerifiedFiles again(kept_);
  EXPECT_TRUE(again.Has(one, "aa"));
  EXPECT_TRUE(again.Has(two, "bb"));
  EXPECT_FALSE(again.Has(two, "aa"));
  EXPECT_FALSE(VerifiedFiles().Has(one, "aa"));
  struct stat info {};
  ASSERT_EQ(stat(kept_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(VerifiedFilesTest, AFileThatWasWrittenAgainIsNot) {
  VerifiedFiles files(kept_);
  ASSERT_TRUE(files.Add(Make("one"), "aa").ok());
  EXPECT_FALSE(files.Has(Make("one"), "aa"));
}

TEST_F(VerifiedFilesTest, TheOldestGoFirst) {
  VerifiedFiles files(kept_);
  const InputFile first = Make("first"), second = Make("second");
  ASSERT_TRUE(files.Add(first, "aa").ok());
  ASSERT_TRUE(files.Add(second, "aa").ok());
  for (size_t i = 0; i + 1 < VerifiedFiles::kMost; ++i) ASSERT_TRUE(files.Add(Make(StrCat("f", i)), "aa").ok());
  EXPECT_FALSE(VerifiedFiles(kept_).Has(first, "aa"));
  EXPECT_TRUE(VerifiedFiles(kept_).Has(second, "aa"));
}

TEST_F(VerifiedFilesTest, DamagedLinesAreLeftOut) {
  const InputFile one = Make("one"), two = Make("two");
  {
    VerifiedFiles files(kept_);
    ASSERT_TRUE(files.Add(one, "aa").ok());
    ASSERT_TRUE(files.Add(two, "aa").ok());
  }
  std::string text = ReadFile(kept_).value();
  text[0] = 'V';
  ASSERT_TRUE(WriteFile(kept_, AsBytes(text + "verified-1 1 2 three 4 5 aa\nverified-1 1 2\n\n")).ok());
  EXPECT_FALSE(VerifiedFiles(kept_).Has(one, "aa"));
  EXPECT_TRUE(VerifiedFiles(kept_).Has(two, "aa"));
  ASSERT_TRUE(WriteFile(kept_, AsBytes(std::string(2 << 20, 'x'))).ok());
  EXPECT_FALSE(VerifiedFiles(kept_).Has(two, "aa"));
}

}  // namespace
}  // namespace cuzk::prover
