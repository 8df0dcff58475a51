#pragma once
// Which of several devices gets the next partition.

#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/clock.h"

namespace cuzk::engine {

/// A device that could take it.
struct Candidate {
  size_t load = 0;               ///< partitions that it has in hand, that wait for it or that were promised
  bool room = true;              ///< whether it may be given one more now
  std::optional<Duration> pace;  ///< how long it has computed such a partition; nothing before the first
};

/// The place in the list of the device that would be done with the partition first; of equal ones, the first. A device
/// without a pace is taken to be as fast as the fastest. Nothing if that device has no room now: to wait for it is
/// better than to give the partition to a slower one.
std::optional<size_t> ChooseBySpeed(const std::vector<Candidate>& candidates);

}  // namespace cuzk::engine
