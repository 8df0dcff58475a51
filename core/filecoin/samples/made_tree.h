#pragma once
// Merkle trees of any size that are nearly constant, so that only a few nodes have to be hashed.

#include <map>
#include <unordered_map>
#include <vector>

#include "core/filecoin/types/path_shape.h"
#include "core/filecoin/types/vanilla.h"

namespace cuzk::filecoin {

/// One value in every leaf but those listed.
class SparseTree {
 public:
  SparseTree(const circuit::TreeShape& tree, const Fr& default_leaf, const std::map<uint64_t, Fr>& leaves);
  const Fr& root() const { return Node(shape_.levels().size(), 0); }
  MerkleProof Prove(uint64_t leaf) const;

 private:
  const Fr& Node(size_t level, uint64_t index) const;

  PathShape shape_;
  std::vector<Fr> defaults_;                            // by level, leaves first
  std::vector<std::unordered_map<uint64_t, Fr>> rows_;  // nodes that differ, by level
};

/// The leaves cut into equal runs, a power of two of them, with one value in each run.
class RunTree {
 public:
  RunTree(const circuit::TreeShape& tree, const std::vector<Fr>& values);
  const Fr& root() const { return rows_.back()[0]; }
  MerkleProof Prove(uint64_t leaf) const;
  /// The node at `level` (0 is the leaves) that has `leaf` below it.
  const Fr& NodeAbove(size_t level, uint64_t leaf) const;

 private:
  PathShape shape_;
  uint64_t leaves_per_run_;
  size_t constant_levels_;             // levels of nodes that lie inside a run
  std::vector<std::vector<Fr>> runs_;  // by constant level: the node's value in each run
  std::vector<std::vector<Fr>> rows_;  // whole rows from the last constant level up
};

}  // namespace cuzk::filecoin
