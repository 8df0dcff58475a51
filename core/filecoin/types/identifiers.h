#pragma once
// Names that sectors and provers have inside hashes.

#include <cstdint>

#include "core/base/bytes.h"
#include "core/filecoin/types/registry.h"

namespace cuzk::filecoin {

/// The miner id as unsigned LEB128, left aligned, padded with zeros.
Bytes32 ProverId(uint64_t miner_id);

/// The 32 bytes that make each seal proof's graph and replicas its own: the registered number, little-endian.
Bytes32 PorepId(uint64_t registered_proof);

struct ReplicaFacts {
  uint64_t miner_id, sector_number;
  Bytes32 ticket, comm_d, porep_id;
};
/// SHA-256 of prover id, sector number (big-endian), ticket, comm_d and porep_id, top two bits of the last byte
/// cleared.
Bytes32 ReplicaId(const ReplicaFacts& facts);

/// Clears the two top bits of a little-endian value, which makes any 32 bytes a field element.
inline Bytes32 ClearTopBits(Bytes32 bytes) {
  bytes[31] &= 0x3f;
  return bytes;
}

}  // namespace cuzk::filecoin
