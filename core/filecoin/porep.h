#pragma once
// From a C1 output to partitions, with every relation between its values checked that the circuit does not close.

#include "core/filecoin/partition.h"
#include "core/filecoin/public_inputs.h"
#include "core/filecoin/types/vanilla.h"

namespace cuzk::filecoin {

/// Checks and converts. `miner_id` and `sector_number` are the message's: replica_id must follow from them.
///
/// Checked here: replica_id; challenges and parents are the derived ones, and every path and column stands at its node;
/// every claimed root is comm_d, comm_r_last or comm_c; the replica's leaf is key + data; the redundant parents' labels
/// agree. Left to the circuit, which has the hashes: comm_r = H(comm_c, comm_r_last), every path leads to its root,
/// labels are what their parents give, and column hashes are the claimed leaves of tree C.
StatusOr<std::vector<Partition>> MakePorepPartitions(PorepVanilla vanilla, uint64_t miner_id, uint64_t sector_number);

/// The label of one node in one layer (1 is the first): SHA-256 over the replica id, layer, node and 37 parent labels.
Bytes32 Label(const Bytes32& replica_id, uint64_t layer, uint64_t node, std::span<const Fr> parents);

/// The 37 labels that go into the label of a layer (1 is the first), taken from the parents' columns.
std::vector<Fr> ExpandedParents(const PorepChallengeProof& proof, uint64_t layer);

}  // namespace cuzk::filecoin
