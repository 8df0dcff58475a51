#pragma once
// The circuits of 32 and 64 GiB sectors, as plans need to know them, without making their shapes.

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/prover/placement.h"

namespace cuzk::gpu::testing {

struct ProductionCircuit {
  std::string id;
  uint64_t inputs, aux, rows, a_aux, b_aux, boolean_aux;

  /// The leases of PoSt hold an element for nearly every row, those of the others nearly none: as the aux are.
  CircuitSizes sizes() const {
    CircuitSizes s;
    while (uint64_t{1} << s.log2_domain < rows + inputs) ++s.log2_domain;
    s.inputs = inputs;
    s.aux = aux;
    s.whole_aux = aux - boolean_aux;
    s.counts.ic = inputs;
    s.counts[groth16::Query::kH] = (uint64_t{1} << s.log2_domain) - 1;
    s.counts[groth16::Query::kL] = aux;
    s.counts[groth16::Query::kA] = inputs + a_aux;
    s.counts[groth16::Query::kBG1] = s.counts[groth16::Query::kBG2] = 1 + b_aux;
    s.lease_bytes = 3 * (rows + inputs) + aux / 8 + 4 * 32 * s.whole_aux;
    return s;
  }
};

inline std::vector<ProductionCircuit> ProductionCircuits() {
  return {
      {"porep-32g", 328, 130169893, 130278541, 129753292, 33112281, 128470791},
      {"porep-64g", 328, 131076643, 131185849, 130637542, 33386943, 129287037},
      {"wpost-32g", 25840, 126902376, 125279217, 96179805, 91925766, 1174500},
      {"wpost-64g", 25301, 131500200, 129887900, 99624500, 95413200, 1173000},
      {"winning-32g", 133, 375210, 370590, 284196, 272184, 3300},
      {"winning-64g", 133, 396000, 391314, 299838, 287694, 3366},
      {"snap-32g", 5, 80978488, 81049499, 80743581, 20983607, 80013450},
      {"snap-64g", 5, 84931220, 85006101, 84682725, 22012683, 83911830},
  };
}

}  // namespace cuzk::gpu::testing
