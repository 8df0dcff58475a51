// Estimates are held to what happened: runs that were recorded are replayed event by event, and at each the forecast of
// every job is compared with its true end.

#include "core/engine/schedule/forecast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/fixtures.h"

namespace cuzk::engine {
namespace {

Estimator Measured(const std::string& circuit, double synthesis, double device) {
  Estimator estimator;
  estimator.Measured(circuit, Stage::kSynthesis, synthesis);
  estimator.Measured(circuit, Stage::kDevice, device);
  return estimator;
}

Outlook Queued(uint64_t key, uint32_t partitions, Priority priority = Priority::kNormal) {
  return {.key = key, .priority = priority, .circuit = "porep-32g", .parsed = true, .partitions = partitions};
}

TEST(Forecast, TheQueueBeforeAJobCounts) {
  const Estimator estimator = Measured("porep-32g", 1, 2);
  std::vector<Outlook> jobs;
  for (uint64_t key = 1; key <= 26; ++key) jobs.push_back(Queued(key, 10));
  const auto seconds = Forecast(jobs, estimator, {});
  EXPECT_NEAR(*seconds.at(1), 1 + 10 * 2, 0.01);
  EXPECT_NEAR(*seconds.at(26), 26 * 10 * 2, 2);
  // Two devices halve it.
  EXPECT_NEAR(*Forecast(jobs, estimator, {.synthesis_threads = 2, .devices = 2}).at(26), 26 * 10, 4);
}

TEST(Forecast, TheSlowerLineDecides) {
  const Estimator estimator = Measured("porep-32g", 3, 1);
  EXPECT_NEAR(*Forecast({Queued(1, 10)}, estimator, {}).at(1), 31, 0.01);
  EXPECT_NEAR(*Forecast({Queued(1, 10)}, estimator, {.synthesis_threads = 3}).at(1), 13, 2);
}

TEST(Forecast, UrgentJobsAreBeforeOthersWhateverTheirTurn) {
  const Estimator estimator = Measured("porep-32g", 1, 2);
  const auto seconds = Forecast({Queued(1, 10), Queued(2, 1, Priority::kCritical)}, estimator, {});
  EXPECT_NEAR(*seconds.at(2), 3, 0.01);
  EXPECT_NEAR(*seconds.at(1), 1 + 2 + 20, 1.01);
}

TEST(Forecast, WhatIsDoneOfAJobIsNotLeft) {
  const Estimator estimator = Measured("porep-32g", 1, 2);
  Outlook half = Queued(1, 10);
  half.synthesized = 7;
  half.proved = 5.5;
  EXPECT_NEAR(*Forecast({half}, estimator, {}).at(1), 9, 0.01);
}

TEST(Forecast, LoadingCountsAsFarAsItIsLeft) {
  Estimator estimator = Measured("porep-32g", 1, 2);
  estimator.Measured("porep-32g", Stage::kLoadingParameters, 40);
  Outlook loading = Queued(1, 10);
  loading.loading = true;
  loading.loaded = 0.75;
  EXPECT_NEAR(*Forecast({loading}, estimator, {}).at(1), 10 + 21, 0.01);
}

TEST(Forecast, BehindACircuitThatWasNeverProvedNothingIsSaid) {
  const Estimator estimator = Measured("porep-32g", 1, 2);
  Outlook other = Queued(1, 1);
  other.circuit = "snap-32g";
  const auto seconds = Forecast({other, Queued(2, 1)}, estimator, {});
  EXPECT_FALSE(seconds.at(1).has_value());
  EXPECT_FALSE(seconds.at(2).has_value());
}

// ---- Recorded runs.

/// One line of a run: what ended, for which job and partition, when it began and ended. Seconds since the beginning.
struct Event {
  std::string what;  ///< "submit", "parse", "synthesis", "device", "finish", "verify"
  uint64_t job = 0;
  uint32_t partition = 0;
  double begin = 0, end = 0;
  double kept = 0;  ///< "device": for how long the device was kept from others
};

struct RecordedRun {
  std::string circuit;
  uint32_t partitions = 1;
  Capacity capacity;
  std::vector<Event> events;  // by their ends
};

RecordedRun ReadRun(const std::filesystem::path& path) {
  RecordedRun run;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream in(line);
    std::string what;
    in >> what;
    if (what == "run") {
      in >> run.circuit >> run.partitions >> run.capacity.synthesis_threads >> run.capacity.devices;
      continue;
    }
    Event event{.what = what};
    in >> event.job >> event.partition >> event.begin >> event.end >> event.kept;
    run.events.push_back(event);
  }
  std::stable_sort(run.events.begin(), run.events.end(), [](const Event& x, const Event& y) { return x.end < y.end; });
  return run;
}

Stage StageOfEvent(const std::string& what) {
  if (what == "parse") return Stage::kParsing;
  if (what == "synthesis") return Stage::kSynthesis;
  if (what == "device") return Stage::kDevice;
  return what == "finish" ? Stage::kFinishing : Stage::kVerifying;
}

/// The largest errors of all forecasts after the first proof, as shares of what was really left, of jobs that had at
/// least a twentieth of the run before them: at the very end of a job an estimate of a second may be wrong by half.
double WorstError(const RecordedRun& run) {
  std::map<uint64_t, double> ends;
  for (const Event& event : run.events) {
    if (event.what == "verify") ends[event.job] = event.end;
  }
  const double whole = run.events.back().end;
  Estimator estimator;
  std::map<uint64_t, Outlook> unfinished;
  std::map<uint64_t, std::map<uint32_t, double>> on_device;  // by job and partition: when it began
  bool proved = false;
  double worst = 0;
  for (size_t i = 0; i < run.events.size(); ++i) {
    const Event& event = run.events[i];
    if (event.what == "submit") {
      unfinished[event.job] = {.key = event.job, .circuit = run.circuit, .partitions = run.partitions};
    } else {
      const double seconds = event.what == "device" ? event.kept : event.end - event.begin;
      estimator.Measured(run.circuit, StageOfEvent(event.what), seconds);
    }
    if (event.what == "parse") unfinished[event.job].parsed = true;
    if (event.what == "synthesis") unfinished[event.job].synthesized++;
    if (event.what == "device") unfinished[event.job].proved += 1;
    if (event.what == "verify") {
      unfinished.erase(event.job);
      proved = true;
    }
    if (!proved) continue;
    std::vector<Outlook> jobs;
    for (const auto& [key, outlook] : unfinished) jobs.push_back(outlook);
    for (const auto& [key, seconds_left] : Forecast(jobs, estimator, run.capacity)) {
      const double left = ends.at(key) - event.end;
      if (left < whole / 20 || !seconds_left) continue;
      worst = std::max(worst, std::abs(*seconds_left - left) / left);
    }
  }
  EXPECT_TRUE(proved);
  return worst;
}

TEST(Forecast, IsWithinAQuarterOfWhatHappenedInRecordedRuns) {
  size_t runs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(testing_support::Vectors() / "runs")) {
    if (entry.path().extension() != ".csv") continue;
    const RecordedRun run = ReadRun(entry.path());
    ASSERT_GT(run.events.size(), 50u) << entry.path();
    EXPECT_LE(WorstError(run), 0.25) << entry.path();
    // The test sees a forecast that leaves out the queue, or takes a device for two.
    RecordedRun twice = run;
    twice.capacity = {.synthesis_threads = 2 * run.capacity.synthesis_threads, .devices = 2 * run.capacity.devices};
    EXPECT_GT(WorstError(twice), 0.25) << entry.path();
    ++runs;
  }
  EXPECT_GE(runs, 2u);
}

}  // namespace
}  // namespace cuzk::engine
