// Whom the job store shares its folder and its database with.

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/store/job_store.h"
#include "tests/unit/groth16/scratch_dir.h"

namespace cuzk::store {
namespace {

using testing::HasSubstr;
using testing_support::ScratchDir;

class StoreDirectoryTest : public testing::Test {
 protected:
  StoreDirectoryTest() {
    std::filesystem::create_directory(path());
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  std::filesystem::path path() const { return directory_ / "state"; }

  ScratchDir directory_;
};

TEST_F(StoreDirectoryTest, NoFileIsOpenedThroughALink) {
  const std::filesystem::path precious = directory_ / "precious";
  for (const char* name : {"lock", "jobs.sqlite", "in-work"}) {
    std::filesystem::remove_all(path());
    std::filesystem::create_directory(path());
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
    const std::string before = std::string(name) == "in-work" ? "precious" : "";
    ASSERT_TRUE(WriteFile(precious, AsBytes(before)).ok());
    std::filesystem::create_symlink(precious, path() / name);
    const Status refused = JobStore::Open({path()}).status();
    EXPECT_FALSE(refused.ok()) << name;
    EXPECT_THAT(std::string(refused.message()), HasSubstr((path() / name).string()));
    EXPECT_EQ(*ReadFile(precious), before) << name;
  }
}

TEST_F(StoreDirectoryTest, NoPayloadIsWrittenThroughALink) {
  const std::filesystem::path precious = directory_ / "precious";
  ASSERT_TRUE(WriteFile(precious, AsBytes("precious")).ok());
  auto store = *JobStore::Open({path()});
  std::filesystem::create_symlink(precious, path() / "1.payload");
  StoredJob job{.id = "a", .kind = filecoin::Kind::kPorep, .priority = 2};
  const Status refused = store->Accept(job, {}, 1000).status();
  EXPECT_THAT(std::string(refused.message()), HasSubstr((path() / "1.payload").string()));
  EXPECT_EQ(*ReadFile(precious), "precious");
}

TEST_F(StoreDirectoryTest, ItMayItselfBeBehindALink) {
  std::filesystem::create_directory_symlink(path(), directory_ / "link");
  EXPECT_TRUE(JobStore::Open({directory_ / "link"}).ok());
}

TEST_F(StoreDirectoryTest, OfAnotherUserIsRefusedAndStaysEmpty) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder to somebody else";
  constexpr uid_t kNobodyHere = 54321;
  ASSERT_EQ(chown(path().c_str(), kNobodyHere, 0), 0);
  const Status refused = JobStore::Open({path()}).status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr(StrCat(path().string(), " belongs to uid ", kNobodyHere)));
  EXPECT_TRUE(std::filesystem::is_empty(path()));
  ASSERT_EQ(chown(path().c_str(), 0, 0), 0);
  EXPECT_TRUE(JobStore::Open({path()}).ok());
}

TEST_F(StoreDirectoryTest, AnotherProgramThatWritesHindersNoStartAndIsWaitedFor) {
  EXPECT_TRUE(JobStore::Open({path()}).ok());
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open((path() / "jobs.sqlite").c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  {
    auto store = JobStore::Open({path()});
    ASSERT_TRUE(store.ok()) << store.status();
    const Status locked = (*store)->Forget(1);
    EXPECT_TRUE(absl::IsAborted(locked)) << locked;
    EXPECT_THAT(std::string(locked.message()), HasSubstr("database is locked"));
  }
  // With one that lets nobody read either, the start may be tried again.
  ASSERT_EQ(sqlite3_exec(other, "COMMIT; PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE", nullptr, nullptr, nullptr),
            SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "DELETE FROM jobs; COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
  const Status taken = JobStore::Open({path()}).status();
  EXPECT_TRUE(absl::IsAborted(taken)) << taken;
  sqlite3_close(other);
  EXPECT_TRUE(JobStore::Open({path()}).ok());
}

}  // namespace
}  // namespace cuzk::store
