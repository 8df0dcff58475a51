#include "core/prover/parameters/parameter_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <future>

#include "core/base/file.h"
#include "tests/doubles/faulty_device.h"
#include "tests/unit/prover/proving.h"
#include "tests/unit/prover/small_card.h"

namespace cuzk::prover {
namespace {

using testing::HasSubstr;
using testing_support::FaultKind;
using testing_support::FaultPoint;
using testing_support::MixedCircuit;
using testing_support::Proving;

class ParameterStoreTest : public testing::Test {
 protected:
  ParameterRequest Request(const Proving& proving, const std::string& circuit) {
    return {.circuit = circuit, .path = proving.path(), .shape = proving.shape()};
  }
  ParameterStoreOptions Options() { return {.budget = &budget_, .allow_development = true}; }
  uint64_t Used() const { return budget_.Snapshot().used_bytes; }

  Proving first_{MixedCircuit({.size = 40})}, second_{MixedCircuit({.size = 41})};
  std::unique_ptr<Device> cpu_ = MakeCpuDevice({.pool = &first_.pool()});
  testing_support::FaultyDevice device_{*cpu_};
  const uint64_t first_bytes_ = cpu_->MakePlan(*first_.shape(), {}).value().parameter_host_bytes;
  const uint64_t second_bytes_ = cpu_->MakePlan(*second_.shape(), {}).value().parameter_host_bytes;
  memory::Budget budget_{uint64_t{1} << 30};
};

TEST_F(ParameterStoreTest, LoadsOnceAndShares) {
  ParameterStore store(Options());
  std::vector<std::future<std::shared_ptr<const ResidentParameters>>> callers;
  for (int i = 0; i < 4; ++i) {
    callers.push_back(
        std::async(std::launch::async, [&] { return store.Get(device_, Request(first_, "one"), {}, {}).value(); }));
  }
  std::vector<std::shared_ptr<const ResidentParameters>> all;
  for (auto& caller : callers) all.push_back(caller.get());
  for (const auto& parameters : all) EXPECT_EQ(parameters.get(), all[0].get());
  EXPECT_EQ(device_.calls(FaultPoint::kLoad), 1u);
  EXPECT_EQ(Used(), first_bytes_);
  ASSERT_EQ(store.Snapshot().size(), 1u);
  EXPECT_TRUE(store.Snapshot()[0].in_use);
  EXPECT_EQ(store.Snapshot()[0].last_used_seconds_ago, 0);
  EXPECT_TRUE(store.Snapshot()[0].development);
  EXPECT_EQ(store.Snapshot()[0].host_bytes, first_bytes_);
  EXPECT_TRUE(absl::IsFailedPrecondition(store.Evict("one").status()));
  all.clear();
  EXPECT_FALSE(store.Snapshot()[0].in_use);
  double idle = store.Snapshot()[0].last_used_seconds_ago;
  EXPECT_GT(idle, 0);
  EXPECT_GT(store.Snapshot()[0].last_used_seconds_ago, idle);
  EXPECT_EQ(store.Evict("one").value(), true);
  EXPECT_EQ(store.Evict("one").value(), false);
  EXPECT_EQ(Used(), 0u);
}

TEST_F(ParameterStoreTest, ProgressReachesTheEnd) {
  ParameterStore store(Options());
  uint64_t last = 0, all = 1;
  ASSERT_TRUE(store
                  .Get(device_, Request(first_, "one"), {},
                       [&](uint64_t done, uint64_t total) {
                         EXPECT_GE(done, last);
                         last = done, all = total;
                       })
                  .ok());
  EXPECT_GE(last * 10, all * 9);
  EXPECT_EQ(store.Snapshot()[0].fraction, 1.0);
}

TEST_F(ParameterStoreTest, IdleOnesGoWhenMemoryIsShort) {
  memory::Budget small(first_bytes_ + second_bytes_ - 1);
  ParameterStore store({.budget = &small, .allow_development = true});
  ASSERT_TRUE(store.Get(device_, Request(first_, "one"), {}, {}).ok());
  ASSERT_TRUE(store.Get(device_, Request(second_, "two"), {}, {}).ok());
  ASSERT_EQ(store.Snapshot().size(), 1u);
  EXPECT_EQ(store.Snapshot()[0].circuit, "two");
  EXPECT_EQ(small.Snapshot().used_bytes, second_bytes_);
}

TEST_F(ParameterStoreTest, WhatHoldsNoHostMemoryStaysWhenHostMemoryIsShort) {
  testing_support::SmallCard resident(*cpu_, uint64_t{1} << 30, false);
  ParameterStore store(Options());
  ASSERT_TRUE(store.Get(resident, Request(first_, "one"), {}, {}).ok());
  ASSERT_TRUE(store.Get(device_, Request(second_, "two"), {}, {}).ok());
  EXPECT_EQ(store.EvictIdle(uint64_t{1} << 30), second_bytes_);
  ASSERT_EQ(store.Snapshot().size(), 1u);
  EXPECT_EQ(store.Snapshot()[0].circuit, "one");
}

TEST_F(ParameterStoreTest, LeastRecentlyUsedGoesFirst) {
  ParameterStore store(Options());
  ASSERT_TRUE(store.Get(device_, Request(first_, "one"), {}, {}).ok());
  ASSERT_TRUE(store.Get(device_, Request(second_, "two"), {}, {}).ok());
  ASSERT_TRUE(store.Get(device_, Request(first_, "one"), {}, {}).ok());
  EXPECT_EQ(store.EvictIdle(1), second_bytes_);
  EXPECT_EQ(store.Snapshot()[0].circuit, "one");
  EXPECT_EQ(store.EvictIdle(UINT64_MAX), first_bytes_);
  EXPECT_EQ(Used(), 0u);
}

TEST_F(ParameterStoreTest, WhoGaveBackLastUsedLast) {
  ParameterStore store(Options());
  auto one = store.Get(device_, Request(first_, "one"), {}, {}).value();
  ASSERT_TRUE(store.Get(device_, Request(second_, "two"), {}, {}).ok());
  one.reset();
  EXPECT_EQ(store.EvictIdle(1), second_bytes_);
  EXPECT_EQ(store.Snapshot()[0].circuit, "one");
}

TEST_F(ParameterStoreTest, WaitsForWhatIsInUse) {
  memory::Budget small(first_bytes_ + second_bytes_ - 1);
  ParameterStore store({.budget = &small, .allow_development = true});
  auto held = store.Get(device_, Request(first_, "one"), {}, {}).value();
  std::stop_source stop;
  auto cancelled = std::async(
      std::launch::async, [&] { return store.Get(device_, Request(second_, "two"), stop.get_token(), {}).status(); });
  while (small.Snapshot().refusals_total[static_cast<size_t>(memory::MemoryClass::kParameters)] == 0 &&
         cancelled.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
    if (store.Snapshot().size() == 2) break;
  }
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(cancelled.get()));
  auto waiting =
      std::async(std::launch::async, [&] { return store.Get(device_, Request(second_, "two"), {}, {}).status(); });
  held.reset();
  EXPECT_TRUE(waiting.get().ok());
}

TEST_F(ParameterStoreTest, TheDigestOfAStoppedLoadIsNotComputed) {
  ParameterStore store(Options());
  std::stop_source stop;
  stop.request_stop();
  uint64_t calls = 0;
  Status status =
      store.Get(device_, Request(first_, "one"), stop.get_token(), [&](uint64_t, uint64_t) { ++calls; }).status();
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_EQ(calls, 0u);
  EXPECT_TRUE(store.Get(device_, Request(first_, "one"), {}, {}).ok());
}

TEST_F(ParameterStoreTest, ACancelledLoaderDoesNotFailTheOthers) {
  memory::Budget small(first_bytes_ + second_bytes_ - 1);
  ParameterStore store({.budget = &small, .allow_development = true});
  auto held = store.Get(device_, Request(first_, "one"), {}, {}).value();
  std::stop_source stop;
  auto loader = std::async(std::launch::async,
                           [&] { return store.Get(device_, Request(second_, "two"), stop.get_token(), {}).status(); });
  while (store.Snapshot().size() < 2) std::this_thread::yield();
  auto other =
      std::async(std::launch::async, [&] { return store.Get(device_, Request(second_, "two"), {}, {}).status(); });
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(loader.get()));
  held.reset();
  EXPECT_TRUE(other.get().ok());
}

