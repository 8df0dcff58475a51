// The long storm: recorded 2 KiB requests of all kinds over the CPU device. Most partitions are answered from the
// record after a delay; every so many is really proved.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <optional>

#include "core/filecoin/request_directory.h"
#include "core/groth16/verifier.h"
#include "core/memory/detect.h"
#include "core/prover/cpu/cpu_device.h"
#include "tests/doubles/engine_options.h"
#include "tests/doubles/faulty_device.h"
#include "tests/doubles/recorded_device.h"
#include "tests/fixtures.h"
#include "tests/unit/engine/storm.h"
#include "tests/unit/groth16/scratch_dir.h"
#include "tests/unit/memory/faulty_allocator.h"

namespace cuzk::engine {
namespace {

using testing_support::Fault;
using testing_support::FaultKind;
using testing_support::FaultPoint;
using testing_support::FaultyDevice;
using testing_support::RecordedDevice;
using testing_support::ScratchDir;
using testing_support::Storm;
using testing_support::StormReport;
using testing_support::StormRequest;
using testing_support::StormWorld;

/// What is allocated and not freed. The resident size says less: the C library keeps freed memory in pieces.
uint64_t LiveBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// A recorded request and what its proof is checked against.
struct Sample {
  filecoin::VanillaRequest request;
  std::vector<std::vector<algebra::Fr>> public_inputs;
  std::shared_ptr<const groth16::Verifier> verifier;
};

class RealWorld final : public StormWorld {
 public:
  explicit RealWorld(unsigned jobs) : jobs_(jobs), budget_(memory::DefaultBudget(memory::DetectMemory().value())) {
    auto records = std::make_shared<testing_support::ProofRecords>();
    for (int i = 0; i < 2; ++i) {
      cpus_.push_back(prover::MakeCpuDevice({.pool = &pool_, .arithmetic = arithmetic_, .allocator = &allocator_}));
      recorded_.push_back(std::make_unique<RecordedDevice>(*cpus_.back(), records));
      recorded_.back()->set_compute(std::chrono::milliseconds(20));
      // PoSts over and over; PoRep and snap, which are forty times as large, once each.
      recorded_.back()->set_prove_every(8, 17);
    }
    for (const char* name :
         {"winning/2KiB-winning-1000-a", "window/2KiB-window-1000-1of3-part1",
          "window/2KiB-window_v1_2-1000-1of1-part0", "porep/2KiB-v1_1-1000-84", "snap/2KiB-snap-1000-85"}) {
      AddSample(testing_support::Vectors() / "filecoin" / name);
    }
  }

  /// What the storm before left on disk goes.
  void Forget() { scratch_.emplace(); }

  Engine& Start() override {
    faulty_.clear();
    EngineParts parts{.budget = &budget_, .pool = &pool_, .arithmetic = arithmetic_};
    for (auto& device : recorded_) {
      faulty_.push_back(std::make_unique<FaultyDevice>(*device));
      parts.devices.push_back(faulty_.back().get());
    }
    EngineOptions options{.parameter_directory = CUZK_TEST_PARAMETERS, .allow_development = true};
    options.digest = prover::DigestPolicy::kSkip;
    options.points = groth16::PointPolicy::kCanonical;
    options.max_unfinished_jobs = 100;
    options.max_results = 2 * jobs_;
    options.synthesis_threads = 2;
    options.state_directory = *scratch_ / "state";
    options.max_losses = 0;  // chance may meet one job often
    engine_ = Engine::Create(testing_support::Filled(options), parts).value();
    return *engine_;
  }
  void Stop() override {
    engine_.reset();
    EXPECT_EQ(budget_.Snapshot().used_bytes, 0u);
    EXPECT_EQ(allocator_.bytes_out(), 0u);
  }

  StormRequest MakeRequest(std::mt19937_64& random) override {
    // Mostly PoSts: a PoRep's witness costs the most.
    constexpr size_t kMix[] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 4};
    const size_t sample = kMix[random() % std::size(kMix)];
    StormRequest out{.vanilla = samples_[sample].request, .sample = sample};
    if ((sample == 1 || sample == 2) && random() % 8 == 0) {
      std::string& item = out.vanilla.vanilla_proofs[0];
      item[item.size() / 2] = static_cast<char>(item[item.size() / 2] ^ 1);
      out.refused = "challenge";
    }
    return out;
  }

