#pragma once
// The circuits of the sizes that have recorded digests, from the tables of the specification.

#include <string>
#include <vector>

#include "core/circuit/circuit.h"

namespace cuzk::circuit {

struct NamedSpec {
  std::string name;  // of the file of its digests: "porep-2KiB"
  CircuitSpec spec;
  bool long_digest;  // the whole digest takes minutes
};

inline std::vector<NamedSpec> RecordedSpecs() {
  struct Size {
    const char* name;
    uint32_t log2_nodes, base, sub, top;
    bool production;
    uint32_t update_partition_bits, update_apex_bits, update_challenges, window_sectors;
  };
  const Size sizes[] = {{"2KiB", 6, 8, 0, 0, false, 0, 3, 10, 2},     {"16KiB", 9, 8, 8, 0, false, 1, 7, 10, 2},
                        {"8MiB", 18, 8, 0, 0, false, 2, 7, 10, 2},    {"512MiB", 24, 8, 0, 0, false, 4, 7, 86, 2},
                        {"32GiB", 30, 8, 8, 0, true, 4, 7, 86, 2349}, {"64GiB", 31, 8, 8, 2, true, 4, 7, 86, 2300}};
  std::vector<NamedSpec> specs;
  for (const Size& s : sizes) {
    const uint64_t nodes = uint64_t{1} << s.log2_nodes;
    const TreeShape replica{nodes, s.base, s.sub, s.top};
    const std::string suffix = std::string("-") + s.name;
    specs.push_back({"porep" + suffix,
                     PorepSpec{{nodes, 2, 0, 0}, replica, s.production ? 11u : 2u, s.production ? 18u : 2u},
                     s.production});
    specs.push_back({"winning" + suffix, PostSpec{replica, 66, 1}, false});
    specs.push_back({"window" + suffix, PostSpec{replica, s.window_sectors, 10}, s.production});
    UpdateSpec update{replica, s.update_partition_bits, s.update_apex_bits, s.update_challenges, {1, 1, 1, 1, 1, 1}};
    if (s.log2_nodes > 10) update.h_values = {7, 8, 9, 10, 11, 12};
    specs.push_back({"update" + suffix, update, s.production});
  }
  return specs;
}

}  // namespace cuzk::circuit
