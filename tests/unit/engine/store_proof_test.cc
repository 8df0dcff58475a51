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
  /// A store with one completed job; its payload file's name, and what was in it.
  std::pair<std::filesystem::path, std::string> Complete() const {
    auto store = *JobStore::Open({directory_});
    StoredJob job{.id = "a", .kind = filecoin::Kind::kPorep, .priority = Priority::kNormal};
    job.vanilla = SmallRequest("2");
    job.digest = PayloadDigest(job.vanilla);
    job.row = *store->Accept(job);
    const std::filesystem::path file = directory_ / StrCat(job.row, ".payload");
    std::string payload = *ReadFile(file);
    job.state = JobState::kCompleted;
    job.proof = std::string(2 * 192, 'p');
    EXPECT_TRUE(store->Finish(job).ok());
    return {file, payload};
  }

  ScratchDir scratch_;
  const std::filesystem::path directory_ = scratch_ / "state";
};

TEST_F(StoreProofTest, ADamagedProofIsNotAnswered) {
  for (std::string damage : {kFlipped, "proof=x''", "proof=NULL", "proof=CAST(substr(proof,1,192) AS BLOB)",
                             "proof_digest=NULL", "proof_digest=x'00'"}) {
    std::filesystem::remove_all(directory_);
    Complete();
    Alter("UPDATE jobs SET " + damage);
    auto store = JobStore::Open({directory_});
    ASSERT_TRUE(store.ok()) << store.status();
    const Status damaged = (*store)->Load().status();
    EXPECT_TRUE(absl::IsFailedPrecondition(damaged)) << damage << ": " << damaged;
    for (const std::string& part : {std::string("the proof in row 1 of jobs.sqlite is damaged"), directory_.string(),
                                    std::string("or move it away")}) {
      EXPECT_THAT(std::string(damaged.message()), HasSubstr(part)) << damage;
    }
  }
}

TEST_F(StoreProofTest, AProofOfAnImpossibleLengthIsDamagedWhateverItsDigestSays) {
  for (size_t length : {size_t{0}, size_t{191}, size_t{193}}) {
    std::filesystem::remove_all(directory_);
    Complete();
    auto store = *JobStore::Open({directory_});
    StoredJob end{.row = 1, .state = JobState::kCompleted, .proof = std::string(length, 'p')};
    EXPECT_TRUE(store->Finish(end).ok());
    EXPECT_TRUE(absl::IsFailedPrecondition(store->Load().status())) << length;
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
  Complete();
  Alter("ALTER TABLE jobs DROP COLUMN proof_digest; ALTER TABLE jobs DROP COLUMN losses; PRAGMA user_version=1");
  for (int i = 0; i < 2; ++i) {
    auto jobs = (*JobStore::Open({directory_}))->Load();
    ASSERT_TRUE(jobs.ok()) << jobs.status();
    ASSERT_EQ(jobs->size(), 1u);
    EXPECT_EQ(jobs->front().proof, std::string(2 * 192, 'p'));
  }
  Alter(StrCat("UPDATE jobs SET ", kFlipped));
  EXPECT_FALSE((*JobStore::Open({directory_}))->Load().ok());
  Alter("PRAGMA user_version=3");
  const Status newer = JobStore::Open({directory_}).status();
  EXPECT_THAT(std::string(newer.message()), HasSubstr("has format 3; this program writes 2"));
}

}  // namespace
}  // namespace cuzk::engine
