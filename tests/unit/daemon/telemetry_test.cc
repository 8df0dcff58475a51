#include "daemon/telemetry.h"

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
  for (const char* line : {"cuzk_proofs_completed_total{proof_kind=\"porep_c2\"} 7", "cuzk_queue_depth 2",
                           "cuzk_proofs_failed_total{proof_kind=\"porep_c2\"} 3", "cuzk_running_jobs 1",
                           "cuzk_gpu_workers 2", "cuzk_uptime_seconds 5", "cuzk_gpu_healthy{gpu=\"cpu\"} 1"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
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
  EXPECT_THAT(line, HasSubstr("job_id=wdpost-1000-0-[18 52 86 1 2 3 4 5]\\nforged"));
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("wdpost")));
  EXPECT_THAT(metrics.Text(), HasSubstr("cuzk_stage_duration_seconds_count{stage=\"synthesis\"} 1"));
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("cuzk_proof_duration_seconds_count{proof_kind=\"window_post\"}")));
}

}  // namespace
}  // namespace cuzk::daemon
