#include "daemon/app/telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(TelemetryTest, TheSeriesOfTheIncumbentAreKept) {
  engine::EngineStatus status;
  status.uptime_seconds = 5;
  status.kinds[filecoin::Kind::kPorep] = {.pending = 2, .in_progress = 1, .completed_total = 7, .failed_total = 3};
  status.devices.push_back({.name = "cpu", .ordinal = -1, .workers = {{}, {}}});
  Metrics metrics;
  PublishStatus(status, metrics);
  std::string text = metrics.Text();
  for (const char* line :
       {"cuzk_proofs_completed_total{proof_kind=\"porep_c2\"} 7", "cuzk_queue_depth 2",
        "cuzk_proofs_failed_total{proof_kind=\"porep_c2\"} 3", "cuzk_running_jobs 1", "cuzk_gpu_workers 2",
        "cuzk_uptime_seconds 5", "cuzk_gpu_healthy{gpu=\"cpu\",gpu_uuid=\"\"} 1"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(TelemetryTest, DevicesHaveTheKeysOfOtherExporters) {
  engine::EngineStatus status;
  engine::DeviceStatus device{.name = "NVIDIA H200", .ordinal = 3};
  device.identity = {.uuid = "GPU-12", .driver = "580.95.05", .compute_capability = "9.0"};
  device.memory = {.total = 100, .free = 30};
  device.memory_seconds_ago = 2;
  device.busy_seconds_total = 12.5;
  device.stage_seconds = {{"msm h", 4}};
  device.pool.allocations_total = 6;
  status.devices.push_back(device);
  Metrics metrics;
  PublishStatus(status, metrics);
  std::string text = metrics.Text();
  for (const char* line :
       {"cuzk_gpu_info{cc=\"9.0\",driver=\"580.95.05\",gpu=\"3\",gpu_uuid=\"GPU-12\",name=\"NVIDIA H200\"} 1",
        "cuzk_gpu_memory_used_bytes{gpu=\"3\",gpu_uuid=\"GPU-12\"} 70",
        "cuzk_gpu_telemetry_age_seconds{gpu=\"3\",gpu_uuid=\"GPU-12\"} 2",
        "cuzk_gpu_busy_seconds_total{gpu=\"3\",gpu_uuid=\"GPU-12\"} 12.5",
        "cuzk_gpu_stage_seconds_total{gpu=\"3\",gpu_uuid=\"GPU-12\",stage=\"msm h\"} 4",
        "cuzk_pinned_pool_allocations_total 6"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(TelemetryTest, TheOldestUnfinishedJobOfAKindIsMeasured) {
  engine::EngineStatus status;
  status.kinds[filecoin::Kind::kWindow] = {};
  status.kinds[filecoin::Kind::kWinning] = {};
  engine::JobStatus job;
  job.progress.kind = filecoin::Kind::kWindow;
  for (double age : {20.0, 1300.0, 4.0}) {
    job.submitted_seconds_ago = age;
    status.jobs.push_back(job);
  }
  job.submitted_seconds_ago = 5000;
  job.finished_seconds_ago = 3;
  status.jobs.push_back(job);
  Metrics metrics;
  PublishStatus(status, metrics);
  EXPECT_THAT(metrics.Text(), HasSubstr("cuzk_oldest_job_age_seconds{proof_kind=\"window_post\"} 1300"));
  EXPECT_THAT(metrics.Text(), HasSubstr("cuzk_oldest_job_age_seconds{proof_kind=\"winning_post\"} 0"));
}

TEST(TelemetryTest, EveryCounterIsPublished) {
  // Each counter is one of a row of equal numbers: it has a value of its own, and is sought by that.
  engine::EngineStatus status;
  constexpr size_t kCounters = sizeof status.counters / sizeof(uint64_t);
  const auto values = reinterpret_cast<uint64_t*>(&status.counters);
  for (size_t i = 0; i < kCounters; ++i) values[i] = 770'000 + i;
  Metrics metrics;
  PublishStatus(status, metrics);
  for (size_t i = 0; i < kCounters; ++i) EXPECT_THAT(metrics.Text(), HasSubstr(StrCat("_total ", values[i], "\n")));
}

TEST(TelemetryTest, RefusingJobsIsSeen) {
  engine::EngineStatus status;
  Metrics metrics;
  PublishStatus(status, metrics);
  EXPECT_THAT(metrics.Text(), HasSubstr("cuzk_ready 1"));
  status.not_ready = "draining";
  PublishStatus(status, metrics);
  EXPECT_THAT(metrics.Text(), HasSubstr("cuzk_ready 0"));
}

TEST(TelemetryTest, DevelopmentParametersAreSeen) {
  engine::EngineStatus status;
  prover::ParameterStatus parameters{
      .circuit = "porep-2k", .state = prover::ParameterStatus::State::kReady, .host_bytes = 10, .development = true};
  status.parameters.push_back(parameters);
  Metrics metrics;
  PublishStatus(status, metrics);
  EXPECT_THAT(metrics.Text(), HasSubstr("cuzk_development_parameters_loaded 1"));
  status.parameters.clear();
  PublishStatus(status, metrics);
  EXPECT_THAT(metrics.Text(), HasSubstr("cuzk_development_parameters_loaded 0"));
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("porep-2k")));
}

TEST(TelemetryTest, DevelopmentParametersAreLoggedOncePerCircuit) {
  std::ostringstream out;
  Logger log({.stream = &out});
  Metrics metrics;
  Telemetry telemetry(log, metrics);
  prover::ParameterStatus parameters{
      .circuit = "porep-2k", .state = prover::ParameterStatus::State::kReady, .development = true};
  telemetry.set_parameters([&] { return std::vector{parameters}; });
  telemetry.OnStage(filecoin::Kind::kPorep, engine::Stage::kLoadingParameters, 1);
  telemetry.OnStage(filecoin::Kind::kPorep, engine::Stage::kLoadingParameters, 1);
  std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_THAT(text, HasSubstr("development parameters loaded"));
  EXPECT_THAT(text, HasSubstr("circuit=porep-2k"));
}

TEST(TelemetryTest, AnAcceptedJobIsLoggedWithItsPositionInTheQueue) {
  std::ostringstream out;
  Logger log({.stream = &out});
  Metrics metrics;
  Telemetry telemetry(log, metrics);
  telemetry.OnAccepted({.job_id = "a", .queue_position = 3}, filecoin::Kind::kPorep, 5);
  EXPECT_THAT(out.str(), HasSubstr("queue_position=3"));
  EXPECT_THAT(out.str(), Not(HasSubstr("jobs_before")));
}

// Request ids hold brackets and blanks, and may hold anything: in the log they are escaped, in labels they never are.
TEST(TelemetryTest, S02_RequestIdsStayOnTheirLineAndOutOfLabels) {
  std::ostringstream out;
  Logger log({.stream = &out});
  Metrics metrics;
  Telemetry telemetry(log, metrics);
  engine::JobResult result{.job_id = "wdpost-1000-0-[18 52 86 1 2 3 4 5]\nforged",
                           .kind = filecoin::Kind::kWindow,
                           .state = engine::JobState::kFailed,
                           .error = "partition 0: x\ny"};
  telemetry.OnJob(result, 1.5);
  telemetry.OnStage(filecoin::Kind::kWindow, engine::Stage::kSynthesis, 0.3);
  std::string line = out.str();
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_THAT(line, HasSubstr("job_id=\"wdpost-1000-0-[18 52 86 1 2 3 4 5]\\nforged\""));
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("wdpost")));
  EXPECT_THAT(metrics.Text(), HasSubstr("cuzk_stage_duration_seconds_count{stage=\"synthesis\"} 1"));
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("cuzk_proof_duration_seconds_count{proof_kind=\"window_post\"}")));
}

}  // namespace
}  // namespace cuzk::daemon
