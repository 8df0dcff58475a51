// A disk that hangs in the middle of an operation.

#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "tests/doubles/hanging.h"
#include "tests/unit/store/scratch_store.h"

namespace cuzk::store {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing_support::Unfinished;

class StoreHangTest : public testing::Test {
 protected:
  testing_support::ScratchDir scratch_;
  const std::filesystem::path state_ = scratch_ / "state";
  testing_support::Hanging hanging_;
};

TEST_F(StoreHangTest, AcceptWaitsForTheOthersNoLongerThanItsPatience) {
  auto store = *JobStore::Open({.directory = state_, .patience = milliseconds(20), .seam = hanging_.seam()});
  hanging_.Hold("forget");
  auto forgets = std::async(std::launch::async, [&] { return store->Forget(1); });
  hanging_.AwaitOne();
  const Status refused = Unfinished("a").AcceptBy(*store).status();
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("has not answered for "));
  hanging_.Release();
  EXPECT_TRUE(forgets.get().ok());
  EXPECT_FALSE(store->health().OldestOperation());
}

TEST_F(StoreHangTest, WhoWaitsBehindOthersIsNoSignOfADiskThatHangs) {
  auto store = *JobStore::Open({.directory = state_, .seam = hanging_.seam()});
  hanging_.Hold("forget and fetched");
  auto first = std::async(std::launch::async, [&] { return store->Forget(1); });
  hanging_.AwaitOne();
  std::promise<void> begins;
  auto second = std::async(std::launch::async, [&] {
    begins.set_value();
    return store->Fetched(1);
  });
  begins.get_future().wait();
  std::this_thread::sleep_for(milliseconds(5));  // whether or not it waits by then
  const auto turn = std::chrono::steady_clock::now();
  hanging_.Hold("fetched");
  EXPECT_TRUE(first.get().ok());
  hanging_.AwaitOne();
  EXPECT_GE(*store->health().OldestOperation(), turn);
  hanging_.Release();
  EXPECT_TRUE(second.get().ok());
}

}  // namespace
}  // namespace cuzk::store
