// The whole engine on the CPU device: recorded requests of all kinds at once, proved, and verified here a second time
// from public data alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>

#include "core/engine/engine.h"
#include "core/filecoin/request_directory.h"
#include "core/groth16/verifier.h"
#include "core/memory/detect.h"
#include "core/prover/cpu/cpu_device.h"
#include "tests/doubles/engine_options.h"
#include "tests/fixtures.h"
#include "tests/unit/groth16/scratch_dir.h"
#include "tests/unit/memory/faulty_allocator.h"

namespace cuzk::engine {
namespace {

using filecoin::Kind;
using std::chrono::minutes;
using std::chrono::steady_clock;

class EngineProof : public testing::Test {
 protected:
  void SetUp() override { Begin({}); }
  /// Starts the engine; `refuse` as of the budget.
  void Begin(std::function<bool(memory::MemoryClass, uint64_t)> refuse) {
    auto arithmetic = algebra::ResolveArithmetic(std::getenv("CUZK_CPU_ARITHMETIC"));
    ASSERT_TRUE(arithmetic.ok()) << arithmetic.status();
    device_ = prover::MakeCpuDevice({.pool = &pool_, .arithmetic = *arithmetic, .allocator = &allocator_});
    auto limits = memory::DetectMemory();
    ASSERT_TRUE(limits.ok()) << limits.status();
    budget_ = std::make_unique<memory::Budget>(
        memory::BudgetOptions{.limit_bytes = memory::DefaultBudget(*limits), .refuse = std::move(refuse)});
    EngineOptions options{.parameter_directory = parameters_, .allow_development = true};
    // Made a moment ago and checked by whoever made them.
    options.digest = prover::DigestPolicy::kSkip;
    options.points = groth16::PointPolicy::kCanonical;
    EngineParts parts{.budget = budget_.get(), .devices = {device_.get()}, .pool = &pool_, .arithmetic = *arithmetic};
    auto engine = Engine::Create(testing_support::Filled(options), parts);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
  }
  void TearDown() override {
    engine_.reset();
    EXPECT_EQ(budget_->Snapshot().used_bytes, 0u);
    EXPECT_EQ(allocator_.bytes_out(), 0u);
  }

  static std::filesystem::path Recorded(const std::string& name) {
    return testing_support::Vectors() / "filecoin" / name;
  }

  /// Submits a recorded request; `change` may spoil it first.
  JobTicket Submit(const std::string& name, const std::function<void(filecoin::VanillaRequest&)>& change = {}) {
    auto request = filecoin::ReadRequestDirectory(Recorded(name));
    EXPECT_TRUE(request.ok()) << request.status();
    if (!request.ok()) return {};
    if (change) change(request->request);
    auto ticket = engine_->Submit({.request_id = request->request_id, .vanilla = std::move(request->request)});
    EXPECT_TRUE(ticket.ok()) << ticket.status();
    if (!ticket.ok()) return {};
    names_[ticket->key] = name;
    return *ticket;
  }

  JobResult Await(const JobTicket& ticket) {
    auto result = engine_->Await(ticket.key, steady_clock::now() + minutes(25));
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : JobResult{};
  }

  /// The proof of a job verifies against what the directory says publicly.
  void ExpectValid(const JobTicket& ticket) {
    JobResult result = Await(ticket);
    SCOPED_TRACE(names_[ticket.key]);
    ASSERT_EQ(result.state, JobState::kCompleted) << result.error;
    auto verification = filecoin::ReadVerification(Recorded(names_[ticket.key]));
    ASSERT_TRUE(verification.ok()) << verification.status();
    auto key = groth16::VerifyingKey::FromFile(std::filesystem::path(CUZK_TEST_PARAMETERS) /
                                               verification->proof->circuit->key_file());
    ASSERT_TRUE(key.ok()) << key.status();
    ASSERT_EQ(result.proof->size(), verification->public_inputs.size() * groth16::Proof::kBytes);
    std::vector<groth16::Statement> statements;
    for (size_t i = 0; i < verification->public_inputs.size(); ++i) {
      auto bytes = AsBytes(*result.proof).subspan(i * groth16::Proof::kBytes).first<groth16::Proof::kBytes>();
      auto proof = groth16::Proof::FromBytes(bytes);
      ASSERT_TRUE(proof.ok()) << proof.status();
      statements.push_back({*proof, verification->public_inputs[i]});
    }
    auto wrong = groth16::Verifier(*key).FindWrong(statements, pool_);
    ASSERT_TRUE(wrong.ok()) << wrong.status();
    EXPECT_THAT(*wrong, testing::IsEmpty());
  }

