#pragma once
// Native hashes of the Merkle trees.

#include <span>

#include "core/filecoin/types/vanilla.h"

namespace cuzk::filecoin {

/// SHA-256 of both nodes' bytes, top two bits of the last byte cleared: the hash of tree D.
Fr DataTreeHash(const Fr& left, const Fr& right);

/// The parent of a whole group in `tree`: DataTreeHash where it is binary (tree D), else Poseidon.
Fr HashGroup(const circuit::TreeShape& tree, std::span<const Fr> group);

/// The root that the proof's leaf and path lead to.
Fr RootOf(const circuit::TreeShape& tree, const Fr& leaf, const circuit::PathInputs& path);

}  // namespace cuzk::filecoin
