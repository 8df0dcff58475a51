// Records a run of the engine for the forecast's test (schedule/forecast_test.cc):
//   CUZK_RECORD_RUN=tests/vectors/runs/NAME.csv CUZK_RECORD_DEVICE_MS=60 CUZK_RECORD_SYNTHESIS_MS=5 cuzk_engine_test
//     --gtest_also_run_disabled_tests --gtest_filter=RecordRun.*
// with CUZK_RECORD_DEVICES devices that answer from a record after so long, and 26 jobs of four partitions.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "core/prover/device/device_times.h"
#include "tests/unit/engine/small_engine.h"

namespace cuzk::engine {
namespace {

using testing_support::SmallEngine;

unsigned Number(const char* variable, unsigned otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : static_cast<unsigned>(std::atoi(value));
}

void Write(SmallEngine& engine, TimePoint origin, unsigned workers, std::ofstream& out) {
  auto seconds = [&](TimePoint time) { return Seconds(time - origin); };
  std::map<std::pair<uint64_t, uint32_t>, prover::Timeline> device;
  for (const auto& bar : engine->Timeline(origin, 100'000)) {
    if (bar->job_key == 0 || bar->name == "waiting") continue;
    if (bar->track.starts_with("device ")) {
      device[{bar->job_key, bar->partition}].push_back({bar->name, bar->begin, bar->end});
      continue;
    }
    const std::string_view what = bar->name == "assemble" ? "finish" : bar->name;
    out << what << "," << bar->job_key << "," << bar->partition << "," << seconds(bar->begin) << ","
        << seconds(bar->end) << "\n";
  }
  for (const auto& [key, timeline] : device) {
    const prover::DeviceTimes times = prover::TimesOf(timeline);
    const Duration took = timeline.back().end - timeline.front().begin;
    const double kept = std::max(Seconds(times.kernels), Seconds(took - times.compute_wait) / workers);
    out << "device," << key.first << "," << key.second << "," << seconds(timeline.front().begin) << ","
        << seconds(timeline.back().end) << "," << kept << "\n";
  }
}

TEST(RecordRun, DISABLED_OfManyJobs) {
  constexpr unsigned kWorkers = 2;
  const unsigned devices = Number("CUZK_RECORD_DEVICES", 1), threads = Number("CUZK_RECORD_THREADS", 2);
  const std::chrono::milliseconds compute(Number("CUZK_RECORD_DEVICE_MS", 60));
  SmallEngine engine({.devices = devices,
                      .engine = {.synthesis_threads = threads, .workers_per_device = kWorkers},
                      .compute = std::chrono::milliseconds(1)});
  for (int i = 0; i < 8; ++i) EXPECT_EQ(engine.Prove("4").state, JobState::kCompleted);  // recorded from now on
  for (unsigned d = 0; d < devices; ++d) engine.recorded(d).set_compute(compute);
  engine.work().set_synthesis(std::chrono::milliseconds(Number("CUZK_RECORD_SYNTHESIS_MS", 0)));
  const TimePoint origin = std::chrono::steady_clock::now();
  std::ofstream out(std::getenv("CUZK_RECORD_RUN"));
  out << "# Made by tests/unit/engine/record_run_test.cc. What, job, partition, begin, end, and how long the device "
         "was\n"
         "# kept from others; seconds.\n";
  out << "run,porep-2k,4," << threads << "," << devices << "\n";
  std::vector<JobTicket> tickets;
  for (int i = 0; i < 26; ++i) {
    tickets.push_back(engine.Submit(StrCat("job ", i), "4"));
    out << "submit," << tickets.back().key << ",0,0," << Seconds(std::chrono::steady_clock::now() - origin) << "\n";
  }
  for (const JobTicket& ticket : tickets) EXPECT_EQ(engine.Await(ticket).state, JobState::kCompleted);
  Write(engine, origin, kWorkers, out);
}

}  // namespace
}  // namespace cuzk::engine
