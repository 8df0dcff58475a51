#include "core/store/health.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <atomic>
#include <semaphore>

#include "core/base/file.h"
#include "core/store/job_store.h"

namespace cuzk::store {
namespace {

using ::testing::HasSubstr;

class DiskHealthTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "cuzk-disk-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(DiskHealthTest, NothingStaysInTheFolder) {
  EXPECT_TRUE(TryToWrite(folder_).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_FALSE(TryToWrite(folder_ / "gone").ok());
}

TEST_F(DiskHealthTest, WhatACrashLeavesGoesWhenTheStoreIsOpened) {
  const int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  ASSERT_GE(inotify_add_watch(watch, folder_.c_str(), IN_CREATE), 0);
  EXPECT_TRUE(TryToWrite(folder_).ok());
  alignas(inotify_event) char bytes[4096];
  ASSERT_GT(read(watch, bytes, sizeof bytes), 0);
  close(watch);
  const std::filesystem::path made = folder_ / reinterpret_cast<const inotify_event*>(bytes)->name;
  ASSERT_TRUE(WriteFile(made, {}).ok());
  EXPECT_TRUE(JobStore::Open({.directory = folder_}).ok());
  EXPECT_FALSE(std::filesystem::exists(made)) << made;
}

TEST_F(DiskHealthTest, AFullDiskIsToldAndItsEndToo) {
  std::counting_semaphore<> attempts(0);
  std::atomic<bool> full = true;
  DiskHealth disk(folder_, kPatience, Clock::System());
  auto trial = [&](const std::filesystem::path& directory) -> Status {
    EXPECT_EQ(directory, folder_);
    Status found = full ? absl::ResourceExhaustedError("no room") : absl::OkStatus();
    attempts.release();
    return found;
  };
  disk.Start(trial, std::chrono::milliseconds(0));
  // The one before the last was heard of.
  auto tried = [&] { attempts.acquire(), attempts.acquire(); };
  tried();
  EXPECT_TRUE(absl::IsUnavailable(disk.Check()));
  EXPECT_THAT(std::string(disk.Check().message()), HasSubstr("jobs.state_directory: no job can be stored: no room"));
  full = false;
  while (!disk.Check().ok()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

TEST_F(DiskHealthTest, ADiskThatHangsIsToldMeanwhile) {
  std::binary_semaphore begun(0), goes_on(0);
  auto attempt = [&](const std::filesystem::path&) {
    begun.release();
    goes_on.acquire();
    return absl::OkStatus();
  };
  DiskHealth disk(folder_, std::chrono::seconds(0), Clock::System());
  disk.Start(attempt, std::chrono::milliseconds(0));
  begun.acquire();
  EXPECT_THAT(std::string(disk.Check().message()), HasSubstr("has not answered for 0 s: no job can be stored"));
  goes_on.release();
  while (!disk.Check().ok()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

TEST_F(DiskHealthTest, AFolderThatIsReplacedIsToldOnce) {
  const std::filesystem::path folder = folder_ / "state", file = folder / "lock";
  std::filesystem::create_directory(folder);
  ASSERT_TRUE(WriteFile(file, {}).ok());
  const int opened = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  std::binary_semaphore told(0);
  std::atomic<int> calls = 0;
  DiskHealth disk(folder, kPatience, Clock::System());
  disk.Watch(opened, file);
  disk.OnReplaced([&] {
    ++calls;
    told.release();
  });
  EXPECT_TRUE(disk.CheckFolder().ok());
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(absl::IsUnavailable(disk.CheckFolder()));
  EXPECT_TRUE(absl::IsUnavailable(disk.Check()));
  std::filesystem::create_directory(folder);
  disk.Start(TryToWrite, std::chrono::milliseconds(0));
  told.acquire();
  disk.OnReplaced(nullptr);
  EXPECT_EQ(calls, 1);
  close(opened);
}

TEST_F(DiskHealthTest, AFolderThatIsOnlyRemovedMayComeBack) {
  const std::filesystem::path folder = folder_ / "state", file = folder / "lock";
  std::filesystem::create_directory(folder);
  ASSERT_TRUE(WriteFile(file, {}).ok());
  const int opened = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  std::counting_semaphore<> trials(0);
  DiskHealth disk(folder, kPatience, Clock::System());
  disk.Watch(opened, file);
  disk.OnReplaced([] { ADD_FAILURE() << "it was only removed"; });
  std::filesystem::rename(folder, folder_ / "elsewhere");
  auto trial = [&](const std::filesystem::path& directory) -> Status {
    trials.release();
    return TryToWrite(directory);
  };
  disk.Start(trial, std::chrono::milliseconds(0));
  for (int i = 0; i < 3; ++i) trials.acquire();
  EXPECT_TRUE(absl::IsUnavailable(disk.Check()));
  std::filesystem::rename(folder_ / "elsewhere", folder);
  EXPECT_TRUE(disk.CheckFolder().ok());
  disk.OnReplaced(nullptr);
  close(opened);
}

TEST_F(DiskHealthTest, AJobThatWasWrittenEndsWhatATrialHasFound) {
  std::counting_semaphore<> trials(1);  // that may begin
  DiskHealth disk(folder_, kPatience, Clock::System());
  auto trial = [&](const std::filesystem::path&) -> Status {
    trials.acquire();
    return absl::ResourceExhaustedError("no room");
  };
  disk.Start(trial, std::chrono::milliseconds(0));
  while (disk.Check().ok()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  disk.Wrote();
  EXPECT_TRUE(disk.Check().ok());
  trials.release(1000);  // the next trial counts again
  while (disk.Check().ok()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace
}  // namespace cuzk::store
