#include "daemon/app/process/secure_directory.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/store/job_store.h"

namespace cuzk::daemon {
namespace {

class SecureDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/cuzkd-secure-XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  /// The mode after the folder had this one.
  unsigned After(unsigned mode) {
    EXPECT_EQ(chmod(folder_.c_str(), mode), 0);
    EXPECT_TRUE(SecureStateDirectory(folder_, log_).ok());
    return static_cast<unsigned>(std::filesystem::status(folder_).permissions());
  }
  std::filesystem::path folder_;
  Logger log_{LogOptions{}};
};

TEST_F(SecureDirectoryTest, AnEmptyFolderOfOurOwnIsClosedToOthers) {
  for (unsigned mode : {0755u, 0777u, 0770u}) EXPECT_EQ(After(mode), 0700u);
  EXPECT_EQ(After(0750), 0750u);  // read by the group: the store takes it
}

TEST_F(SecureDirectoryTest, OneWithAStoreToo) {
  chmod(folder_.c_str(), 0700);
  ASSERT_TRUE(store::JobStore::Open({.directory = folder_}).ok());
  EXPECT_EQ(After(0755), 0700u);
}

TEST_F(SecureDirectoryTest, AFolderOfOtherThingsOrOneThatIsSharedStaysAsItIs) {
  EXPECT_EQ(After(01777), 01777u);
  ASSERT_TRUE(WriteFile(folder_ / "letters", AsBytes("x")).ok());
  EXPECT_EQ(After(0755), 0755u);
}

}  // namespace
}  // namespace cuzk::daemon
