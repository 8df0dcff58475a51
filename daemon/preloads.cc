#include "daemon/preloads.h"

#include <chrono>

namespace cuzk::daemon {

Preloads::Load Preloads::Begin(const std::string& circuit_id) {
  // Texts of clients that name no circuit are not kept.
  if (filecoin::FindCircuit(circuit_id) == nullptr) {
    std::promise<Result> refused;
    refused.set_value(engine_.Preload(circuit_id, stop_));
    return refused.get_future().share();
  }
  std::lock_guard lock(mutex_);
  Load& load = loads_[circuit_id];
  if (!load.valid() || load.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    load = std::async(std::launch::async, [this, circuit_id] { return engine_.Preload(circuit_id, stop_); });
  }
  return load;
}

}  // namespace cuzk::daemon
