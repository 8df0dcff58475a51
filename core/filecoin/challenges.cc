#include "core/filecoin/challenges.h"

#include <algorithm>

#include "core/base/hash.h"
#include "core/circuit/poseidon/poseidon.h"
#include "core/circuit/update.h"
#include "core/filecoin/chacha.h"
#include "core/filecoin/partition.h"

namespace cuzk::filecoin {
namespace {

using algebra::Fr;

constexpr std::string_view kNonInteractiveTag = "filecoin.io|PoRep|1|NonInteractive|1";
constexpr std::string_view kGenerationKey = "filecoin.io|PoRep|1|Synthetic|1|Generation";
constexpr std::string_view kSelectionKey = "filecoin.io|PoRep|1|Synthetic|1|Selection";
constexpr uint64_t kSyntheticPool = uint64_t{1} << 18;

/// (h mod (nodes - 1)) + 1 for 32 little-endian bytes; nodes is below 2^32.
uint64_t ReduceToNode(const uint8_t* bytes, uint64_t nodes) {
  uint64_t remainder = 0;
  for (size_t word = 8; word-- > 0;) {
    remainder = (remainder << 32 | LoadLe<uint32_t>(bytes + 4 * word)) % (nodes - 1);
  }
  return remainder + 1;
}

/// The key stream that a synthetic set is drawn from: ChaCha20 with the nonce "synth-porep" and one zero byte.
ChaCha SyntheticStream(std::string_view purpose, const Bytes32& replica_id, const Bytes32& second) {
  uint8_t nonce[12] = {'s', 'y', 'n', 't', 'h', '-', 'p', 'o', 'r', 'e', 'p', 0};
  uint8_t message[64];
  std::copy(replica_id.begin(), replica_id.end(), message);
  std::copy(second.begin(), second.end(), message + 32);
  return ChaCha(20, KeyedBlake2b256(AsBytes(purpose), message),
                {LoadLe<uint32_t>(nonce), LoadLe<uint32_t>(nonce + 4), LoadLe<uint32_t>(nonce + 8)});
}

/// Entry n of the synthetic pool: bytes 32 n … 32 n + 31 of the stream, half a block.
uint64_t PoolEntry(const ChaCha& stream, uint32_t n, uint64_t nodes) {
  ChaCha::Block block = stream.BlockAt(n / 2);
  uint8_t bytes[32];
  for (size_t i = 0; i < 8; ++i) StoreLe(bytes + 4 * i, block[8 * (n % 2) + i]);
  return ReduceToNode(bytes, nodes);
}

std::vector<uint64_t> SyntheticChallenges(const PorepChallengeFacts& facts, uint32_t first, uint32_t count) {
  ChaCha pool = SyntheticStream(kGenerationKey, facts.replica_id, facts.comm_r);
  ChaCha selection = SyntheticStream(kSelectionKey, facts.replica_id, facts.seed);
  uint64_t pool_size = std::min(facts.nodes, kSyntheticPool);
  std::vector<uint64_t> challenges;
  for (uint32_t j = first; j < first + count; ++j) {
    uint32_t index = selection.BlockAt(j / 16)[j % 16] % pool_size;
    challenges.push_back(PoolEntry(pool, index, facts.nodes));
  }
  return challenges;
}

}  // namespace

std::vector<uint64_t> PorepChallenges(const PorepChallengeFacts& facts, uint32_t first, uint32_t count) {
  if (facts.feature == PorepFeature::kSynthetic) return SyntheticChallenges(facts, first, count);
  std::vector<uint64_t> challenges;
  for (uint32_t j = first; j < first + count; ++j) {
    uint8_t number[4];
    StoreLe(number, j);
    Hasher hasher(HashKind::kSha256);
    bool interactive = facts.feature == PorepFeature::kNone;
    if (!interactive) hasher.Update(AsBytes(kNonInteractiveTag));
    hasher.Update(facts.replica_id);
    hasher.Update(interactive ? facts.seed : facts.comm_r);
    hasher.Update(number);
    challenges.push_back(ReduceToNode(hasher.Finish32().data(), facts.nodes));
  }
  return challenges;
}

std::vector<uint64_t> SyntheticPool(const Bytes32& replica_id, const Bytes32& comm_r, uint64_t nodes, uint32_t size) {
  ChaCha stream = SyntheticStream(kGenerationKey, replica_id, comm_r);
  std::vector<uint64_t> pool;
  for (uint32_t n = 0; n < size; ++n) pool.push_back(PoolEntry(stream, n, nodes));
  return pool;
}

std::vector<uint64_t> SyntheticSelection(const Bytes32& replica_id, const Bytes32& seed, uint32_t pool_size,
                                         uint32_t count) {
  ChaCha selection = SyntheticStream(kSelectionKey, replica_id, seed);
  std::vector<uint64_t> indices;
  for (uint32_t j = 0; j < count; ++j) indices.push_back(selection.BlockAt(j / 16)[j % 16] % pool_size);
  return indices;
}

uint64_t PostChallenge(const Bytes32& randomness, uint64_t sector_id, uint64_t challenge_index, uint64_t nodes) {
  uint8_t numbers[16];
  StoreLe(numbers, sector_id);
  StoreLe(numbers + 8, challenge_index);
  Hasher hasher(HashKind::kSha256);
  hasher.Update(randomness);
  hasher.Update(numbers);
  return LoadLe<uint64_t>(hasher.Finish32().data()) % nodes;
}

Fr UpdatePhi(const Fr& comm_d_new, const Fr& comm_r_old) { return circuit::PoseidonRandomness(comm_d_new, comm_r_old); }

Fr UpdateRho(const Fr& phi, uint64_t challenge, const SizeRow& size) {
  return circuit::PoseidonRandomness(phi, Fr::FromU64(challenge >> (size.log2_nodes - UpdateCountsOf(size).h)));
}

std::vector<uint64_t> UpdateChallenges(const Fr& comm_r_new, uint32_t partition, const SizeRow& size) {
  const circuit::CircuitSpec spec = SpecOf(*FindCircuit(Kind::kSnap, size));
  return circuit::UpdateChallenges(std::get<circuit::UpdateSpec>(spec), comm_r_new, partition);
}

}  // namespace cuzk::filecoin
