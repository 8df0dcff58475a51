#include "daemon/app/state_disk.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <atomic>
#include <semaphore>

#include "core/base/file.h"
#include "core/engine/store.h"

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;

class StateDiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "cuzk-disk-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(StateDiskTest, NothingStaysInTheFolder) {
  EXPECT_TRUE(TryStateDisk(folder_).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_FALSE(TryStateDisk(folder_ / "gone").ok());
}

TEST_F(StateDiskTest, WhatACrashLeavesGoesWhenTheStoreIsOpened) {
  const int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  ASSERT_GE(inotify_add_watch(watch, folder_.c_str(), IN_CREATE), 0);
  EXPECT_TRUE(TryStateDisk(folder_).ok());
  alignas(inotify_event) char bytes[4096];
  ASSERT_GT(read(watch, bytes, sizeof bytes), 0);
  close(watch);
  const std::filesystem::path made = folder_ / reinterpret_cast<const inotify_event*>(bytes)->name;
  ASSERT_TRUE(WriteFile(made, {}).ok());
  EXPECT_TRUE(engine::JobStore::Open({.directory = folder_}).ok());
  EXPECT_FALSE(std::filesystem::exists(made)) << made;
}

TEST_F(StateDiskTest, AFullDiskIsToldAndItsEndToo) {
  std::counting_semaphore<> attempts(0);
  std::atomic<bool> full = true;
  StateDisk disk(folder_, [&](const std::filesystem::path& directory) -> Status {
    EXPECT_EQ(directory, folder_);
    Status found = full ? absl::ResourceExhaustedError("no room") : absl::OkStatus();
    attempts.release();
    return found;
  });
  // The one before the last was heard of.
  auto tried = [&] { attempts.acquire(), attempts.acquire(); };
  tried();
  EXPECT_TRUE(absl::IsUnavailable(disk.Check()));
  EXPECT_THAT(std::string(disk.Check().message()), HasSubstr("jobs.state_directory: no job can be kept: no room"));
  full = false;
  while (!disk.Check().ok()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

TEST_F(StateDiskTest, ADiskThatHangsIsToldMeanwhile) {
  std::binary_semaphore begun(0), goes_on(0);
  auto attempt = [&](const std::filesystem::path&) {
    begun.release();
    goes_on.acquire();
    return absl::OkStatus();
  };
  StateDisk disk(folder_, attempt, std::chrono::seconds(0));
  begun.acquire();
  EXPECT_THAT(std::string(disk.Check().message()), HasSubstr("has not answered for 0 s: no job can be kept"));
  goes_on.release();
  while (!disk.Check().ok()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

TEST_F(StateDiskTest, WithoutAFolderThereIsNothingToTry) { EXPECT_TRUE(StateDisk({}).Check().ok()); }

}  // namespace
}  // namespace cuzk::daemon
