#include "daemon/grpc/preloads.h"

#include <chrono>
#include <system_error>

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
    auto work = [this, circuit_id] { return engine_.Preload(circuit_id, stop_); };
    try {
      load = std::async(std::launch::async, work);
    } catch (const std::system_error& error) {  // the library's word for a thread that cannot be had
      std::promise<Result> refused;
      refused.set_value(absl::ResourceExhaustedError(StrCat("no thread could be started for loading: ", error.what())));
      load = refused.get_future().share();
    }
  }
  return load;
}

}  // namespace cuzk::daemon
