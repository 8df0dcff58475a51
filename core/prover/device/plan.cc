#include "core/prover/device/plan.h"

namespace cuzk::prover {

std::string_view PlacementName(Placement placement) {
  switch (placement) {
    case Placement::kHost:
      return "host";
    case Placement::kResident:
      return "resident";
    case Placement::kPinnedStreamed:
      return "pinned, streamed";
  }
  return "unknown";
}

}  // namespace cuzk::prover
