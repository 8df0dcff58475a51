#pragma once
// Proof of spacetime: FallbackPoStCircuit, which serves WinningPoSt and WindowPoSt. One partition.

#include <cstdint>
#include <vector>

#include "core/circuit/values/path.h"

namespace cuzk::circuit {

struct PostSpec {
  TreeShape replica_tree;  ///< Poseidon
  uint32_t sectors = 0;
  uint32_t challenges = 0;  ///< per sector
  friend bool operator==(const PostSpec&, const PostSpec&) = default;
};

struct PostChallenge {
  Fr leaf;
  PathInputs comm_r_last_path;
};

/// What errors call a sector of the circuit.
struct PostSectorName {
  uint64_t number = 0;           ///< the sector's number
  uint32_t item = 0;             ///< its place in the request
  uint32_t first_challenge = 0;  ///< of the item's: WinningPoSt spreads one item over several sectors of the circuit
};

struct PostSector {
  Fr comm_r, comm_c, comm_r_last;
  std::vector<PostChallenge> challenges;
  PostSectorName name;
};

struct PostInputs {
  /// At most the spec's sectors, at least one: the last one is repeated for the missing ones.
  std::vector<PostSector> sectors;
};

}  // namespace cuzk::circuit
