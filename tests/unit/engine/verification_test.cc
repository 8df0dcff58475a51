// Proofs are verified with the key that they were made with, and what the verifier finds strange is told.

#include <gmock/gmock.h>

#include "tests/unit/engine/small_engine.h"

namespace cuzk::engine {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing_support::MixedCircuit;
using testing_support::Proving;
using testing_support::SmallEngine;

TEST(Verification, ABatchThatDisagreesWithItsProofsIsCountedAndToldButTheProofIsGood) {
  SmallEngine engine({.batch_answer = [](bool) { return false; }});
  JobResult result = engine.Prove("3");
  EXPECT_EQ(result.state, JobState::kCompleted) << result.error;
  EngineStatus status = engine->Snapshot();
  EXPECT_EQ(status.counters.verifier_disagreements_total, 1u);
  EXPECT_EQ(status.counters.wrong_proofs_total, 0u);
  EXPECT_THAT(status.last_errors,
              ElementsAre(Field(&ErrorStatus::text, HasSubstr("3 proofs verify one by one, but not together"))));
  // One proof is no batch.
  EXPECT_EQ(engine.Prove("1").state, JobState::kCompleted);
  EXPECT_EQ(engine->Snapshot().counters.verifier_disagreements_total, 1u);
}

TEST(Verification, TheVerifierFollowsAReplacedKey) {
  SmallEngine engine;
  ASSERT_EQ(engine.Prove("2").state, JobState::kCompleted);
  // The same circuit from other secrets: proofs of the one do not verify with the key of the other.
  Proving other(MixedCircuit({.size = 24}));
  ASSERT_NE(groth16::VerifyingKey::FromFile(other.path())->ToBytes(),
            groth16::VerifyingKey::FromFile(engine.parameters().path)->ToBytes());
  std::string circuit;
  for (const prover::ParameterStatus& status : engine->Snapshot().parameters) circuit = status.circuit;
  engine.WaitFor([](const EngineStatus& status) { return !status.parameters[0].in_use; });
  ASSERT_TRUE(engine->Evict(circuit)->was_loaded);
  engine.parameters().path = other.path();
  JobResult result = engine.Prove("2");
  EXPECT_EQ(result.state, JobState::kCompleted) << result.error;
  EXPECT_EQ(engine->Snapshot().counters.wrong_proofs_total, 0u);
}

}  // namespace
}  // namespace cuzk::engine