TEST_F(ParameterStoreTest, AFailedLoadGivesItsMemoryBackAndIsTriedAgain) {
  ParameterStore store(Options());
  device_.Add({.point = FaultPoint::kLoad, .kind = FaultKind::kOutOfMemory});
  Status status = store.Get(device_, Request(first_, "one"), {}, {}).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("one: "));
  EXPECT_EQ(Used(), 0u);
  EXPECT_TRUE(store.Snapshot().empty());
  EXPECT_TRUE(store.Get(device_, Request(first_, "one"), {}, {}).ok());
}

TEST_F(ParameterStoreTest, ABudgetThatIsTooSmallRefusesAtOnce) {
  memory::Budget tiny(first_bytes_ - 1);
  ParameterStore store({.budget = &tiny, .allow_development = true});
  EXPECT_TRUE(absl::IsResourceExhausted(store.Get(device_, Request(first_, "one"), {}, {}).status()));
}

TEST_F(ParameterStoreTest, DevelopmentParametersNeedPermission) {
  ParameterStoreOptions options = Options();
  options.allow_development = false;
  for (DigestPolicy digest : {DigestPolicy::kCheck, DigestPolicy::kSkip}) {
    options.digest = digest;
    Status status = ParameterStore(options).Get(device_, Request(first_, "one"), {}, {}).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr("allow_development"));
  }
}

