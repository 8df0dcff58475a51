#pragma once
// Devices that stand still alone: they have work and do nothing, while another one would do it.

#include <cstddef>
#include <vector>

#include "daemon/app/watch/liveness.h"

namespace cuzk::daemon {

/// Not thread-safe. Times are given.
class StallWatch {
 public:
  /// A device that is idle, or has done something within `patience`, moves.
  explicit StallWatch(engine::Duration patience) : patience_(patience) {}

  /// To be called about once a second. The devices, by their place in the sample, that have had work and done nothing
  /// for longer than `patience` while another one that works moves. Devices on the processor are not judged: theirs may
  /// take hours for a stage. Where the look before was long ago, the whole process stood still, which counts for
  /// nothing; nor does the time in which the job store hangs.
  std::vector<size_t> See(const LivenessSample& sample, engine::TimePoint now);

 private:
  struct Mover {
    std::string work;
    engine::TimePoint moved{};
  };
  const engine::Duration patience_;
  std::vector<Mover> devices_;
  engine::TimePoint looked_{};
};

}  // namespace cuzk::daemon
