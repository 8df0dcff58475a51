// The storm over small circuits; tests/integration/store/storm_test.cc has the long one over real ones.

#include "tests/unit/engine/storm.h"

#include <gtest/gtest.h>

#include "tests/unit/engine/small_engine.h"
#include "tests/unit/groth16/scratch_dir.h"

namespace cuzk::engine {
namespace {

using testing_support::Fault;
using testing_support::FaultKind;
using testing_support::FaultPoint;
using testing_support::ScratchDir;
using testing_support::SmallEngine;
using testing_support::SmallEngineOptions;
using testing_support::SmallRequest;
using testing_support::Storm;
using testing_support::StormReport;
using testing_support::StormRequest;
using testing_support::StormWorld;

constexpr filecoin::Kind kKinds[] = {filecoin::Kind::kPorep, filecoin::Kind::kSnap, filecoin::Kind::kWindow,
                                     filecoin::Kind::kWinning};

class SmallWorld final : public StormWorld {
 public:
  explicit SmallWorld(unsigned jobs) : jobs_(jobs) { SmallEngine first; }  // what is made once in a process is made

  Engine& Start() override {
    SmallEngineOptions options{.devices = 2, .compute = std::chrono::milliseconds(1)};
    options.engine = {.max_unfinished_jobs = 30,
                      .max_results = 2 * jobs_,
                      .synthesis_threads = 2,
                      .state_directory = scratch_ / "state",
                      .max_losses = 0};  // chance may meet one job often
    engine_ = std::make_unique<SmallEngine>(options);
    return **engine_;
  }
  void Stop() override { engine_.reset(); }

  StormRequest MakeRequest(std::mt19937_64& random) override {
    const size_t partitions = 1 + random() % 4;
    std::string payload = StrCat(partitions, " salt ", random() % 1000);
    StormRequest out{.sample = partitions};
    if (random() % 16 == 0) {
      payload += " unreadable";
      out.refused = "unreadable";
    } else if (random() % 16 == 0) {
      payload += " bad0";
      out.refused = "does not lead to its root";
    }
    out.vanilla = SmallRequest(payload, kKinds[random() % 4]);
    return out;
  }

  bool Verifies(const StormRequest& request, const std::string& proof) override {
    JobResult result{.proof = std::make_shared<const std::string>(proof)};
    return engine_->Verifies(result, static_cast<uint32_t>(request.sample));
  }

  void InjectFault(std::mt19937_64& random) override {
    constexpr Fault kFaults[] = {
        {FaultPoint::kStart, FaultKind::kOutOfMemory}, {FaultPoint::kStart, FaultKind::kInternal},
        {FaultPoint::kFinish, FaultKind::kInternal},   {FaultPoint::kFinish, FaultKind::kCorruptH},
        {FaultPoint::kFinish, FaultKind::kCorruptB},   {FaultPoint::kLoad, FaultKind::kOutOfMemory},
        {FaultPoint::kStart, FaultKind::kLost},        {FaultPoint::kFinish, FaultKind::kLost}};
    Fault fault = kFaults[random() % std::size(kFaults)];
    auto& device = engine_->device(random() % 2);
    fault.first = device.calls(fault.point) + random() % 4;
    device.Add(fault);
    if (random() % 4 == 0) engine_->allocator().Fail(engine_->allocator().calls() + random() % 20, 1);
  }

 private:
  const unsigned jobs_;
  ScratchDir scratch_;
  std::unique_ptr<SmallEngine> engine_;
};

TEST(Storm, EveryAcceptedJobEndsInOneTrueState) {
  constexpr unsigned kJobs = 120;
  SmallWorld world(kJobs);
  StormReport report =
      Storm(world, {.jobs = kJobs, .clients = 10, .restarts = 3, .faults = 30, .seed = 20261130}).Run();
  EXPECT_GT(report.completed, kJobs / 3) << report.ToString();
  EXPECT_GE(report.restarts, 3u) << report.ToString();
  std::printf("%s\n", report.ToString().c_str());
}

}  // namespace
}  // namespace cuzk::engine
