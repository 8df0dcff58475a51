#pragma once
// The relations that the circuits close, checked natively. Production leaves them to circuit::WriteWitness, which has
// the hashes anyway; audits, made requests and tests check them without a witness.

#include <vector>

#include "core/circuit/bad_sectors.h"
#include "core/filecoin/partition.h"

namespace cuzk::filecoin {

/// Every path leads to its root, every comm_r is the hash of comm_c and its root, labels and encodings hold. The text
/// names challenge and relation; of a PoSt all bad sectors are named.
Status CheckClosedRelations(const Circuit& circuit, const circuit::PartitionInputs& inputs);

/// The same of a PoSt's sectors: those in which a relation does not hold, each with the first of them.
std::vector<circuit::BadSector> BrokenSectors(const SizeRow& size, const circuit::PostInputs& inputs);

}  // namespace cuzk::filecoin
