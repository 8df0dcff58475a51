// Partitions that wait for each other: who is swept with whom, and who does not wait.
#include "core/prover/device/sweep_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace cuzk::prover {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

struct Member {
  int name = 0;
};
using Group = SweepGroup<Member>;

class SweepGroupTest : public testing::Test {
 protected:
  /// Waits in a thread of its own; sweeps are recorded, and answered with `answer`.
  std::future<Status> Await(Group& group, Group::Ticket& ticket, int name, std::stop_token stop = {}) {
    return std::async(std::launch::async, [this, &group, &ticket, name, stop] {
      Member member{name};
      return group.Await(ticket, member, stop, [this](const std::vector<Member*>& members) {
        std::vector<int> names;
        for (const Member* m : members) names.push_back(m->name);
        std::unique_lock lock(mutex_);
        sweeps_.push_back(names);
        changed_.notify_all();
        changed_.wait(lock, [this] { return !held_; });
        return answer_;
      });
    });
  }
  void AwaitSweeps(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return sweeps_.size() >= count; });
  }
  void Hold(bool held) {
    std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<int>> sweeps_;
  bool held_ = false;
  Status answer_;
};

TEST_F(SweepGroupTest, OneAloneIsSweptAtOnce) {
  Group group(2);
  auto ticket = group.Enter(1, {}).value();
  EXPECT_TRUE(Await(group, ticket, 1).get().ok());
  EXPECT_THAT(sweeps_, ElementsAre(ElementsAre(1)));
}

TEST_F(SweepGroupTest, AllThatAreThereAreSweptTogether) {
  Group group(3);
  auto a = group.Enter(1, {}).value(), b = group.Enter(1, {}).value(), c = group.Enter(1, {}).value();
  auto first = Await(group, a, 1), second = Await(group, b, 2), third = Await(group, c, 3);
  EXPECT_TRUE(first.get().ok() && second.get().ok() && third.get().ok());
  ASSERT_EQ(sweeps_.size(), 1u);
  EXPECT_THAT(sweeps_[0], UnorderedElementsAre(1, 2, 3));
}

TEST_F(SweepGroupTest, NobodyWaitsForOneThatGaveUpOnItsWay) {
  Group group(2);
  auto a = group.Enter(1, {}).value();
  auto b = std::make_optional(group.Enter(1, {}).value());
  auto waiting = Await(group, a, 1);
  b.reset();
  EXPECT_TRUE(waiting.get().ok());
  EXPECT_THAT(sweeps_, ElementsAre(ElementsAre(1)));
}

TEST_F(SweepGroupTest, AnUrgentOneDoesNotWaitForLessUrgentOnes) {
  Group group(3);
  auto slow = group.Enter(1, {}).value(), urgent = group.Enter(3, {}).value();
  EXPECT_TRUE(Await(group, urgent, 3).get().ok());
  EXPECT_TRUE(Await(group, slow, 1).get().ok());
  EXPECT_THAT(sweeps_, ElementsAre(ElementsAre(3), ElementsAre(1)));
}

TEST_F(SweepGroupTest, TheAnswerIsEverybodysAndTheNextSweepHasItsOwn) {
  Group group(3);
  answer_ = absl::ResourceExhaustedError("no memory");
  auto a = group.Enter(1, {}).value(), b = group.Enter(1, {}).value();
  auto first = Await(group, a, 1), second = Await(group, b, 2);
  EXPECT_TRUE(absl::IsResourceExhausted(first.get()));
  EXPECT_TRUE(absl::IsResourceExhausted(second.get()));
  answer_ = absl::OkStatus();
  auto c = group.Enter(1, {}).value();
  EXPECT_TRUE(Await(group, c, 3).get().ok());
}

TEST_F(SweepGroupTest, OneThatComesDuringASweepIsInTheNext) {
  Group group(2);
  Hold(true);
  auto a = group.Enter(1, {}).value();
  auto first = Await(group, a, 1);
  AwaitSweeps(1);
  auto b = group.Enter(1, {}).value();
  auto second = Await(group, b, 2);
  Hold(false);
  EXPECT_TRUE(first.get().ok() && second.get().ok());
  EXPECT_THAT(sweeps_, ElementsAre(ElementsAre(1), ElementsAre(2)));
}

TEST_F(SweepGroupTest, CancelledWhileWaitingLeavesTheOthersAlone) {
  Group group(2);
  std::stop_source stop;
  auto a = group.Enter(1, {}).value();
  auto b = std::make_optional(group.Enter(1, {}).value());
  auto waiting = Await(group, a, 1, stop.get_token());  // for b, which is on its way
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(waiting.get()));
  EXPECT_TRUE(Await(group, *b, 2).get().ok());
  EXPECT_THAT(sweeps_, ElementsAre(ElementsAre(2)));
}

TEST_F(SweepGroupTest, CancelledDuringTheSweepGetsTheSweepsAnswer) {
  Group group(1);
  Hold(true);
  std::stop_source stop;
  auto a = group.Enter(1, {}).value();
  auto waiting = Await(group, a, 1, stop.get_token());
  AwaitSweeps(1);
  stop.request_stop();
  Hold(false);
  EXPECT_TRUE(waiting.get().ok());
}

TEST_F(SweepGroupTest, PlacesAreFewAndTheMostUrgentGetsTheNext) {
  Group group(1);
  auto held = std::make_optional(group.Enter(1, {}).value());
  std::vector<int> order;
  std::mutex order_mutex;
  auto enter = [&](unsigned urgency) {
    return std::async(std::launch::async, [&, urgency] {
      auto ticket = group.Enter(urgency, {});
      std::lock_guard lock(order_mutex);
      order.push_back(static_cast<int>(urgency));
      return ticket.status();
    });
  };
  auto low = enter(1), high = enter(2);
  while (group.entering() < 2) std::this_thread::yield();
  held.reset();
  EXPECT_TRUE(low.get().ok() && high.get().ok());
  EXPECT_THAT(order, ElementsAre(2, 1));
  std::stop_source stop;
  stop.request_stop();
  held.emplace(group.Enter(1, {}).value());
  EXPECT_TRUE(absl::IsCancelled(group.Enter(1, stop.get_token()).status()));
}

}  // namespace
}  // namespace cuzk::prover
