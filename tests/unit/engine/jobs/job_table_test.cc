#include "core/engine/jobs/job_table.h"

#include <gtest/gtest.h>

#include "core/engine/intake.h"
#include "core/engine/reports/timeline.h"
#include "core/engine/schedule/estimator.h"
#include "core/engine/schedule/policy.h"
#include "core/store/payload.h"

namespace cuzk::engine {
namespace {

using filecoin::Kind;
using std::chrono::seconds;

Submission MakeSubmission(const std::string& id, uint8_t payload, Kind kind = Kind::kWindow) {
  Submission submission;
  submission.job_id = id;
  submission.facts.kind = kind;
  submission.facts.proof = filecoin::FindRegisteredProof(kind, kind == Kind::kPorep ? 5 : 0);
  submission.digest[0] = payload;
  return submission;
}

/// Ends a job as the thread of a caller does.
void Finish(JobTable& table, Job& job, JobState state, const std::string& text, TimePoint now) {
  table.Finish(job, {state, text}, now, Life::kEnded, Actor::kCaller);
}

TEST(JobTable, JoinsOnlyEqualUnfinishedJobs) {
  JobTable table({.max_results = 1000, .age = seconds(3600)});
  auto first = table.Add(MakeSubmission("x", 1), {});
  EXPECT_EQ(table.FindEqual("x", Kind::kWindow, first->digest), first);
  EXPECT_EQ(table.FindEqual("x", Kind::kWinning, first->digest), nullptr);
  EXPECT_EQ(table.FindEqual("y", Kind::kWindow, first->digest), nullptr);
  auto second = table.Add(MakeSubmission("x", 2), {});
  EXPECT_NE(first, second);
  EXPECT_EQ(table.FindEqual("x", Kind::kWindow, first->digest), first);
  EXPECT_EQ(table.Newest("x"), second);
  Finish(table, *first, JobState::kFailed, "why", {});
  EXPECT_EQ(table.FindEqual("x", Kind::kWindow, first->digest), nullptr);
  EXPECT_EQ(table.Newest("x"), second);
  EXPECT_EQ(table.unfinished(), 1u);
}

TEST(JobTable, AJobEndsOnceAndStopsItsWorkers) {
  JobTable table({.max_results = 1000, .age = seconds(3600)});
  auto job = table.Add(MakeSubmission("x", 1), TimePoint{} + seconds(1));
  job->partitions.resize(2);
  Finish(table, *job, JobState::kCancelled, "by request", TimePoint{} + seconds(3));
  EXPECT_DEATH(Finish(table, *job, JobState::kCompleted, "proof", TimePoint{} + seconds(4)), "from ended to ended");
  EXPECT_TRUE(job->stop.stop_requested());
  EXPECT_EQ(job->partitions[1].state, PartitionState::kFailed);
  JobResult result = ResultOf(*job);
  EXPECT_EQ(result.state, JobState::kCancelled);
  EXPECT_EQ(result.error, "by request");
  EXPECT_EQ(result.proof, nullptr);
}

TEST(JobTable, KeepsResultsByCountAndAge) {
  JobTable table({.max_results = 3, .age = seconds(10)});
  for (int i = 0; i < 100; ++i) {
    auto job = table.Add(MakeSubmission(StrCat("job ", i), 1), {});
    Finish(table, *job, JobState::kCompleted, "p", TimePoint{} + seconds(i));
    EXPECT_LE(table.jobs().size(), 3u);
  }
  EXPECT_EQ(table.Newest("job 0"), nullptr);
  ASSERT_NE(table.Newest("job 99"), nullptr);
  EXPECT_EQ(*ResultOf(*table.Newest("job 99")).proof, "p");
  table.Prune(TimePoint{} + seconds(108));
  EXPECT_EQ(table.Newest("job 97"), nullptr);
  EXPECT_NE(table.Newest("job 98"), nullptr);
  table.Prune(TimePoint{} + seconds(1000));
  EXPECT_EQ(table.jobs().size(), 0u);
  EXPECT_EQ(table.ended(), 0u);
}

TEST(JobTable, FetchedResultsGoFirstThenFailuresThenProofsThatNobodyFetched) {
  JobTable table({.max_results = 4, .age = seconds(100000)});
  int ended = 0;
  auto end = [&](const std::string& id, JobState state) {
    auto job = table.Add(MakeSubmission(id, 1), {});
    Finish(table, *job, state, "p", TimePoint{} + seconds(++ended));
    return job;
  };
  auto known = [&] {
    std::set<std::string> ids;
    for (const auto& [key, job] : table.jobs()) ids.insert(job->id);
    return ids;
  };
  using Ids = std::set<std::string>;
  end("proof 1", JobState::kCompleted);
  auto fetched = end("fetched", JobState::kCompleted);
  end("failed", JobState::kFailed);
  auto heard = end("heard", JobState::kCancelled);
  EXPECT_TRUE(table.Fetched(*heard));
  EXPECT_TRUE(table.Fetched(*fetched));
  EXPECT_FALSE(table.Fetched(*fetched));
  EXPECT_EQ(table.ended(), 4u);
  end("proof 2", JobState::kCompleted);
  EXPECT_EQ(known(), (Ids{"proof 1", "failed", "heard", "proof 2"}));
  end("proof 3", JobState::kCompleted);
  EXPECT_EQ(known(), (Ids{"proof 1", "failed", "proof 2", "proof 3"}));
  for (int i = 0; i < 5000; ++i) end("flood", JobState::kFailed);
  EXPECT_EQ(known(), (Ids{"proof 1", "flood", "proof 2", "proof 3"}));
  end("proof 4", JobState::kCompleted);
  EXPECT_EQ(known(), (Ids{"proof 1", "proof 2", "proof 3", "proof 4"}));
  auto lost = end("nobody's", JobState::kFailed);  // at once
  EXPECT_FALSE(table.Fetched(*lost));
  end("proof 5", JobState::kCompleted);
  EXPECT_EQ(known(), (Ids{"proof 2", "proof 3", "proof 4", "proof 5"}));
  // Age is the same for all.
  table.Prune(TimePoint{} + seconds(ended - 1 + 100000 + 1));
  EXPECT_EQ(known(), (Ids{"proof 5"}));
}

TEST(JobTable, UnfinishedJobsAreNeverForgotten) {
  JobTable table({.max_results = 1, .age = seconds(0)});
  auto running = table.Add(MakeSubmission("x", 1), {});
  for (uint8_t i = 0; i < 10; ++i) {
    Finish(table, *table.Add(MakeSubmission("x", i), {}), JobState::kFailed, "e", TimePoint{} + seconds(i));
  }
  table.Prune(TimePoint{} + seconds(100));
  EXPECT_EQ(table.Newest("x"), running);
}

TEST(Intake, DigestCoversEveryFieldThatMatters) {
  filecoin::VanillaRequest base{.kind = 1, .registered_proof = 5, .vanilla_proof = "ab"};
  std::set<Bytes32> digests = {store::PayloadDigest(base)};
  auto differs = [&](auto change) {
    filecoin::VanillaRequest request = base;
    change(request);
    return digests.insert(store::PayloadDigest(request)).second;
  };
  EXPECT_TRUE(differs([](auto& r) { r.kind = 2; }));
  EXPECT_TRUE(differs([](auto& r) { r.registered_proof = 6; }));
  EXPECT_TRUE(differs([](auto& r) { r.sector_size = 7; }));
  EXPECT_TRUE(differs([](auto& r) { r.sector_number = 7; }));
  EXPECT_TRUE(differs([](auto& r) { r.miner_id = 7; }));
  EXPECT_TRUE(differs([](auto& r) { r.partition_index = 7; }));
  EXPECT_TRUE(differs([](auto& r) { r.vanilla_proof = "abc"; }));
  EXPECT_TRUE(differs([](auto& r) { r.vanilla_proofs = {"x", "yz"}; }));
  EXPECT_TRUE(differs([](auto& r) { r.vanilla_proofs = {"xy", "z"}; }));
  EXPECT_TRUE(differs([](auto& r) { r.randomness = "r"; }));
  EXPECT_TRUE(differs([](auto& r) { r.comm_r_old = "r"; }));
  EXPECT_TRUE(differs([](auto& r) { r.comm_r_new = "r"; }));
  EXPECT_TRUE(differs([](auto& r) { r.comm_d_new = "r"; }));
  EXPECT_FALSE(differs([](auto&) {}));
}

TEST(Intake, EmptyIdsBecomeRandomUuids) {
  std::string uuid = RandomUuid();
  ASSERT_EQ(uuid.size(), 36u);
  EXPECT_EQ(uuid[14], '4');
  EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos);
  EXPECT_NE(uuid, RandomUuid());
}

TEST(Intake, PriorityZeroIsTheKindsDefault) {
  EXPECT_EQ(PriorityOf(0, Kind::kWinning), Priority::kCritical);
  EXPECT_EQ(PriorityOf(0, Kind::kWindow), Priority::kHigh);
  EXPECT_EQ(PriorityOf(0, Kind::kPorep), Priority::kNormal);
  EXPECT_EQ(PriorityOf(0, Kind::kSnap), Priority::kNormal);
  EXPECT_EQ(PriorityOf(1, Kind::kWinning), Priority::kLow);
  EXPECT_EQ(PriorityOf(5, Kind::kWinning), Priority::kNormal);
}

Job RunningJob(uint32_t partitions) {
  Job job;
  job.circuit = "porep-2k";
  job.life.Take(Life::kParsing, Actor::kScheduler);
  job.life.Take(Life::kProving, Actor::kSynthesis);
  job.started = TimePoint{};
  job.partitions_total = partitions;
  job.partitions.resize(partitions);
  return job;
}

TEST(Estimator, FractionGrowsWithEveryStep) {
  Estimator estimator;
  Job job = RunningJob(3);
  double before = estimator.Fraction(job);
  for (PartitionRecord& partition : job.partitions) {
    for (PartitionState state : {PartitionState::kSynthDone, PartitionState::kGpu, PartitionState::kDone}) {
      partition.state = state;
      if (state == PartitionState::kGpu) partition.device_fraction = 0.5;
      double now = estimator.Fraction(job);
      EXPECT_GE(now, before);
      before = now;
    }
  }
  EXPECT_LT(before, 1);  // it is still to be verified
  job.life.Take(Life::kEnded, Actor::kFinisher);
  job.outcome = JobState::kCompleted;
  EXPECT_EQ(estimator.Fraction(job), 1);
}

TEST(Timeline, IsBoundedAndEscapes) {
  TimelineLog log(TimePoint{}, 3);
  for (uint32_t i = 0; i < 10; ++i) {
    log.Add({.track = "device 0 worker 1",
             .name = "h2d",
             .begin = TimePoint{} + seconds(i),
             .end = TimePoint{} + seconds(i + 1),
             .job_key = 1,
             .job_id = "a\"b\\\n[1 2]",
             .partition = i});
  }
  std::string json = log.ToJson();
  EXPECT_NE(json.find(R"("job":"a\"b\\\n[1 2]")"), std::string::npos) << json;
  EXPECT_NE(json.find("\"ts\":9000000,\"dur\":1000000"), std::string::npos) << json;
  EXPECT_EQ(json.find("\"partition\":6"), std::string::npos);
  EXPECT_NE(json.find("\"partition\":7"), std::string::npos);
}

}  // namespace
}  // namespace cuzk::engine
