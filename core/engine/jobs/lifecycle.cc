#include "core/engine/jobs/lifecycle.h"

#include <algorithm>
#include <cstdio>

#include "core/base/check.h"

namespace cuzk::engine {
namespace {

using enum Life;
using enum Actor;

/// An outcome can come from any thread that works for a job or is asked to end it.
constexpr Actors kAnyWorker = {kCaller, kScheduler, kSynthesis, kLoader, kWorker, kFinisher};
/// The engine is stopped by a caller (Drain, the destructor) or by the thread that loses the last device.
constexpr Actors kStoppers = {kCaller, kLoader, kWorker};
/// The observer returns in the thread that ended the job.
constexpr Actors kAnyThread = {kCaller, kScheduler, kSynthesis, kLoader, kWorker, kFinisher, kRecorder};

constexpr Transition kTransitions[] = {
    // The way to a proof.
    {kWaiting, kParsing, {kScheduler}},
    {kSetAside, kParsing, {kScheduler}},
    {kParsing, kProving, {kSynthesis}},
    // A caller takes out the device that has the parameters, or brings one back.
    {kProving, kLoading, {kCaller, kScheduler, kSynthesis, kLoader, kWorker, kFinisher}},
    {kLoading, kProving, {kCaller, kScheduler, kSynthesis, kLoader, kWorker, kFinisher}},
    // Memory is short: the job gives back its parsed form, or its request that has not been parsed.
    {kWaiting, kSetAside, {kScheduler}},
    {kProving, kSetAside, {kScheduler}},
    {kLoading, kSetAside, {kScheduler}},
    // An outcome of a job that is stored; the recorder writes it down.
    {kWaiting, kRecording, kAnyWorker},
    {kParsing, kRecording, kAnyWorker},
    {kLoading, kRecording, kAnyWorker},
    {kProving, kRecording, kAnyWorker},
    {kSetAside, kRecording, kAnyWorker},
    // Admission ends a WinningPoSt whose record takes too long.
    {kRecording, kReporting, {kRecorder, kScheduler}},
    {kRecording, kEnded, {kRecorder, kScheduler}},
    // An outcome of a job that is not stored.
    {kWaiting, kReporting, kAnyWorker},
    {kParsing, kReporting, kAnyWorker},
    {kLoading, kReporting, kAnyWorker},
    {kProving, kReporting, kAnyWorker},
    {kWaiting, kEnded, kAnyWorker},
    {kParsing, kEnded, kAnyWorker},
    {kLoading, kEnded, kAnyWorker},
    {kProving, kEnded, kAnyWorker},
    {kReporting, kEnded, kAnyThread},
    // The engine stops and the store keeps the job.
    {kWaiting, kSuspended, kStoppers},
    {kParsing, kSuspended, kStoppers},
    {kLoading, kSuspended, kStoppers},
    {kProving, kSuspended, kStoppers},
    {kSetAside, kSuspended, kStoppers},
    // Callers and the result.
    {kEnded, kDelivering, {kCaller}},
    {kDelivering, kEnded, {kCaller}},
    {kEnded, kFetched, {kCaller}},
    {kDelivering, kFetched, {kCaller}},
};

}  // namespace

std::string_view LifeName(Life life) {
  static constexpr std::string_view kNames[kLifeCount] = {"waiting",   "parsing",    "loading",   "proving",
                                                          "set aside", "suspended",  "recording", "reporting",
                                                          "ended",     "delivering", "fetched"};
  return kNames[static_cast<size_t>(life)];
}

std::string_view ActorName(Actor actor) {
  static constexpr std::string_view kNames[kActorCount] = {"caller", "scheduler", "synthesis", "loader",
                                                           "worker", "finisher",  "recorder"};
  return kNames[static_cast<size_t>(actor)];
}

std::span<const Transition> Transitions() { return kTransitions; }

bool MayTake(Life from, Life to, Actor by) {
  return std::any_of(std::begin(kTransitions), std::end(kTransitions), [&](const Transition& transition) {
    return transition.from == from && transition.to == to && transition.by.Has(by);
  });
}

JobLife::JobLife(Life first) : now_(first) {
  CUZK_CHECK(first == Life::kWaiting || first == Life::kEnded || first == Life::kFetched);
}

void JobLife::Take(Life to, Actor by) {
  const bool may_take = MayTake(now_, to, by);
  if (!may_take) {
    std::fprintf(stderr, "a job may not go from %s to %s by the %s\n", LifeName(now_).data(), LifeName(to).data(),
                 ActorName(by).data());
  }
  CUZK_CHECK(may_take);
  now_ = to;
}

}  // namespace cuzk::engine
