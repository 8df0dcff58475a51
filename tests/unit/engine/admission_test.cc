// Admission looks at a job and looks again: what changes in between ends nobody.

#include <gmock/gmock.h>

#include <algorithm>
#include <future>
#include <thread>

#include "tests/unit/engine/small_engine.h"

namespace cuzk::engine {
namespace {

using testing_support::SmallEngine;
using testing_support::SmallEngineOptions;

TEST(Admission, ParametersThatGoWhileAPartitionIsChosenAreLoadedAgain) {
  std::promise<void> finishing, go;
  SmallEngine* made = nullptr;
  bool gone = false;
  SmallEngineOptions options;
  // The last partition that uses the parameters waits just before it lets go of them.
  options.after_assembly = [&](const std::string& id, uint32_t, std::span<uint8_t>) {
    if (id != "first") return;
    finishing.set_value();
    go.get_future().wait();
  };
  options.before_device = [&](const std::string& id) {
    if (id != "second" || gone) return;
    gone = true;
    go.set_value();
    const auto used = [](const prover::ParameterStatus& status) { return status.in_use; };
    while (std::ranges::any_of(made->parameters().Snapshot(), used)) std::this_thread::yield();
  };
  SmallEngine engine(options);
  made = &engine;
  const JobTicket first = engine.Submit("first", "1");
  finishing.get_future().wait();
  const JobTicket second = engine.Submit("second", "1");
  EXPECT_TRUE(engine.Verifies(engine.Await(first), 1));
  EXPECT_TRUE(engine.Verifies(engine.Await(second), 1));
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace cuzk::engine
