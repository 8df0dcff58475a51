// What the job store does with proofs that a disk or an older program has left.

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "core/base/file.h"
#include "core/engine/intake.h"
#include "core/engine/store.h"
#include "tests/unit/engine/small_engine.h"
#include "tests/unit/groth16/scratch_dir.h"

namespace cuzk::engine {
namespace {

using std::chrono::minutes;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing_support::ScratchDir;
using testing_support::SmallEngine;
using testing_support::SmallRequest;

constexpr const char* kFlipped = "proof=CAST(substr(proof,1,100)||x'00'||substr(proof,102) AS BLOB)";

class StoreProofTest : public testing::Test {
 protected:
  void Alter(const std::string& sql) const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open((directory_ / "jobs.sqlite").c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  static StoredJob Example(const std::string& id) {
    StoredJob job{.id = id, .kind = filecoin::Kind::kPorep, .priority = Priority::kNormal};
    job.vanilla = SmallRequest("2");
    job.digest = PayloadDigest(job.vanilla);
    return job;
  }
  /// A store with one completed job; its payload file's name, and what was in it.
  std::pair<std::filesystem::path, std::string> Complete(const std::string& id = "a") const {
    auto store = *JobStore::Open({directory_});
    StoredJob job = Example(id);
    job.row = *store->Accept(job);
    const std::filesystem::path file = directory_ / StrCat(job.row, ".payload");
    std::string payload = *ReadFile(file);
    job.state = JobState::kCompleted;
    job.proof = std::string(2 * 192, 'p');
    EXPECT_TRUE(store->Finish(job).ok());
    return {file, payload};
  }
  /// That of two jobs the damaged one, in row 1, failed with words when the store was opened, and the other is as it
  /// was.
  void ExpectOneFailed(const std::string& damage) const {
    auto store = JobStore::Open({directory_});
    ASSERT_TRUE(store.ok()) << damage << store.status();
    EXPECT_THAT((*store)->damaged(), testing::ElementsAre(HasSubstr("row 1 of jobs.sqlite"))) << damage;
    auto jobs = *(*store)->Load();
    ASSERT_EQ(jobs.size(), 2u) << damage;
    EXPECT_EQ(jobs[0].state, JobState::kFailed) << damage;
    EXPECT_THAT(jobs[0].error, HasSubstr("changed by the disk; send it again")) << damage;
    EXPECT_EQ(jobs[1].id, "whole") << damage;
    EXPECT_EQ(jobs[1].proof, std::string(2 * 192, 'p')) << damage;
    store->reset();
    EXPECT_TRUE((*JobStore::Open({directory_}))->damaged().empty()) << damage;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "1.payload")) << damage;
  }

  ScratchDir scratch_;
  const std::filesystem::path directory_ = scratch_ / "state";
};

TEST_F(StoreProofTest, ADamagedProofEndsItsJobAlone) {
  for (std::string damage : {kFlipped, "proof=x''", "proof=NULL", "proof=CAST(substr(proof,1,192) AS BLOB)",
                             "proof_digest=NULL", "proof_digest=x'00'", "state=3"}) {
    std::filesystem::remove_all(directory_);
    Complete();
    Complete("whole");
    Alter(StrCat("UPDATE jobs SET ", damage, " WHERE row=1"));
    ExpectOneFailed(damage);
  }
}

TEST_F(StoreProofTest, ADamagedRowEndsItsJobAloneWhetherItHadEndedOrNot) {
  bool ended = false;
  for (std::string damage : {"id='b'", "kind=3", "kind=9", "kind=-1", "kind=257", "priority=0", "priority=5", "state=1",
                             "state=5", "state=-1", "digest=x'00'", "digest=zeroblob(32)", "proof_number=7",
                             "bytes=bytes+1", "submitted=1", "seal=NULL"}) {
    std::filesystem::remove_all(directory_);
    ended = !ended;
    if (ended) {
      Complete();
    } else {
      ASSERT_TRUE((*JobStore::Open({directory_}))->Accept(Example("a")).ok());
    }
    Complete("whole");
    Alter(StrCat("UPDATE jobs SET ", damage, " WHERE row=1"));
    ExpectOneFailed(damage);
  }
}

TEST_F(StoreProofTest, WhoAsksForADamagedJobIsTold) {
  Complete();
  Alter(StrCat("UPDATE jobs SET ", kFlipped));
  SmallEngine engine({.engine = {.state_directory = directory_}});
  const EngineStatus status = engine->Snapshot();
  EXPECT_EQ(status.counters.store_damaged_total, 1u);
  ASSERT_EQ(status.last_errors.size(), 1u);
  EXPECT_THAT(status.last_errors[0].text,
              HasSubstr("row 1 of jobs.sqlite, job a, is damaged: its proof; it has failed"));
  auto result = engine->Await("a", steady_clock::now());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->state, JobState::kFailed);
  EXPECT_THAT(result->error, HasSubstr("send it again"));
}