  bool Verifies(const StormRequest& request, const std::string& proof) override {
    const Sample& sample = samples_[request.sample];
    if (proof.size() != sample.public_inputs.size() * groth16::Proof::kBytes) return false;
    for (size_t i = 0; i < sample.public_inputs.size(); ++i) {
      auto bytes = AsBytes(proof).subspan(i * groth16::Proof::kBytes).first<groth16::Proof::kBytes>();
      auto read = groth16::Proof::FromBytes(bytes);
      if (!read.ok() || !sample.verifier->Verify({*read, sample.public_inputs[i]}, pool_).value()) return false;
    }
    return true;
  }

  void InjectFault(std::mt19937_64& random) override {
    constexpr Fault kFaults[] = {{FaultPoint::kStart, FaultKind::kOutOfMemory},
                                 {FaultPoint::kFinish, FaultKind::kInternal},
                                 {FaultPoint::kFinish, FaultKind::kCorruptH},
                                 {FaultPoint::kFinish, FaultKind::kCorruptB},
                                 {FaultPoint::kStart, FaultKind::kLost}};
    Fault fault = kFaults[random() % std::size(kFaults)];
    FaultyDevice& device = *faulty_[random() % faulty_.size()];
    fault.first = device.calls(fault.point) + random() % 8;
    device.Add(fault);
  }

  uint64_t proved() const { return recorded_[0]->proved() + recorded_[1]->proved(); }
  uint64_t answered() const { return recorded_[0]->answered() + recorded_[1]->answered(); }

 private:
  void AddSample(const std::filesystem::path& directory) {
    auto verification = filecoin::ReadVerification(directory);
    ASSERT_TRUE(verification.ok()) << verification.status();
    auto key = groth16::VerifyingKey::FromFile(std::filesystem::path(CUZK_TEST_PARAMETERS) /
                                               verification->proof->circuit->key_file());
    ASSERT_TRUE(key.ok()) << key.status();
    auto request = filecoin::ReadRequestDirectory(directory);
    ASSERT_TRUE(request.ok()) << request.status();
    samples_.push_back(
        {std::move(request->request), verification->public_inputs, std::make_shared<const groth16::Verifier>(*key)});
  }

  const unsigned jobs_;
  const algebra::Arithmetic arithmetic_ = algebra::ResolveArithmetic(std::getenv("CUZK_CPU_ARITHMETIC")).value();
  std::optional<ScratchDir> scratch_;
  ThreadPool pool_{0};
  testing_support::FaultyAllocator allocator_;
  memory::Budget budget_;
  std::vector<Sample> samples_;
  std::vector<std::unique_ptr<prover::Device>> cpus_;
  std::vector<std::unique_ptr<RecordedDevice>> recorded_;
  std::vector<std::unique_ptr<FaultyDevice>> faulty_;
  std::unique_ptr<Engine> engine_;
};

TEST(EngineStorm, ThousandJobsFromFiftyClients) {
  const char* wanted = std::getenv("CUZK_STORM_JOBS");
  const unsigned jobs = wanted ? static_cast<unsigned>(std::atoi(wanted)) : 1000;
  RealWorld world(jobs);
  // Whatever is made once and kept (records, tables, threads' arenas) is made before memory is measured.
  world.Forget();
  Storm(world, {.jobs = 60, .clients = 50, .restarts = 1, .faults = 5, .seed = 1}).Run();
  const uint64_t before = LiveBytes();
  world.Forget();
  StormReport report = Storm(world, {.jobs = jobs, .clients = 50, .restarts = 8, .faults = 60, .seed = 20261130}).Run();
  const uint64_t after = LiveBytes();
  std::printf("%s; %llu partitions really proved, %llu from the record; live %llu kB before, %llu kB after\n",
              report.ToString().c_str(), static_cast<unsigned long long>(world.proved()),
              static_cast<unsigned long long>(world.answered()), static_cast<unsigned long long>(before >> 10),
              static_cast<unsigned long long>(after >> 10));
  EXPECT_GE(report.restarts, 8u);
  EXPECT_GT(report.completed, jobs / 2);
  EXPECT_GE(world.proved(), jobs / 20);
  EXPECT_LE(after, before + (uint64_t{1} << 20));
}

}  // namespace
}  // namespace cuzk::engine