  std::filesystem::path parameters_ = CUZK_TEST_PARAMETERS;
  ThreadPool pool_{0};
  testing_support::FaultyAllocator allocator_;
  std::unique_ptr<prover::Device> device_;
  std::unique_ptr<memory::Budget> budget_;
  std::unique_ptr<Engine> engine_;
  std::map<uint64_t, std::string> names_;
};

TEST_F(EngineProof, SmallParametersThatAreLoadedAreUsedWithoutTheirFile) {
  testing_support::ScratchDir links;
  for (const auto& entry : std::filesystem::directory_iterator(CUZK_TEST_PARAMETERS)) {
    std::filesystem::create_symlink(entry.path(), links / entry.path().filename().string());
  }
  engine_.reset();
  parameters_ = links.path();
  Begin({});
  ExpectValid(Submit("winning/2KiB-winning-1000-a"));
  for (const auto& entry : std::filesystem::directory_iterator(links.path())) std::filesystem::remove(entry.path());
  auto again = filecoin::ReadRequestDirectory(Recorded("winning/2KiB-winning-1000-a"));
  ASSERT_TRUE(again.ok()) << again.status();
  auto ticket = engine_->Submit({.request_id = "again", .vanilla = std::move(again->request)});
  ASSERT_TRUE(ticket.ok()) << ticket.status();
  names_[ticket->key] = "winning/2KiB-winning-1000-a";
  ExpectValid(*ticket);
}

TEST_F(EngineProof, SeveralSmallJobsAtOnce) {
  std::vector<JobTicket> tickets;
  for (const char* name : {"window/2KiB-window-1000-1of3-part1", "window/2KiB-window_v1_2-1000-1of1-part0",
                           "winning/2KiB-winning-1000-a", "window/2KiB-window_v1_2-1000-2of4-part1"}) {
    tickets.push_back(Submit(name));
  }
  JobTicket again = Submit("winning/2KiB-winning-1000-a");
  EXPECT_TRUE(again.joined);
  JobTicket spoilt = Submit("window/2KiB-window_v1_2-1000-1of1-part0", [](filecoin::VanillaRequest& request) {
    std::string& item = request.vanilla_proofs[0];
    item[item.size() / 2] = static_cast<char>(item[item.size() / 2] ^ 1);
  });
  EXPECT_FALSE(spoilt.joined);  // the same id, another payload
  for (const JobTicket& ticket : tickets) ExpectValid(ticket);
  JobResult bad = Await(spoilt);
  EXPECT_EQ(bad.state, JobState::kFailed);
  EXPECT_EQ(bad.error, "sector 85 (item 0), challenge 5: root is not comm_r_last");
  EngineStatus status = engine_->Snapshot();
  EXPECT_EQ(status.kinds[Kind::kWindow].completed_total, 3u);
  EXPECT_EQ(status.kinds[Kind::kWinning].completed_total, 1u);
  EXPECT_EQ(status.counters.wrong_proofs_total, 0u);
  ASSERT_EQ(status.parameters.size(), 2u);
  EXPECT_TRUE(status.parameters[0].development);
  EXPECT_THAT(engine_->TimelineJson(), testing::HasSubstr("msm h"));
}

TEST_F(EngineProof, AllKindsAtOnce) {
  std::vector<JobTicket> tickets;
  for (const char* name : {"porep/2KiB-v1_1-1000-84", "snap/2KiB-snap-1000-85", "winning/2KiB-winning-1000-a",
                           "window/2KiB-window-1000-1of3-part1"}) {
    tickets.push_back(Submit(name));
  }
  auto watcher = *engine_->Watch("");
  uint32_t ended = 0;
  std::map<uint64_t, double> fractions;
  while (ended < tickets.size()) {
    auto progress = watcher->Next(steady_clock::now() + minutes(25), {});
    ASSERT_TRUE(progress);
    EXPECT_GE(progress->fraction, fractions[progress->key]);
    fractions[progress->key] = progress->fraction;
    ended += IsFinal(progress->state);
  }
  for (const JobTicket& ticket : tickets) ExpectValid(ticket);
  EXPECT_EQ(engine_->Snapshot().devices[0].pool.used_slabs, 0u);
}

TEST_F(EngineProof, EveryAllocationThatFailsIsSurvived) {
  constexpr const char* kRequest = "winning/2KiB-winning-1000-a";
  size_t failed = 0, retried = 0;
  for (size_t n = 0;; ++n) {
    TearDown();
    Begin({});
    const size_t first = allocator_.calls() + n;
    allocator_.Fail(first, 1);
    JobResult result = Await(Submit(kRequest));
    const bool struck = allocator_.calls() > first;
    allocator_.FailNever();
    if (result.state == JobState::kFailed) {
      EXPECT_THAT(result.error, testing::HasSubstr("no memory (injected)")) << n;
      failed++;
    } else {
      EXPECT_EQ(result.state, JobState::kCompleted) << n;
      retried += struck;
    }
    if (!struck) break;
    ExpectValid(Submit(kRequest));
  }
  std::printf("%zu failing allocations ended the job, after %zu the partition was proved again\n", failed, retried);
  EXPECT_GT(failed + retried, 5u);
}

TEST_F(EngineProof, EveryReservationForAnAllocationThatIsRefusedIsSurvived) {
  constexpr const char* kRequest = "winning/2KiB-winning-1000-a";
  for (int n = 0;; ++n) {
    TearDown();
    std::atomic<int> calls = 0;
    Begin([&](memory::MemoryClass, uint64_t) { return calls++ == n; });
    auto request = filecoin::ReadRequestDirectory(Recorded(kRequest));
    ASSERT_TRUE(request.ok()) << request.status();
    auto ticket = engine_->Submit({.vanilla = std::move(request->request)});
    if (ticket.ok()) {
      JobResult result = Await(*ticket);
      if (result.state != JobState::kCompleted) {
        EXPECT_EQ(result.state, JobState::kFailed);
        EXPECT_THAT(result.error, testing::HasSubstr("do not fit into the memory budget")) << n;
      }
    } else {
      EXPECT_TRUE(absl::IsResourceExhausted(ticket.status())) << ticket.status();
    }
    const bool struck = calls > n;
    calls = n + 1;  // the next proof goes undisturbed
    ExpectValid(Submit(kRequest));
    TearDown();  // nothing of it calls the counter below any more
    Begin({});
    if (!struck) break;
  }
}

}  // namespace
}  // namespace cuzk::engine
