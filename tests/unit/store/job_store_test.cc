#include "core/store/job_store.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/unit/store/scratch_store.h"

namespace cuzk::store {
namespace {

using filecoin::Kind;
using testing::HasSubstr;
using testing_support::kPlenty;
using testing_support::ScratchStore;

struct Example {
  explicit Example(const std::string& id) : job{.id = id, .kind = Kind::kWindow, .priority = 3, .submitted_ms = 5} {
    request = {.kind = 3, .registered_proof = 5, .vanilla_proofs = {"one", std::string("\0two", 4)}, .randomness = "r"};
    job.digest = PayloadDigest(request);
  }
  StatusOr<int64_t> AcceptBy(JobStore& store, uint64_t most_bytes = kPlenty) const {
    return store.Accept(job, request, most_bytes);
  }
  StoredJob job;
  filecoin::VanillaRequest request;
};

std::string Proof() { return std::string("p\0q", 3) + std::string(2 * 192 - 3, 'x'); }

class StoreTest : public testing::Test {
 protected:
  const std::filesystem::path& path() const { return scratch_.path(); }
  std::unique_ptr<JobStore> Open() const { return scratch_.Open(); }
  size_t Payloads() const { return scratch_.Payloads(); }

  ScratchStore scratch_;
  const testing_support::ScratchDir& directory_ = scratch_.scratch();
};

TEST_F(StoreTest, KeepsJobsAndOneCopyOfEachPayload) {
  int64_t first, second;
  {
    auto store = Open();
    first = *Example("a").AcceptBy(*store);
    second = *Example("b [1 2]\n").AcceptBy(*store);
    EXPECT_EQ(Payloads(), 2u);
    StoredJob end{.row = second, .state = RowState::kCompleted, .proof = Proof(), .finished_ms = 7};
    end.times.total_ms = 42;
    EXPECT_TRUE(store->Finish(end).ok());
    EXPECT_EQ(Payloads(), 1u);
  }
  auto store = Open();
  auto jobs = *store->Load();
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].id, "a");
  EXPECT_EQ(jobs[0].state, RowState::kUnfinished);
  EXPECT_EQ(jobs[0].registered_proof, 5u);
  EXPECT_EQ(jobs[0].priority, 3);
  auto payload = store->ReadPayload(first, jobs[0].digest);
  ASSERT_TRUE(payload.ok()) << payload.status();
  EXPECT_EQ(payload->vanilla_proofs, Example("a").request.vanilla_proofs);
  EXPECT_EQ(jobs[1].id, "b [1 2]\n");
  EXPECT_EQ(jobs[1].proof, Proof());
  EXPECT_EQ(jobs[1].times.total_ms, 42u);
  EXPECT_FALSE(jobs[1].fetched);
  EXPECT_TRUE(store->Fetched(second).ok());
  EXPECT_TRUE((*store->Load())[1].fetched);
  EXPECT_TRUE(store->Forget(first).ok());
  EXPECT_EQ(Payloads(), 0u);
  EXPECT_EQ(store->Load()->size(), 1u);
}

TEST_F(StoreTest, IsForOneProcessAndForNobodyElsesEyes) {
  auto store = Open();
  const Status taken = JobStore::Open({path()}).status();
  EXPECT_TRUE(absl::IsAborted(taken)) << taken;
  EXPECT_THAT(std::string(taken.message()), testing::Not(HasSubstr("move it away")));
  EXPECT_TRUE(Example("a").AcceptBy(*store).ok());
  for (const auto& entry : std::filesystem::directory_iterator(path())) {
    auto others = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
    EXPECT_EQ(std::filesystem::status(entry).permissions() & others, std::filesystem::perms::none) << entry;
  }
}

TEST_F(StoreTest, BoundsItsPayloadsAndClearsWhatACrashLeft) {
  auto small = Open();
  Example large("a");
  large.request.vanilla_proof = std::string(200, 'x');
  EXPECT_TRUE(absl::IsResourceExhausted(large.AcceptBy(*small, 100).status()));
  small.reset();
  ASSERT_TRUE(WriteFile(path() / "77.payload", AsBytes("left over")).ok());
  ASSERT_TRUE(WriteFile(path() / "78.payload.part-aB3xYz", AsBytes("half")).ok());
  auto store = Open();
  EXPECT_EQ(Payloads(), 0u);
}

TEST_F(StoreTest, TouchesOnlyWhatIsItsOwn) {
  // A folder that is there keeps its mode, and others' files in it stay, however they are called.
  const auto mode = std::filesystem::perms(0750);
  std::filesystem::create_directories(path());
  std::filesystem::permissions(path(), mode);
  const std::vector<std::string> others = {"notes.payload",
                                           "x12.payload",
                                           "12.payload.old",
                                           "12.payload.part-1",
                                           "12.payload.part-aB3xYz9",
                                           ".payload",
                                           "payload",
                                           "-1.payload",
                                           "12.payload.part-aB3xYz.params"};
  for (const std::string& name : others) ASSERT_TRUE(WriteFile(path() / name, AsBytes("not the store's")).ok());
  std::filesystem::create_directory(path() / "13.payload");
  std::filesystem::create_symlink(path() / "notes.payload", path() / "14.payload");
  ASSERT_TRUE(WriteFile(path() / "15.payload", AsBytes("left over")).ok());
  auto store = Open();
  for (const std::string& name : others) EXPECT_TRUE(std::filesystem::exists(path() / name)) << name;
  EXPECT_TRUE(std::filesystem::is_directory(path() / "13.payload"));
  EXPECT_TRUE(std::filesystem::is_symlink(path() / "14.payload"));
  EXPECT_FALSE(std::filesystem::exists(path() / "15.payload"));
  EXPECT_EQ(std::filesystem::status(path()).permissions(), mode);
  EXPECT_TRUE(Example("a").AcceptBy(*store).ok());
}

TEST_F(StoreTest, AFolderThatIsOpenToTheWorldIsRefusedAndStaysAsItIs) {
  std::filesystem::create_directories(path());
  for (unsigned mode : {0755u, 0777u, 01777u, 0770u, 0701u}) {
    ASSERT_EQ(chmod(path().c_str(), mode), 0);
    const Status refused = JobStore::Open({path()}).status();
    EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
    char text[8];
    std::snprintf(text, sizeof text, "0%o", mode);
    for (const std::string& part : {path().string(), std::string(text), std::string("chmod 0700")}) {
      EXPECT_THAT(std::string(refused.message()), HasSubstr(part));
    }
    EXPECT_TRUE(std::filesystem::is_empty(path()));
    EXPECT_EQ(std::filesystem::status(path()).permissions(), std::filesystem::perms(mode));
  }
  ASSERT_EQ(chmod(path().c_str(), 0750), 0);
  EXPECT_TRUE(JobStore::Open({path()}).ok());
}

TEST_F(StoreTest, AFolderThatItMakesIsForNobodyElse) {
  for (std::filesystem::path made : {path(), directory_ / "a" / "b", directory_ / "c" / ""}) {
    ASSERT_TRUE(JobStore::Open({made}).ok());
    EXPECT_EQ(std::filesystem::status(made).permissions(), std::filesystem::perms(0700)) << made;
  }
  ASSERT_TRUE(WriteFile(directory_ / "file", AsBytes("x")).ok());
  EXPECT_THAT(std::string(JobStore::Open({directory_ / "file"}).status().message()), HasSubstr("file"));
}

}  // namespace
}  // namespace cuzk::store
