#pragma once
// Proof of replication: StackedCircuit. One partition.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/circuit/values/path.h"

namespace cuzk::circuit {

inline constexpr uint32_t kDrgParents = 6;
inline constexpr uint32_t kExpanderParents = 8;
inline constexpr uint32_t kPorepParents = kDrgParents + kExpanderParents;

struct PorepSpec {
  TreeShape data_tree;      ///< tree D: binary, SHA-256
  TreeShape replica_tree;   ///< trees C and R-last: Poseidon
  uint32_t layers = 0;      ///< 2 or 11
  uint32_t challenges = 0;  ///< of one partition
  friend bool operator==(const PorepSpec&, const PorepSpec&) = default;
};

/// A parent's labels and where its column hash stands in tree C.
///
/// Values named `claimed` are not inputs of the circuit: the message repeats values that the witness computes anyway.
/// The writer of the witness compares them, so that no hash is computed only for the comparison; a wrong claim is a
/// broken relation.
struct PorepColumn {
  std::vector<Fr> labels;  ///< one per layer, layer 1 first
  PathInputs comm_c_path;
  std::optional<Fr> claimed_hash = std::nullopt;
};

struct PorepChallenge {
  Fr data_leaf;
  PathInputs comm_d_path;                          ///< binary
  std::array<PorepColumn, kPorepParents> parents;  ///< 6 of the DRG, then 8 of the expander, in graph order
  uint64_t challenge = 0;                          ///< the node
  PathInputs comm_r_last_path;
  PathInputs comm_c_path;          ///< of the challenged node's own column
  std::vector<Fr> claimed_labels;  ///< of the challenged node, one per layer; empty: not claimed
  std::optional<Fr> claimed_column_hash = std::nullopt;
};

struct PorepInputs {
  Fr replica_id, comm_d, comm_r, comm_r_last, comm_c;
  std::vector<PorepChallenge> challenges;
};

}  // namespace cuzk::circuit
