#include "tests/unit/engine/storm.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace cuzk::testing_support {

using engine::Engine;
using engine::JobResult;
using engine::JobState;
using engine::JobTicket;
using engine::TimePoint;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::steady_clock;

namespace {

size_t CountEntries(const char* directory) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) count += entry.exists();
  return count;
}

milliseconds UpTo(std::mt19937_64& random, uint64_t most) { return milliseconds(random() % (most + 1)); }

/// An answer, for comparing with others.
std::string Answer(const JobResult& result) {
  return StrCat(JobStateName(result.state), " ", result.proof ? *result.proof : result.error);
}

}  // namespace

size_t CountThreads() { return CountEntries("/proc/self/task"); }
size_t CountFiles() { return CountEntries("/proc/self/fd"); }

std::string StormReport::ToString() const {
  return StrCat(accepted, " accepted, ", joined, " joined: ", completed, " completed, ", failed, " failed, ", cancelled,
                " cancelled; ", restarts, " restarts, ", losses, " of them after the last device was lost");
}

Storm::Storm(StormWorld& world, const StormOptions& options) : world_(world), options_(options) {}

void Storm::WaitForGeneration(uint64_t after) {
  while (generation_ == after) std::this_thread::sleep_for(milliseconds(1));
}

Storm::Held Storm::Submit(const std::string& id, const StormRequest& request, std::optional<TimePoint> until) {
  for (;;) {
    auto [ticket, generation] = With([&](Engine& engine, uint64_t present) {
      return std::pair(engine.Submit({.request_id = id, .deadline = until, .vanilla = request.vanilla}), present);
    });
    if (ticket.ok()) {
      std::lock_guard lock(mutex_);
      (ticket->joined ? report_.joined : report_.accepted)++;
      return {*ticket, generation};
    }
    if (absl::IsUnavailable(ticket.status())) {
      WaitForGeneration(generation);
    } else {
      EXPECT_TRUE(absl::IsResourceExhausted(ticket.status())) << ticket.status();
      std::this_thread::sleep_for(milliseconds(2));
    }
  }
}

JobResult Storm::Await(const std::string& id, const StormRequest& request, std::optional<Held> held) {
  for (;;) {
    auto [result, generation] = With([&](Engine& engine, uint64_t present) {
      auto limit = steady_clock::now() + minutes(20);
      if (!held) return std::pair(engine.Await(id, limit), present);
      if (held->generation != present) {
        return std::pair(StatusOr<JobResult>(absl::UnavailableError("its engine has gone")), held->generation);
      }
      return std::pair(engine.Await(held->ticket.key, limit), present);
    });
    if (result.ok()) return *std::move(result);
    EXPECT_TRUE(absl::IsUnavailable(result.status())) << id << ": " << result.status();
    if (!absl::IsUnavailable(result.status())) return {};
    WaitForGeneration(generation);
    // A ticket's key is of its engine; who needs this payload's answer asks in the same words again.
    if (held) held = Submit(id, request, std::nullopt);
  }
}

void Storm::Hear(const std::string& id, const JobResult& result) {
  std::lock_guard lock(mutex_);
  Promise& promise = promises_.at(id);
  promise.heard.insert(Answer(result));
  EXPECT_EQ(promise.heard.size(), 1u) << id << " heard " << testing::PrintToString(promise.heard);
}

void Storm::Judge(const Promise& promise, const JobResult& result) {
  switch (result.state) {
    case JobState::kCompleted:
      EXPECT_EQ(promise.request.refused, "") << result.job_id;
      EXPECT_TRUE(With([&](Engine&, uint64_t) { return world_.Verifies(promise.request, *result.proof); }))
          << result.job_id;
      break;
    case JobState::kCancelled:
      EXPECT_TRUE(promise.may_cancel) << result.job_id << ": " << result.error;
      break;
    case JobState::kFailed: {
      using testing::HasSubstr;
      if (!promise.request.refused.empty() && result.error.find(promise.request.refused) != std::string::npos) break;
      if (promise.may_expire && result.error.starts_with("the deadline passed")) break;
      EXPECT_THAT(result.error,
                  testing::AnyOf(HasSubstr("(injected)"), HasSubstr("second wrong proof of the partition")));
      break;
    }
    default:
      ADD_FAILURE() << result.job_id << " has not ended";
  }
}

