#pragma once
#include <string>
#include <string_view>

namespace cuzk::daemon {

/// The compute capability of a card.
struct Capability {
  int major = 0, minor = 0;
};

/// Why a build whose kernels are compiled for `architectures` cannot use the card `name`: "this build has no code for
/// NVIDIA GeForce RTX 4090 (8.9); it has code for 8.0 and 9.0". Empty if it can. `architectures` as BuildInfo has them,
/// "80 90": instructions run on cards of the same major number that are not older, and the last one's PTX on every
/// later card.
std::string LackOfCode(std::string_view architectures, std::string_view name, Capability card);

}  // namespace cuzk::daemon
