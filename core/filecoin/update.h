#pragma once
// From the items of a snap request to its partitions.

#include "core/filecoin/partition.h"
#include "core/filecoin/public_inputs.h"
#include "core/filecoin/types/vanilla.h"

namespace cuzk::filecoin {

/// Checks and converts one item. Checked here: the roots of all data paths are comm_d_new and those of the replica
/// paths are the same for all challenges; the three paths of a challenge stand at the same node; the upper parts of the
/// data paths are those of the apex leaves' tree and agree above it. Left to the circuit: both comm_r = H(comm_c,
/// root); the challenges; the labels old + data * rho; that every path leads to its root and the apex leaves to
/// comm_d_new.
StatusOr<Partition> MakeUpdatePartition(const UpdatePublic& facts, uint32_t index, ByteSpan item);

}  // namespace cuzk::filecoin
