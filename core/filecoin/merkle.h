#pragma once
// Native hashes of the Merkle trees.

#include "core/filecoin/vanilla.h"

namespace cuzk::filecoin {

/// SHA-256 of both nodes' bytes, top two bits of the last byte cleared: the hash of tree D.
Fr DataTreeHash(const Fr& left, const Fr& right);

/// The root that the proof's leaf and path lead to. `tree` is binary with SHA-256 (tree D), else Poseidon.
Fr RootOf(const circuit::TreeShape& tree, const Fr& leaf, const circuit::PathInputs& path);

}  // namespace cuzk::filecoin
