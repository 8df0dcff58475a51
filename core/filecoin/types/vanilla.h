#pragma once
// Vanilla proofs as they were read: every value canonical, every count and length that of the sector size, and nothing
// else checked yet. Values that the message repeats (roots, leaves, indices) are kept, because they must agree.

#include <array>
#include <cstdint>
#include <vector>

#include "core/algebra/field/fr.h"
#include "core/base/bytes.h"
#include "core/circuit/values/path.h"
#include "core/filecoin/types/registry.h"

namespace cuzk::filecoin {

using algebra::Fr;

/// A Merkle proof: `path` has the siblings of all levels from the leaf up, and the leaf's index from the positions.
struct MerkleProof {
  Fr root{}, leaf{};
  circuit::PathInputs path;
};

struct ColumnProof {
  uint64_t index = 0;     // the node
  std::vector<Fr> rows;   // a label per layer, layer 1 first
  MerkleProof inclusion;  // in tree C; its leaf is the column's hash
};

/// A labeling or encoding proof.
struct LabelProof {
  std::vector<Fr> parents;  // 37
  uint64_t layer = 0;       // 1 is the first
  uint64_t node = 0;
};

struct PorepChallengeProof {
  MerkleProof comm_d, comm_r_last;
  ColumnProof column;  // of the challenged node
  std::array<ColumnProof, kDrgParents> drg_parents;
  std::array<ColumnProof, kExpanderParents> expander_parents;
  std::vector<LabelProof> labeling;  // one a layer
  LabelProof encoding;
};

/// A C1 output.
struct PorepVanilla {
  const RegisteredProof* proof = nullptr;
  Bytes32 comm_r{}, comm_d{}, replica_id{};  // canonical, and neither commitment zero
  Bytes32 seed{}, ticket{};
  std::vector<std::vector<PorepChallengeProof>> partitions;
};

/// One item of a PoSt request.
struct PostVanilla {
  uint64_t sector_id = 0;
  Fr comm_r{}, comm_c{}, comm_r_last{};
  std::vector<MerkleProof> proofs;  // in tree R-last
};

struct UpdateChallengeProof {
  MerkleProof r_old, d_new, r_new;
};

/// One item of a snap request: one partition.
struct UpdateVanilla {
  Fr comm_c{};
  std::vector<Fr> apex_leaves;
  std::vector<UpdateChallengeProof> challenges;
};

}  // namespace cuzk::filecoin