void Storm::RunJob(const std::string& id, std::mt19937_64& random) {
  constexpr Habit kHabits[] = {Habit::kProve,  Habit::kProve,      Habit::kProve,  Habit::kProve,
                               Habit::kProve,  Habit::kCancel,     Habit::kRepeat, Habit::kSameIdOtherPayload,
                               Habit::kForget, Habit::kDisconnect, Habit::kForget, Habit::kShortDeadline};
  const Habit habit = kHabits[random() % std::size(kHabits)];
  const StormRequest request = world_.MakeRequest(random);
  std::optional<TimePoint> until;
  if (habit == Habit::kShortDeadline) until = steady_clock::now() + UpTo(random, 100);
  if (habit != Habit::kSameIdOtherPayload) {
    std::lock_guard lock(mutex_);
    promises_[id] = {.request = request,
                     .may_cancel = habit == Habit::kCancel || habit == Habit::kDisconnect,
                     .may_expire = habit == Habit::kShortDeadline};
  }
  const Held held = Submit(id, request, until);
  switch (habit) {
    case Habit::kForget:
      return;
    case Habit::kDisconnect:
      With([&](Engine& engine, uint64_t present) {
        if (held.generation != present) return 0;  // its connection went with the daemon
        (void)engine.Await(held.ticket.key, steady_clock::now() + UpTo(random, 10));
        engine.Abandon(held.ticket);
        return 0;
      });
      return;
    case Habit::kCancel:
      std::this_thread::sleep_for(UpTo(random, 10));
      With([&](Engine& engine, uint64_t) {
        auto cancelled = engine.Cancel(id);
        EXPECT_TRUE(cancelled.ok() || absl::IsUnavailable(cancelled.status())) << cancelled.status();
        return 0;
      });
      break;
    case Habit::kSameIdOtherPayload: {
      const StormRequest other = world_.MakeRequest(random);
      const Held second = Submit(id, other, std::nullopt);
      Judge({.request = request}, Await(id, request, held));
      Judge({.request = other}, Await(id, other, second));
      return;
    }
    case Habit::kRepeat:
      Submit(id, request, std::nullopt);
      break;
    case Habit::kProve:
    case Habit::kShortDeadline:
      break;
  }
  Hear(id, Await(id, request, std::nullopt));
}

void Storm::RunClient(unsigned client) {
  std::mt19937_64 random(options_.seed * 1000 + client);
  for (;;) {
    const unsigned job = jobs_begun_++;
    if (job >= options_.jobs) return;
    RunJob(StrCat("storm ", client, " [", job, "]"), random);
    jobs_over_++;
  }
}

void Storm::Restart() {
  Engine* old;
  {
    std::shared_lock lock(gate_);
    old = engine_;
  }
  const bool lost = !old->Ready().ok();
  old->Drain(steady_clock::now() + milliseconds(report_.restarts % 2 * 20));  // callers hear that it stops
  std::unique_lock lock(gate_);
  world_.Stop();
  engine_ = &world_.Start();
  {
    std::lock_guard report(mutex_);
    report_.restarts++;
    report_.losses += lost;
  }
  generation_++;
}

void Storm::Sweep() {
  for (auto& [id, promise] : promises_) {
    JobResult result = Await(id, promise.request, std::nullopt);
    Hear(id, result);
    Judge(promise, result);
    std::lock_guard lock(mutex_);
    report_.completed += result.state == JobState::kCompleted;
    report_.failed += result.state == JobState::kFailed;
    report_.cancelled += result.state == JobState::kCancelled;
  }
  // All that the jobs held comes back, parameters and idle buffers aside.
  for (auto limit = steady_clock::now() + minutes(5); steady_clock::now() < limit;) {
    engine::EngineStatus status = engine_->Snapshot();
    uint64_t held = status.budget.used_by_class[static_cast<size_t>(memory::MemoryClass::kRequests)] +
                    status.budget.used_by_class[static_cast<size_t>(memory::MemoryClass::kWitnesses)];
    for (const auto& device : status.devices) held += device.pool.used_slabs + device.queued;
    for (const auto& [kind, totals] : status.kinds) held += totals.pending + totals.in_progress;
    if (held == 0) return;
    std::this_thread::sleep_for(milliseconds(5));
  }
  ADD_FAILURE() << "something is held after every job has ended";
}

StormReport Storm::Run() {
  const size_t threads = CountThreads(), files = CountFiles();
  engine_ = &world_.Start();
  {
    std::vector<std::jthread> clients;
    for (unsigned client = 0; client < options_.clients; ++client) {
      clients.emplace_back([this, client] { RunClient(client); });
    }
    std::mt19937_64 random(options_.seed);
    unsigned faults = 0, restarts = 0;
    while (jobs_over_ < options_.jobs) {
      std::this_thread::sleep_for(milliseconds(1));
      const unsigned over = jobs_over_;
      if (faults < options_.faults && over >= faults * options_.jobs / options_.faults) {
        world_.InjectFault(random);
        faults++;
      }
      const bool due = restarts < options_.restarts && over > (restarts + 1) * options_.jobs / (options_.restarts + 1);
      if (due || !engine_->Ready().ok()) {
        restarts += due;
        Restart();
      }
    }
  }
  if (!engine_->Ready().ok()) Restart();
  Sweep();
  world_.Stop();
  EXPECT_EQ(CountThreads(), threads);
  EXPECT_EQ(CountFiles(), files);
  EXPECT_EQ(promises_.empty(), false);
  return report_;
}

}  // namespace cuzk::testing_support
