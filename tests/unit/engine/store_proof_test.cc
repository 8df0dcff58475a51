// What a caller hears of a job whose proof the disk has changed.

#include <gmock/gmock.h>

#include "tests/unit/engine/small_engine.h"
#include "tests/unit/store/scratch_store.h"

namespace cuzk::engine {
namespace {

using std::chrono::minutes;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing_support::kFlippedProof;
using testing_support::SmallEngine;

class StoreProofTest : public testing::Test {
 protected:
  void Alter(const std::string& sql) const { scratch_.Alter(sql); }
  std::pair<std::filesystem::path, std::string> Complete() const { return scratch_.Complete(); }

  testing_support::ScratchStore scratch_;
  const std::filesystem::path& directory_ = scratch_.path();
};

TEST_F(StoreProofTest, WhoAsksForADamagedJobIsTold) {
  Complete();
  Alter(StrCat("UPDATE jobs SET ", kFlippedProof));
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

TEST_F(StoreProofTest, ADamagedProofWhosePayloadIsThereIsMadeAgain) {
  const auto [file, payload] = Complete();
  Alter(StrCat("UPDATE jobs SET ", kFlippedProof));
  ASSERT_TRUE(WriteFile(file, AsBytes(payload)).ok());
  SmallEngine engine({.engine = {.state_directory = directory_}});
  auto result = engine->Await("a", steady_clock::now() + minutes(5));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(engine.Verifies(*result, 2));
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace cuzk::engine
