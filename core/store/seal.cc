#include "core/store/seal.h"

#include <cstring>

#include "core/base/hash.h"

namespace cuzk::store {

Bytes32 SealOf(const StoredJob& job) {
  Hasher hasher(HashKind::kSha256);
  for (uint64_t value : {static_cast<uint64_t>(job.kind), job.registered_proof, job.payload_bytes,
                         static_cast<uint64_t>(job.submitted_ms), uint64_t{job.id.size()}}) {
    uint8_t bytes[8];
    StoreLe(bytes, value);
    hasher.Update(bytes);
  }
  hasher.Update(AsBytes(job.id));
  hasher.Update(job.digest);
  return hasher.Finish32();
}

bool Equal(std::string_view column, const Bytes32& digest) {
  return column.size() == digest.size() && std::memcmp(column.data(), digest.data(), digest.size()) == 0;
}

bool IsStoredProof(std::string_view proof, std::string_view digest) {
  return !proof.empty() && proof.size() % filecoin::kProofBytes == 0 && Equal(digest, Sha256(AsBytes(proof)));
}

}  // namespace cuzk::store
