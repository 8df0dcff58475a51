#include "daemon/grpc/preloads.h"

#include <chrono>
#include <memory>
#include <utility>

#include "core/base/thread.h"

namespace cuzk::daemon {

Preloads::Load Preloads::Begin(const std::string& circuit_id) {
  // Texts of clients that name no circuit are not kept.
  if (filecoin::FindCircuit(circuit_id) == nullptr) {
    std::promise<Result> refused;
    refused.set_value(engine_.Preload(circuit_id, stop_));
    return refused.get_future().share();
  }
  MutexLock lock(mutex_);
  Load& load = loads_[circuit_id];
  if (!load.valid() || load.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    auto work = [this, circuit_id] { return engine_.Preload(circuit_id, stop_); };
    auto result = std::make_shared<std::promise<Result>>();
    load = result->get_future().share();
    StatusOr<std::jthread> thread = StartThread("the load", [work, result] { result->set_value(work()); });
    if (thread.ok()) {
      threads_[circuit_id] = *std::move(thread);  // the one before has ended with its load
    } else {
      result->set_value(absl::UnavailableError(thread.status().message()));
    }
  }
  return load;
}

}  // namespace cuzk::daemon
