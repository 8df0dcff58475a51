#pragma once
// The fields of a proof request that matter to proving, and the check of those that are visible without parsing.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/filecoin/types/registry.h"

namespace cuzk::filecoin {

/// The fields of a proof request as they are on the wire; the byte fields are moved in, never copied.
struct VanillaRequest {
  uint64_t kind = 0;  // number of a Kind
  uint64_t registered_proof = 0;
  uint64_t sector_size = 0;  // 0: not said
  uint64_t sector_number = 0;
  uint64_t miner_id = 0;
  uint32_t partition_index = 0;             // window
  std::string vanilla_proof;                // PoRep: the wrapped C1
  std::vector<std::string> vanilla_proofs;  // PoSt: one item a sector, ascending; snap: one a partition, in order
  std::string randomness;                   // PoSt: 32 bytes
  std::string comm_r_old, comm_r_new, comm_d_new;  // snap: 32 bytes each

  /// Bytes of the payload fields.
  uint64_t payload_bytes() const;
};

/// The meaning of the message fields, checked.
struct RequestFacts {
  Kind kind;
  /// For PoRep, the row of the number in the message; if the C1 names another row, the C1 decides.
  const RegisteredProof* proof;
  Bytes32 randomness{};                              // PoSt
  Bytes32 comm_r_old{}, comm_r_new{}, comm_d_new{};  // snap
};

/// Looks at the message fields only, and at the sector id that begins each PoSt item; cheap. InvalidArgument as in
/// docs/FORMATS.md, Errors (kind, registered proof, sector size, randomness and commitments, number and order of
/// vanilla proofs); Unimplemented for non-interactive PoRep numbers.
StatusOr<RequestFacts> CheckRequest(const VanillaRequest& request);

}  // namespace cuzk::filecoin
