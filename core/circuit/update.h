#pragma once
// Sector update (SnapDeals): EmptySectorUpdateCircuit. One partition.

#include <array>
#include <cstdint>
#include <vector>

#include "core/circuit/values/path.h"

namespace cuzk::circuit {

inline constexpr uint32_t kUpdateHValues = 6;

struct UpdateSpec {
  TreeShape replica_tree;       ///< tree R, Poseidon; its leaves are the sector's nodes. Tree D is binary, SHA-256
  uint32_t partition_bits = 0;  ///< log2 of the number of partitions
  uint32_t apex_bits = 0;       ///< log2 of the number of apex leaves of a partition
  uint32_t challenges = 0;      ///< of one partition
  std::array<uint32_t, kUpdateHValues> h_values{};  ///< how many top bits of a challenge may select rho

  /// log2 of the nodes.
  uint32_t ChallengeBits() const;
  friend bool operator==(const UpdateSpec&, const UpdateSpec&) = default;
};

struct UpdateChallenge {
  Fr leaf_old;  ///< of the old replica
  Fr leaf_new;  ///< of the new replica; the circuit computes it and compares
  Fr leaf_data;
  /// The leaf index of each path is the challenge, which the circuit derives and compares.
  PathInputs path_old;   ///< to root_r_old
  PathInputs path_new;   ///< to root_r_new
  PathInputs data_path;  ///< binary: the first ChallengeBits() - partition_bits - apex_bits levels, up to the apex leaf
};

struct UpdateInputs {
  uint32_t partition = 0;
  uint32_t h_index = 0;  ///< which of the spec's h values
  Fr comm_r_old, comm_d_new, comm_r_new;
  Fr comm_c, root_r_old, root_r_new;
  std::vector<Fr> apex_leaves;         ///< 2^apex_bits, left to right
  std::vector<Fr> partition_siblings;  ///< partition_bits of them: from the apex root up to comm_d_new
  std::vector<UpdateChallenge> challenges;
};

/// The challenges of a partition: spec.challenges node indices, as the circuit derives them.
std::vector<uint64_t> UpdateChallenges(const UpdateSpec& spec, const Fr& comm_r_new, uint32_t partition);

}  // namespace cuzk::circuit