TEST_F(StoreProofTest, AProofOfAnImpossibleLengthIsDamagedWhateverItsDigestSays) {
  for (size_t length : {size_t{0}, size_t{191}, size_t{193}}) {
    std::filesystem::remove_all(directory_);
    Complete();
    {
      auto store = *JobStore::Open({directory_});
      StoredJob end{.row = 1, .state = JobState::kCompleted, .proof = std::string(length, 'p')};
      EXPECT_TRUE(store->Finish(end).ok());
    }
    EXPECT_EQ((*JobStore::Open({directory_}))->damaged().size(), 1u) << length;
  }
}

TEST_F(StoreProofTest, ADamagedProofWhosePayloadIsThereIsMadeAgain) {
  const auto [file, payload] = Complete();
  Alter(StrCat("UPDATE jobs SET ", kFlipped));
  ASSERT_TRUE(WriteFile(file, AsBytes(payload)).ok());
  SmallEngine engine({.engine = {.state_directory = directory_}});
  auto result = engine->Await("a", steady_clock::now() + minutes(5));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(engine.Verifies(*result, 2));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(StoreProofTest, AnOlderStoreIsRenewedWithItsProofs) {
  const char* const kOlder[] = {
      "ALTER TABLE jobs DROP COLUMN seal; ALTER TABLE jobs ADD COLUMN deadline INTEGER; PRAGMA user_version=2",
      "ALTER TABLE jobs DROP COLUMN seal; ALTER TABLE jobs ADD COLUMN deadline INTEGER;"
      "ALTER TABLE jobs DROP COLUMN proof_digest; ALTER TABLE jobs DROP COLUMN losses; PRAGMA user_version=1"};
  for (const char* older : kOlder) {
    std::filesystem::remove_all(directory_);
    Complete();
    Alter(older);
    for (int i = 0; i < 2; ++i) {
      auto store = *JobStore::Open({directory_});
      EXPECT_THAT(store->damaged(), testing::IsEmpty());
      auto jobs = store->Load();
      ASSERT_TRUE(jobs.ok()) << jobs.status();
      ASSERT_EQ(jobs->size(), 1u);
      EXPECT_EQ(jobs->front().proof, std::string(2 * 192, 'p'));
    }
    Alter("UPDATE jobs SET id='b'");
    EXPECT_EQ((*JobStore::Open({directory_}))->damaged().size(), 1u);
  }
  Alter("PRAGMA user_version=4");
  const Status newer = JobStore::Open({directory_}).status();
  EXPECT_THAT(std::string(newer.message()), HasSubstr("has format 4; this program writes 3"));
}

TEST_F(StoreProofTest, RenewingBlessesNoProofThatHasADigest) {
  Complete();
  Alter("ALTER TABLE jobs DROP COLUMN seal; PRAGMA user_version=2");
  Alter(StrCat("UPDATE jobs SET ", kFlipped));
  EXPECT_EQ((*JobStore::Open({directory_}))->damaged().size(), 1u);
}

}  // namespace
}  // namespace cuzk::engine
