// Traps of the contract with callers that the engine answers for, one test each. The numbers are those of
// tests/integration/grpc/contract_rows_test.py, which has the others.

#include <gmock/gmock.h>

#include <thread>

#include "core/engine/state/proof_work.h"
#include "tests/unit/engine/small_engine.h"
#include "tests/unit/groth16/scratch_dir.h"

namespace cuzk::engine {
namespace {

using filecoin::Kind;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing_support::FaultKind;
using testing_support::FaultPoint;
using testing_support::ScratchDir;
using testing_support::SmallEngine;
using testing_support::SmallEngineOptions;
using testing_support::SmallRequest;

constexpr Kind kKinds[] = {Kind::kPorep, Kind::kSnap, Kind::kWindow, Kind::kWinning};

TEST(ContractRows, S1_SameIdTwoPayloadsGiveTwoProofs) {
  SmallEngine engine({.engine = {.synthesis_threads = 2}});
  engine.device().Hold();
  JobTicket first = engine.Submit("porep-1000-7", "1 ticket one");
  JobTicket second = engine.Submit("porep-1000-7", "2 ticket two");
  JobTicket first_again = engine.Submit("porep-1000-7", "1 ticket one");
  EXPECT_NE(first.key, second.key);
  EXPECT_EQ(first.key, first_again.key);
  EXPECT_TRUE(first_again.joined);
  // The same bytes under the same id, but as another kind, are another job.
  EXPECT_FALSE(engine.Submit("porep-1000-7", "1 ticket one", Kind::kSnap).joined);
  engine.device().Release();
  JobResult one = engine.Await(first), two = engine.Await(second);
  EXPECT_TRUE(engine.Verifies(one, 1)) << one.error;
  EXPECT_TRUE(engine.Verifies(two, 2)) << two.error;
  EXPECT_EQ(engine.Await(first_again).proof, one.proof);
  EXPECT_EQ(engine->Snapshot().counters.submitted_total, 3u);
  EXPECT_EQ(engine->Snapshot().counters.joined_total, 1u);
}

TEST(ContractRows, S2_AnyTextUpToALengthIsAnId) {
  SmallEngine engine;
  for (const std::string& id :
       {std::string("wdpost-1000-0-[18 52 86 120]"), std::string("Größe ✓ \"quoted\" \\ \n\x1b[31m"),
        std::string("nul\0inside", 10), std::string(1024, 'x')}) {
    JobTicket ticket = engine.Submit(id, "1 unreadable", Kind::kWindow);
    EXPECT_EQ(ticket.job_id, id);
    EXPECT_EQ(engine.Await(ticket).job_id, id);
    EXPECT_EQ(engine->Await(id, {})->state, JobState::kFailed);
  }
  EXPECT_TRUE(absl::IsInvalidArgument(
      engine->Submit({.request_id = std::string(1025, 'x'), .vanilla = SmallRequest("1")}).status()));
  std::string timeline = engine->TimelineJson();
  EXPECT_THAT(timeline, HasSubstr(R"("job":"Größe ✓ \"quoted\" \\ \n\u001b[31m")"));
  EXPECT_THAT(timeline, HasSubstr(R"(nul\u0000inside)"));
}

TEST(ContractRows, S3_ASectorSizeOfZeroIsTheRegisteredProofs) {
  const FilecoinWork work(r1cs::Layout::kNarrow);
  filecoin::VanillaRequest request{.kind = static_cast<uint64_t>(Kind::kPorep), .registered_proof = 8};
  request.vanilla_proof = "{}";
  auto facts = work.Check(request);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->proof->circuit->id, "porep-32g");
  request.sector_size = uint64_t{32} << 30;
  EXPECT_TRUE(work.Check(request).ok());
  request.sector_size = uint64_t{64} << 30;
  EXPECT_TRUE(absl::IsInvalidArgument(work.Check(request).status()));
}

TEST(ContractRows, S4_AnySpoiltByteOfAnyKindIsNeverReturned) {
  for (Kind kind : kKinds) {
    for (size_t byte : {0, 48, 100, 144, 191}) {
      SmallEngine engine({.after_assembly = [&](const std::string&, uint32_t partition, std::span<uint8_t> proof) {
        if (partition == 1) proof[byte] ^= 1;
      }});
      JobResult result = engine.Await(engine.Submit("", "2", kind));
      EXPECT_EQ(result.state, JobState::kFailed);
      EXPECT_EQ(result.proof, nullptr);
      EXPECT_THAT(result.error, HasSubstr("partition 1"));
      EXPECT_EQ(engine->Snapshot().kinds[kind].completed_total, 0u);
    }
  }
}

TEST(ContractRows, S6_EveryRefusalHasItsCodeAndEveryFailureItsReason) {
  SmallEngine engine({.engine = {.max_unfinished_jobs = 1, .max_request_bytes = 20}});
  EXPECT_TRUE(absl::IsInvalidArgument(engine->Submit({.vanilla = {.kind = 77}}).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(engine->Submit({.vanilla = SmallRequest(std::string(21, '1'))}).status()));
  engine.device().Hold();
  JobTicket running = engine.Submit("a", "1");
  EXPECT_TRUE(absl::IsResourceExhausted(engine->Submit({.vanilla = SmallRequest("1")}).status()));
  engine.device().Release();
  EXPECT_EQ(engine.Await(running).state, JobState::kCompleted);
  engine.parameters().available = false;
  EXPECT_TRUE(absl::IsFailedPrecondition(engine->Submit({.vanilla = SmallRequest("1", Kind::kSnap)}).status()));
  engine.parameters().available = true;
  EXPECT_TRUE(absl::IsNotFound(engine->Await("nobody", {}).status()));
  EXPECT_TRUE(absl::IsNotFound(engine->Cancel("nobody").status()));
  JobResult failed = engine.Prove("2 bad1");
  EXPECT_EQ(failed.state, JobState::kFailed);
  EXPECT_EQ(failed.job_id.size(), 36u);
  EXPECT_THAT(failed.error, testing::StartsWith("partition 1001, challenge 7"));  // what is wrong where
  engine->Drain(steady_clock::now());
  EXPECT_TRUE(absl::IsUnavailable(engine->Submit({.vanilla = SmallRequest("1")}).status()));
}

TEST(ContractRows, S7_AwaitKeepsItsTimeoutCancelCancelsAndStatusIsTrue) {
  SmallEngine engine;
  engine.device().Hold();
  JobTicket ticket = engine.Submit("long", "9");
  auto begin = steady_clock::now();
  EXPECT_TRUE(absl::IsDeadlineExceeded(engine->Await("long", begin + milliseconds(200)).status()));
  EXPECT_GE(steady_clock::now() - begin, milliseconds(200));
  // Two are inside the device and have given their buffers back, two wait with theirs.
  engine.WaitFor([&](const EngineStatus& s) {
    return engine.device().waiting() == 2 && s.devices[0].queued == 2 && s.devices[0].pool.used_slabs == 2;
  });
  EngineStatus status = engine->Snapshot();
  // Nine partitions of one job, on two workers: one job.
  EXPECT_EQ(status.kinds[Kind::kPorep].in_progress, 1u);
  EXPECT_EQ(status.kinds[Kind::kPorep].pending, 0u);
  EXPECT_GE(status.devices[0].pool.total_bytes, status.devices[0].pool.used_bytes);
  ASSERT_EQ(status.parameters.size(), 1u);
  EXPECT_GT(status.parameters[0].host_bytes, 0u);
  EXPECT_TRUE(status.parameters[0].in_use);
  EXPECT_TRUE(absl::IsFailedPrecondition(engine->Evict("porep-2k").status()));
  EXPECT_TRUE(*engine->Cancel("long"));
  EXPECT_EQ(engine.Await(ticket).state, JobState::kCancelled);
  engine.WaitFor([](const EngineStatus& s) { return s.devices[0].pool.used_slabs == 0 && !s.parameters[0].in_use; });
  EXPECT_GT(engine->Evict("porep-2k")->freed_bytes, 0u);
  EXPECT_EQ(engine->Snapshot().parameters.size(), 0u);
}

TEST(ContractRows, S9_ADrainRefusesOthersLetsRunningJobsEndAndKeepsTheRest) {
  ScratchDir scratch;
  SmallEngineOptions options{.engine = {.state_directory = scratch / "state"}};
  JobTicket ends, stays;
  {
    SmallEngine engine(options);
    engine.device().Hold();
    ends = engine.Submit("ends", "1");
    engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting() == 1; });
    std::jthread client([&] {
      while (engine->Ready().ok()) std::this_thread::yield();
      EXPECT_TRUE(absl::IsUnavailable(engine->Submit({.vanilla = SmallRequest("1")}).status()));
      engine.device().Release();
    });
    EXPECT_EQ(engine->Drain(steady_clock::now() + minutes(5)), 0u);
    EXPECT_EQ(engine.Await(ends).state, JobState::kCompleted);
  }
  {
    SmallEngine engine(options);
    engine.device().Hold();
    stays = engine.Submit("stays", "1");
    EXPECT_EQ(engine->Drain(steady_clock::now() + milliseconds(10)), 1u);
    EXPECT_TRUE(absl::IsUnavailable(engine->Await(stays.key, {}).status()));
  }
  SmallEngine engine(options);
  EXPECT_EQ(engine->Await("ends", {})->state, JobState::kCompleted);
  EXPECT_EQ(engine->Await("stays", steady_clock::now() + minutes(5))->state, JobState::kCompleted);
}

TEST(ContractRows, S11_OneBudgetCountsRequestsWitnessesPinnedMemoryAndParameters) {
  SmallEngine engine;
  engine.device().Hold();
  JobTicket ticket = engine.Submit("a", "9");
  engine.WaitFor([&](const EngineStatus& status) { return status.devices[0].queued == 2; });
  EngineStatus status = engine->Snapshot();
  uint64_t sum = 0;
  for (uint64_t bytes : status.budget.used_by_class) {
    EXPECT_GT(bytes, 0u);
    sum += bytes;
  }
  EXPECT_EQ(sum, status.budget.used_bytes);
  EXPECT_EQ(status.budget.used_by_class[static_cast<size_t>(memory::MemoryClass::kPinned)],
            status.devices[0].pool.total_bytes);
  EXPECT_EQ(status.budget.used_by_class[static_cast<size_t>(memory::MemoryClass::kParameters)],
            status.parameters[0].host_bytes);
  engine.device().Release();
  EXPECT_EQ(engine.Await(ticket).state, JobState::kCompleted);
  engine.WaitFor([](const EngineStatus& after) {
    return after.budget.used_by_class[static_cast<size_t>(memory::MemoryClass::kRequests)] == 0;
  });
}

TEST(ContractRows, S12_EveryRegisteredCodeHasItsCircuitOrIsNamed) {
  const FilecoinWork work(r1cs::Layout::kNarrow);
  constexpr std::string_view kSizes[] = {"2k", "8m", "512m", "32g", "64g"};
  auto check = [&](Kind kind, uint64_t number) {
    const uint64_t number_of_kind = static_cast<uint64_t>(kind);
    filecoin::VanillaRequest request{.kind = number_of_kind, .registered_proof = number, .vanilla_proof = "{}"};
    const auto* row = filecoin::FindRegisteredProof(kind, number);
    if (kind != Kind::kPorep && row != nullptr) {
      request.vanilla_proof.clear();
      std::string item(row->circuit->vanilla_bytes, '\0');
      request.vanilla_proofs.assign(kind == Kind::kSnap ? row->partitions() : 1, item);
      request.randomness = request.comm_r_old = request.comm_r_new = request.comm_d_new = std::string(32, '\0');
    }
    return work.Check(request);
  };
  for (uint64_t number = 0; number < 25; ++number) {
    for (Kind kind : {Kind::kPorep, Kind::kSnap, Kind::kWindow, Kind::kWinning}) {
      bool known = kind == Kind::kPorep     ? number <= 14
                   : kind == Kind::kSnap    ? number <= 4
                   : kind == Kind::kWinning ? number <= 4
                                            : number >= 5 && number <= 14;
      auto facts = check(kind, number);
      SCOPED_TRACE(StrCat(filecoin::KindInfo(kind).name, " ", number));
      if (known) {
        ASSERT_TRUE(facts.ok()) << facts.status();
        EXPECT_EQ(facts->proof->circuit->id,
                  StrCat(filecoin::KindInfo(kind).circuit_prefix, "-", kSizes[number % std::size(kSizes)]));
        // Window numbers 10 to 14, "V1_1" elsewhere, are V1_2 of the proofs' API.
        const bool newest = facts->proof->version == filecoin::ApiVersion::kV1_2;
        EXPECT_TRUE(kind != Kind::kWindow || newest == (number >= 10));
      } else if (kind == Kind::kPorep && number <= 19) {
        EXPECT_TRUE(absl::IsUnimplemented(facts.status())) << facts.status();
      } else {
        EXPECT_TRUE(absl::IsInvalidArgument(facts.status())) << facts.status();
        EXPECT_THAT(std::string(facts.status().message()), HasSubstr(StrCat(number)));
      }
    }
  }
}

TEST(ContractRows, S14_APayloadIsMovedThroughIntakeNotCopied) {
  SmallEngine engine;
  engine.device().HoldLoads();
  std::string payload = "1 slow" + std::string(1 << 20, ' ');
  filecoin::VanillaRequest request = SmallRequest("");
  request.vanilla_proof = std::move(payload);
  const char* bytes = request.vanilla_proof.data();
  auto ticket = engine->Submit({.request_id = "a", .vanilla = std::move(request)});
  ASSERT_TRUE(ticket.ok());
  engine.WaitFor([&](const EngineStatus&) { return engine.work().parsing() != nullptr; });
  EXPECT_EQ(engine.work().parsing(), bytes);
  engine.work().ReleaseSlow();
  engine.device().Release();
  EXPECT_EQ(engine.Await(*ticket).state, JobState::kCompleted);
}

}  // namespace
}  // namespace cuzk::engine
