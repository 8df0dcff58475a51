#pragma once
// The life of a job: the states that it can be in, what may follow each, and which thread may take that step. The table
// in lifecycle.cc is the only place that says so, and JobLife refuses every other step.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace cuzk::engine {

enum class Life : uint8_t {
  kWaiting,     ///< accepted; its request waits to be parsed
  kParsing,     ///< a synthesis thread has its request
  kLoading,     ///< parsed; partitions wait, and no device has the parameters
  kProving,     ///< parsed; its partitions are admitted, on their way or proved
  kSetAside,    ///< its memory was lent to other jobs; it is parsed again once no parameters are being loaded
  kSuspended,   ///< the engine stopped; the store keeps the job for the next start
  kRecording,   ///< it has an outcome, which is being written to the store
  kReporting,   ///< it has ended; the observer is being told
  kEnded,       ///< callers are given the result; no caller has received it
  kDelivering,  ///< the result was given to callers of whom it is not known yet whether they received it
  kFetched,     ///< a caller has received the result
};
inline constexpr size_t kLifeCount = 11;
/// "waiting", "parsing", and so on.
std::string_view LifeName(Life life);

/// The kinds of threads that hold the engine's mutex.
enum class Actor : uint8_t {
  kCaller,     ///< a thread of the daemon inside Engine's functions, and the engine's constructor and destructor
  kScheduler,  ///< admission
  kSynthesis,  ///< parses requests and writes witnesses
  kLoader,
  kWorker,  ///< of a device
  kFinisher,
  kRecorder
};
inline constexpr size_t kActorCount = 7;
std::string_view ActorName(Actor actor);

/// A set of actors.
class Actors {
 public:
  constexpr Actors(std::initializer_list<Actor> actors) {
    for (Actor actor : actors) bits_ |= 1u << static_cast<unsigned>(actor);
  }
  constexpr bool Has(Actor actor) const { return (bits_ >> static_cast<unsigned>(actor) & 1) != 0; }

 private:
  unsigned bits_ = 0;
};

struct Transition {
  Life from, to;
  Actors by;
};
/// Every step that a job may take.
std::span<const Transition> Transitions();
bool MayTake(Life from, Life to, Actor by);

/// The outcome is decided, or left to the next start: nothing more is to be done for the job.
constexpr bool IsOver(Life life) { return life >= Life::kSuspended; }
/// It has ended as its callers see it.
constexpr bool HasEnded(Life life) { return life >= Life::kReporting; }
/// Its result can be given to callers.
constexpr bool IsAnswered(Life life) { return life >= Life::kEnded; }

/// The state of one job. Not thread-safe.
class JobLife {
 public:
  /// kWaiting for an accepted job; kEnded or kFetched for one whose end the store kept.
  explicit JobLife(Life first = Life::kWaiting);
  Life now() const { return now_; }
  bool Is(Life life) const { return now_ == life; }
  /// A step that is not in the table ends the process: it is a bug of the engine.
  void Take(Life to, Actor by);

 private:
  Life now_;
};

}  // namespace cuzk::engine