TEST_F(ParameterStoreTest, PublishedParametersAreKnownByTheirDigest) {
  std::filesystem::remove(groth16::DevelopmentRecordPath(first_.path()));
  ParameterStoreOptions options = Options();
  options.allow_development = false;
  ParameterRequest request = Request(first_, "one");
  request.published_digest = groth16::PublishedDigest(first_.Open()->file(), {}).value();
  ParameterStore store(options);
  ASSERT_TRUE(store.Get(device_, request, {}, {}).ok());
  EXPECT_FALSE(store.Snapshot()[0].development);
  request.circuit = "again";
  request.published_digest = std::string(32, '0');
  EXPECT_TRUE(absl::IsFailedPrecondition(store.Get(device_, request, {}, {}).status()));
}

TEST_F(ParameterStoreTest, ADigestIsComputedOnceForAFile) {
  ParameterStore store(Options());
  const uint64_t bytes = first_.Open()->file().size();
  uint64_t total = 0;
  auto load = [&] {
    ASSERT_TRUE(store.Get(device_, Request(first_, "one"), {}, [&](uint64_t, uint64_t all) { total = all; }).ok());
    ASSERT_TRUE(store.Evict("one").value());
  };
  load();
  EXPECT_EQ(total, 2 * bytes);
  load();
  EXPECT_EQ(total, bytes);
  // The same bytes, but who knows that?
  ASSERT_TRUE(WriteFile(first_.path(), AsBytes(ReadFile(first_.path()).value())).ok());
  load();
  EXPECT_EQ(total, 2 * bytes);
}

TEST_F(ParameterStoreTest, ADigestIsRememberedOverARestartUnlessItIsToBeComputedAlways) {
  const std::filesystem::path remembered = first_.path().string() + ".verified";
  const uint64_t bytes = first_.Open()->file().size();
  auto load = [&](DigestPolicy digest) {
    ParameterStoreOptions options = Options();
    options.digest = digest;
    options.verified_files = remembered;
    uint64_t total = 0;
    ParameterStore store(options);
    EXPECT_TRUE(store.Get(device_, Request(first_, "one"), {}, [&](uint64_t, uint64_t all) { total = all; }).ok());
    return total;
  };
  EXPECT_EQ(load(DigestPolicy::kCheck), 2 * bytes);
  EXPECT_EQ(load(DigestPolicy::kCheck), bytes);
  EXPECT_EQ(load(DigestPolicy::kAlways), 2 * bytes);
  // Another mode changes nothing but the time of the change, which no program can set.
  std::filesystem::permissions(first_.path(), std::filesystem::perms::group_read, std::filesystem::perm_options::add);
  std::filesystem::permissions(first_.path(), std::filesystem::perms::group_read,
                               std::filesystem::perm_options::remove);
  EXPECT_EQ(load(DigestPolicy::kCheck), 2 * bytes);
  EXPECT_EQ(load(DigestPolicy::kCheck), bytes);
  // A record that expects another digest is not served by the one that was found.
  ASSERT_TRUE(WriteFile(groth16::DevelopmentRecordPath(first_.path()),
                        AsBytes(groth16::DevelopmentRecord{.sha256 = std::string(64, '0')}.ToJson()))
                  .ok());
  ParameterStoreOptions options = Options();
  options.verified_files = remembered;
  EXPECT_TRUE(
      absl::IsFailedPrecondition(ParameterStore(options).Get(device_, Request(first_, "one"), {}, {}).status()));
  std::filesystem::remove(remembered);
}

