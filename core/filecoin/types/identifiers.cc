#include "core/filecoin/types/identifiers.h"

#include "core/base/hash.h"

namespace cuzk::filecoin {

Bytes32 ProverId(uint64_t miner_id) {
  Bytes32 id{};
  for (size_t i = 0; miner_id != 0; ++i, miner_id >>= 7) {
    id[i] = static_cast<uint8_t>((miner_id & 0x7f) | (miner_id > 0x7f ? 0x80 : 0));
  }
  return id;
}

Bytes32 PorepId(uint64_t registered_proof) {
  Bytes32 id{};
  StoreLe(id.data(), registered_proof);
  return id;
}

Bytes32 ReplicaId(const ReplicaFacts& facts) {
  uint8_t sector[8];
  StoreBe(sector, facts.sector_number);
  Hasher hasher(HashKind::kSha256);
  hasher.Update(ProverId(facts.miner_id));
  hasher.Update(sector);
  hasher.Update(facts.ticket);
  hasher.Update(facts.comm_d);
  hasher.Update(facts.porep_id);
  return ClearTopBits(hasher.Finish32());
}

}  // namespace cuzk::filecoin
