#pragma once
// The synthesis threads: requests are parsed, and witnesses written into their leases.

#include <deque>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "core/engine/stages/context.h"
#include "core/engine/stages/parse.h"
#include "core/engine/stages/tasks.h"

namespace cuzk::engine {

/// What a synthesis thread may be given.
using HostTask = std::variant<ParseTask, SynthesisTask>;

class SynthesisStage {
 public:
  SynthesisStage(const StageContext& context, ParseStage& parse) : c_(context), parse_(parse) {}
  /// RESOURCE_EXHAUSTED: the system gives no thread.
  Status Start(unsigned threads);
  /// Wakes the threads when the engine is stopping.
  void Stop() { wake_.NotifyAll(); }

  void Push(HostTask task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Whether a thread would take a task at once.
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { return idle_ > tasks_.size(); }
  unsigned idle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { return idle_; }
  unsigned threads() const { return static_cast<unsigned>(threads_.size()); }

 private:
  void Run(unsigned thread);
  void Synthesize(SynthesisTask synthesis, const std::string& track);

  const StageContext& c_;
  ParseStage& parse_;
  Condition wake_;
  std::deque<HostTask> tasks_ ABSL_GUARDED_BY(kEngineState);  // no more than there are idle threads
  unsigned idle_ ABSL_GUARDED_BY(kEngineState) = 0;           // threads that wait for a task
  std::vector<std::jthread> threads_;                         // last: joined first
};

}  // namespace cuzk::engine
