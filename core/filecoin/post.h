#pragma once
// From the items of a PoSt request to its one partition.

#include "core/filecoin/partition.h"
#include "core/filecoin/public_inputs.h"
#include "core/filecoin/types/vanilla.h"

namespace cuzk::filecoin {

/// Checks and converts the items of one request; they are freed as they are read. Checked here: every path stands at
/// the derived challenge, and its root is comm_r_last; sectors ascend. Left to the circuit: comm_r = H(comm_c,
/// comm_r_last) and that every path leads to its root.
///
/// Errors begin with the sector: "sector 1005 (item 3), challenge 7: …". Where the challenges of the first sector are
/// those of another partition index, the text says which.
StatusOr<Partition> MakePostPartition(const PostPublic& facts, std::vector<std::string> items);

}  // namespace cuzk::filecoin
