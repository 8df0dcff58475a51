// What the job store does with proofs and rows that a disk or an older program has left.

#include <gmock/gmock.h>

#include "tests/unit/store/scratch_store.h"

namespace cuzk::store {
namespace {

using testing::HasSubstr;
using testing_support::kFlippedProof;
using testing_support::ScratchStore;
using testing_support::Unfinished;

class StoreProofTest : public testing::Test {
 protected:
  void Alter(const std::string& sql) const { scratch_.Alter(sql); }
  std::pair<std::filesystem::path, std::string> Complete(const std::string& id = "a") const {
    return scratch_.Complete(id);
  }
  /// That of two jobs the damaged one, in row 1, failed with words when the store was opened, and the other is as it
  /// was.
  void ExpectOneFailed(const std::string& damage) const {
    auto store = scratch_.TryOpen();
    ASSERT_TRUE(store.ok()) << damage << store.status();
    EXPECT_THAT((*store)->damaged(), testing::ElementsAre(HasSubstr("row 1 of jobs.sqlite"))) << damage;
    auto jobs = *(*store)->Load();
    ASSERT_EQ(jobs.size(), 2u) << damage;
    EXPECT_EQ(jobs[0].state, RowState::kFailed) << damage;
    EXPECT_THAT(jobs[0].error, HasSubstr("changed by the disk; send it again")) << damage;
    EXPECT_EQ(jobs[1].id, "whole") << damage;
    EXPECT_EQ(jobs[1].proof, std::string(2 * 192, 'p')) << damage;
    store->reset();
    EXPECT_TRUE((*scratch_.TryOpen())->damaged().empty()) << damage;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "1.payload")) << damage;
  }

  ScratchStore scratch_;
  const std::filesystem::path& directory_ = scratch_.path();
};

TEST_F(StoreProofTest, ADamagedProofEndsItsJobAlone) {
  for (std::string damage : {kFlippedProof, "proof=x''", "proof=NULL", "proof=CAST(substr(proof,1,192) AS BLOB)",
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
      ASSERT_TRUE(Unfinished("a").AcceptBy(**scratch_.TryOpen()).ok());
    }
    Complete("whole");
    Alter(StrCat("UPDATE jobs SET ", damage, " WHERE row=1"));
    ExpectOneFailed(damage);
  }
}

TEST_F(StoreProofTest, AProofOfAnImpossibleLengthIsDamagedWhateverItsDigestSays) {
  for (size_t length : {size_t{0}, size_t{191}, size_t{193}}) {
    std::filesystem::remove_all(directory_);
    Complete();
    {
      auto store = scratch_.Open();
      StoredJob end{.row = 1, .state = RowState::kCompleted, .proof = std::string(length, 'p')};
      EXPECT_TRUE(store->Finish(end).ok());
    }
    EXPECT_EQ((*scratch_.TryOpen())->damaged().size(), 1u) << length;
  }
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
      auto store = scratch_.Open();
      EXPECT_THAT(store->damaged(), testing::IsEmpty());
      auto jobs = store->Load();
      ASSERT_TRUE(jobs.ok()) << jobs.status();
      ASSERT_EQ(jobs->size(), 1u);
      EXPECT_EQ(jobs->front().proof, std::string(2 * 192, 'p'));
    }
    Alter("UPDATE jobs SET id='b'");
    EXPECT_EQ((*scratch_.TryOpen())->damaged().size(), 1u);
  }
  Alter("PRAGMA user_version=6");
  const Status newer = scratch_.TryOpen().status();
  EXPECT_THAT(std::string(newer.message()), HasSubstr("has format 6; this program writes 5"));
}

TEST_F(StoreProofTest, RenewingBlessesNoProofThatHasADigest) {
  Complete();
  Alter("ALTER TABLE jobs DROP COLUMN seal; PRAGMA user_version=2");
  Alter(StrCat("UPDATE jobs SET ", kFlippedProof));
  EXPECT_EQ((*scratch_.TryOpen())->damaged().size(), 1u);
}

}  // namespace
}  // namespace cuzk::store