TEST_F(ParameterStoreTest, WhatCannotBeRememberedIsTold) {
  std::vector<std::string> told;
  ParameterStoreOptions options = Options();
  options.verified_files = "/nonexistent/verified";
  options.warn = [&](const std::string& text) { told.push_back(text); };
  ParameterStore store(options);
  EXPECT_TRUE(store.Get(device_, Request(first_, "one"), {}, {}).ok());
  ASSERT_EQ(told.size(), 1);
  EXPECT_THAT(told[0], HasSubstr("/nonexistent/verified"));
}

TEST_F(ParameterStoreTest, TheDigestIsComputedWhileTheFileIsLoaded) {
  device_.HoldLoads();
  ParameterStore store(Options());
  const uint64_t bytes = first_.Open()->file().size();
  std::atomic<uint64_t> done = 0;
  auto loaded = std::async(std::launch::async, [&] {
    return store.Get(device_, Request(first_, "one"), {}, [&](uint64_t now, uint64_t) { done = now; }).status();
  });
  // All of the digest and nothing of the load, which may reach the device later than the digest is done.
  while (done < bytes || device_.waiting_loads() == 0) std::this_thread::yield();
  EXPECT_EQ(device_.waiting_loads(), 1);
  device_.ReleaseLoads();
  EXPECT_TRUE(loaded.get().ok());
}

TEST_F(ParameterStoreTest, AWrongDigestEndsTheLoad) {
  ASSERT_TRUE(WriteFile(groth16::DevelopmentRecordPath(first_.path()),
                        AsBytes(groth16::DevelopmentRecord{.sha256 = std::string(64, '0')}.ToJson()))
                  .ok());
  device_.HoldLoads();  // it never begins
  ParameterStore store(Options());
  const Status status = store.Get(device_, Request(first_, "one"), {}, {}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("its development record says 000"));
  EXPECT_EQ(Used(), 0u);
}

TEST_F(ParameterStoreTest, AFileThatChangesWhileItIsLoadedIsRefused) {
  const std::string good = ReadFile(first_.path()).value();
  const std::function<void()> changes[] = {
      [&] { std::filesystem::resize_file(first_.path(), good.size() / 2); },
      [&] { std::ofstream(first_.path(), std::ios::in | std::ios::out).seekp(900).write("x", 1); },
      [&] { std::ofstream(first_.path(), std::ios::app) << 'x'; }};
  for (const auto& change : changes) {
    ASSERT_TRUE(WriteFile(first_.path(), AsBytes(good)).ok());
    // Neither the second of the clock's ticks nor the digest tell: the change comes after it.
    std::filesystem::last_write_time(first_.path(),
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    ParameterStore store(Options());
    bool changed = false;
    Status status = store
                        .Get(device_, Request(first_, "one"), {},
                             [&](uint64_t done, uint64_t) {
                               if (done > good.size() && !std::exchange(changed, true)) change();
                             })
                        .status();
    ASSERT_TRUE(changed);
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("changed while it was being read"));
    EXPECT_EQ(Used(), 0u);
    EXPECT_TRUE(store.Snapshot().empty());
  }
}

TEST_F(ParameterStoreTest, MissingOrForeignFiles) {
  ParameterStore store(Options());
  ParameterRequest request = Request(first_, "one");
  request.path += ".absent";
  EXPECT_TRUE(absl::IsNotFound(store.Get(device_, request, {}, {}).status()));
  request.path = second_.path();
  EXPECT_THAT(std::string(store.Get(device_, request, {}, {}).status().message()), HasSubstr("not of this circuit"));
  EXPECT_EQ(Used(), 0u);
}

TEST_F(ParameterStoreTest, ForgettingADeviceLeavesHoldersTheirs) {
  ParameterStore store(Options());
  auto held = store.Get(device_, Request(first_, "one"), {}, {}).value();
  store.Forget(device_);
  EXPECT_TRUE(store.Snapshot().empty());
  EXPECT_EQ(held->shape(), first_.shape());
  EXPECT_EQ(Used(), first_bytes_);
  held.reset();
  EXPECT_EQ(Used(), 0u);
}

}  // namespace
}  // namespace cuzk::prover
