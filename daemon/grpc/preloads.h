#pragma once
// Loads that clients asked for: they go on when the clients that wait for them have gone.

#include <future>
#include <map>
#include <stop_token>
#include <string>
#include <thread>

#include "core/base/mutex.h"
#include "core/engine/engine.h"

namespace cuzk::daemon {

/// Thread-safe. One thread per circuit that is being loaded. The engine must outlive it; the destructor waits for the
/// loads, which `stop` ends.
class Preloads {
 public:
  Preloads(engine::Engine& engine, std::stop_token stop) : engine_(engine), stop_(std::move(stop)) {}

  using Result = StatusOr<engine::PreloadResult>;
  using Load = std::shared_future<Result>;

  /// Begins the load, or joins one of the same circuit. Its result and errors are those of Engine::Preload.
  Load Begin(const std::string& circuit_id);

 private:
  engine::Engine& engine_;
  const std::stop_token stop_;
  Mutex mutex_;
  std::map<std::string, Load> loads_ ABSL_GUARDED_BY(mutex_);            // by circuit
  std::map<std::string, std::jthread> threads_ ABSL_GUARDED_BY(mutex_);  // last: joined first
};

}  // namespace cuzk::daemon
