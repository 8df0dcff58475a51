#pragma once
// Sizes, durations and shares as people read them.

#include <cstdint>
#include <string>

namespace cuzk::daemon {

/// "71.2": in GiB, without the unit.
std::string Gib(uint64_t bytes);
/// "44.1 GiB", or "12 MiB" below one GiB.
std::string Amount(uint64_t bytes);
/// "71.2 of 139.8 GiB".
std::string Share(uint64_t used, uint64_t all);
/// "18 s", "12 min", "3 h 5 min" or "2 d 4 h".
std::string DurationText(double seconds);
/// "42 %", rounded down.
std::string Percent(double fraction);

}  // namespace cuzk::daemon
