#pragma once
// The relations that the circuits close, checked natively. Production leaves them to circuit::WriteWitness, which has
// the hashes anyway; audits, made requests and tests check them without a witness.

#include "core/filecoin/partition.h"

namespace cuzk::filecoin {

/// Every path leads to its root, every comm_r is the hash of comm_c and its root, labels and encodings hold. The text
/// names challenge (or sector) and relation.
Status CheckClosedRelations(const Circuit& circuit, const circuit::PartitionInputs& inputs);

}  // namespace cuzk::filecoin
