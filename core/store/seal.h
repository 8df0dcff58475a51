#pragma once
// Digests by which the store notices what the disk has changed.

#include <string_view>

#include "core/base/bytes.h"
#include "core/store/row.h"

namespace cuzk::store {

/// SHA-256 over the columns that never change: kind, registered_proof, payload_bytes, submitted_ms, id, digest.
Bytes32 SealOf(const StoredJob& job);
/// Whether the column holds that digest.
bool Equal(std::string_view column, const Bytes32& digest);
/// Whether a completed job still has the proof that was stored: of a possible length, and with its digest.
bool IsStoredProof(std::string_view proof, std::string_view digest);

}  // namespace cuzk::store
