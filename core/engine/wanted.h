#pragma once
// What the next turn of the scheduler needs; between admission.cc and relief.cc.

#include "core/engine/pipeline.h"

namespace cuzk::engine {

struct Pipeline::Wanted {
  SynthesisTask task;
  bool parse = false;
  bool in_flight = false;  ///< whether anything was on its way before memory was asked for
  uint64_t seen = 0;       ///< the budget's change count then
  uint64_t lease_bytes = 0, host_bytes = 0;
  uint64_t request_bytes = 0;  ///< of a request that lies in the store, and of its parsed form
  memory::Reservation request_memory;
};

}  // namespace cuzk::engine
