#pragma once
// Parameters that have not been used for a while are dropped.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/engine/jobs/status.h"

namespace cuzk::daemon {

/// Not thread-safe. It only decides; the caller unloads, and gives the time.
class IdleParameters {
 public:
  /// Circuits in `kept` stay whatever happens.
  explicit IdleParameters(std::set<std::string> kept) : kept_(std::move(kept)) {}

  /// Circuits that have been idle on every device for at least `limit`; none if that is zero. To be called about once a
  /// second: a use between two calls shows as a partition more.
  std::vector<std::string> Due(const engine::EngineStatus& status, engine::TimePoint now, engine::Duration limit);

 private:
  const std::set<std::string> kept_;
  std::map<std::string, engine::TimePoint> idle_since_;
};

}  // namespace cuzk::daemon
