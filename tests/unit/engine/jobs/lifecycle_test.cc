#include "core/engine/jobs/lifecycle.h"

#include <gmock/gmock.h>

#include <set>
#include <utility>
#include <vector>

namespace cuzk::engine {
namespace {

std::vector<Life> AllLives() {
  std::vector<Life> lives;
  for (size_t i = 0; i < kLifeCount; ++i) lives.push_back(static_cast<Life>(i));
  return lives;
}

std::set<Life> Reachable(Life from) {
  std::set<Life> reached = {from};
  std::vector<Life> open = {from};
  while (!open.empty()) {
    const Life life = open.back();
    open.pop_back();
    for (const Transition& transition : Transitions()) {
      if (transition.from == life && reached.insert(transition.to).second) open.push_back(transition.to);
    }
  }
  return reached;
}

TEST(Lifecycle, EveryStateIsReachedAndLeadsToAnEnd) {
  EXPECT_EQ(Reachable(Life::kWaiting).size(), kLifeCount);
  for (Life life : AllLives()) {
    const std::set<Life> reached = Reachable(life);
    EXPECT_TRUE(reached.contains(Life::kFetched) || life == Life::kSuspended) << LifeName(life);
  }
}

TEST(Lifecycle, AJobThatIsOverNeverWorksAgain) {
  for (const Transition& transition : Transitions()) {
    EXPECT_LE(IsOver(transition.from), IsOver(transition.to));
    EXPECT_LE(HasEnded(transition.from), HasEnded(transition.to));
    EXPECT_LE(IsAnswered(transition.from), IsAnswered(transition.to));
    EXPECT_NE(transition.from, transition.to);
  }
}

TEST(Lifecycle, NoStepIsThereTwice) {
  std::set<std::pair<Life, Life>> steps;
  for (const Transition& transition : Transitions()) {
    EXPECT_TRUE(steps.emplace(transition.from, transition.to).second)
        << LifeName(transition.from) << " to " << LifeName(transition.to);
  }
}

TEST(Lifecycle, OnlyTheRecorderOrAdmissionEndsAJobThatIsBeingRecordedAndOnlyAdmissionStartsOne) {
  for (size_t i = 0; i < kActorCount; ++i) {
    const Actor actor = static_cast<Actor>(i);
    EXPECT_EQ(MayTake(Life::kRecording, Life::kEnded, actor), actor == Actor::kRecorder || actor == Actor::kScheduler)
        << ActorName(actor);
    EXPECT_EQ(MayTake(Life::kWaiting, Life::kParsing, actor), actor == Actor::kScheduler) << ActorName(actor);
    EXPECT_EQ(MayTake(Life::kProving, Life::kSetAside, actor), actor == Actor::kScheduler) << ActorName(actor);
    EXPECT_EQ(MayTake(Life::kEnded, Life::kDelivering, actor), actor == Actor::kCaller) << ActorName(actor);
    EXPECT_FALSE(MayTake(Life::kFetched, Life::kEnded, actor)) << ActorName(actor);
    EXPECT_FALSE(MayTake(Life::kSuspended, Life::kWaiting, actor)) << ActorName(actor);
  }
}

TEST(Lifecycle, AStepThatIsNotInTheTableEndsTheProcessInWords) {
  JobLife life;
  life.Take(Life::kParsing, Actor::kScheduler);
  EXPECT_TRUE(life.Is(Life::kParsing));
  EXPECT_DEATH(life.Take(Life::kFetched, Actor::kWorker), "a job may not go from parsing to fetched by the worker");
  EXPECT_DEATH(life.Take(Life::kProving, Actor::kRecorder), "from parsing to proving by the recorder");
}

TEST(Lifecycle, StatesHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (Life life : AllLives()) names.insert(LifeName(life));
  EXPECT_EQ(names.size(), kLifeCount);
  EXPECT_FALSE(names.contains(""));
}

}  // namespace
}  // namespace cuzk::engine
