#include "core/engine/state/parameter_source.h"

#include <gmock/gmock.h>

#include "core/filecoin/types/registry.h"
#include "tests/unit/groth16/scratch_dir.h"
#include "tests/unit/prover/proving.h"

namespace cuzk::engine {
namespace {

using testing_support::MixedCircuit;
using testing_support::Proving;

/// A folder with the parameters of a small circuit under the name of a published one.
class FileParametersTest : public testing::Test {
 protected:
  FileParametersTest() {
    for (const char* beside : {"", ".development.json"}) {
      const std::filesystem::path from = StrCat(proving_.path().string(), beside);
      if (std::filesystem::exists(from)) std::filesystem::copy_file(from, StrCat(file_.string(), beside));
    }
  }
  StatusOr<std::shared_ptr<const prover::ResidentParameters>> Get(prover::Device& device) {
    return parameters_.Get(device, {circuit_, proving_.shape(), {}}, {}, {});
  }

  // A size without a published file, so that any length will do.
  const filecoin::Circuit& circuit_ = *filecoin::FindCircuit("wpost-4k");
  Proving proving_{MixedCircuit({.size = 24})};
  testing_support::ScratchDir scratch_;
  const std::filesystem::path file_ = scratch_ / circuit_.params_file();
  ThreadPool pool_{1};
  memory::Budget budget_{uint64_t{1} << 30};
  std::unique_ptr<prover::Device> device_ = prover::MakeCpuDevice({.pool = &pool_});
  std::unique_ptr<prover::Device> other_ = prover::MakeCpuDevice({.pool = &pool_});
  FileParameters parameters_{scratch_.path(),
                             {.budget = &budget_, .allow_development = true, .digest = prover::DigestPolicy::kSkip}};
};

TEST_F(FileParametersTest, WhatIsLoadedIsUsedWithoutItsFile) {
  ASSERT_TRUE(parameters_.Available(circuit_));
  ASSERT_TRUE(Get(*device_).ok());
  std::filesystem::remove(file_);
  EXPECT_TRUE(parameters_.Available(circuit_));
  EXPECT_TRUE(Get(*device_).ok());
  // Another device cannot load them.
  const Status missing = Get(*other_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(missing)) << missing;
  EXPECT_THAT(std::string(missing.message()), testing::HasSubstr("no parameters for wpost-4k"));
  ASSERT_TRUE(parameters_.Evict("wpost-4k").ok());
  EXPECT_FALSE(parameters_.Available(circuit_));
  EXPECT_TRUE(absl::IsFailedPrecondition(Get(*device_).status()));
}

}  // namespace
}  // namespace cuzk::engine
