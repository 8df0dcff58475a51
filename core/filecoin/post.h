#pragma once
// From the items of a PoSt request to its one partition.

#include "core/filecoin/partition.h"
#include "core/filecoin/public_inputs.h"
#include "core/filecoin/types/vanilla.h"

namespace cuzk::filecoin {

/// Checks and converts the items of one request, which passed CheckRequest; they are freed as they are read. Checked
/// here: every path stands at the derived challenge, and its root is comm_r_last. Left to the circuit: comm_r =
/// H(comm_c, comm_r_last) and that every path leads to its root; where an item is bad, these are checked here as well.
///
/// Errors are those of circuit::BadSectorsError and name every bad sector. Where no sector has the challenges of this
/// request, the request is to blame and no sector is: a plain InvalidArgument shows the first one, and says which
/// partition index its challenges belong to, if any.
StatusOr<Partition> MakePostPartition(const PostPublic& facts, std::vector<std::string> items);

}  // namespace cuzk::filecoin
