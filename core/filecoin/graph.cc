#include "core/filecoin/graph.h"

#include <algorithm>
#include <bit>

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/filecoin/chacha.h"
#include "core/filecoin/types/identifiers.h"

namespace cuzk::filecoin {
namespace {

Bytes32 DomainSeed(std::string_view domain, const Bytes32& porep_id) {
  Hasher hasher(HashKind::kSha256);
  hasher.Update(AsBytes(domain));
  hasher.Update(porep_id);
  return hasher.Finish32();
}

uint64_t FeistelRound(uint64_t right, uint64_t key, uint64_t mask) {
  uint8_t bytes[16];
  StoreBe(bytes, right);
  StoreBe(bytes + 8, key);
  return LoadBe<uint64_t>(Blake2b512(bytes).data()) & mask;
}

}  // namespace

Graph::Graph(const RegisteredProof& seal) : Graph(PorepId(seal.number), seal.size().nodes(), seal.version) {}

Graph::Graph(const Bytes32& porep_id, uint64_t nodes, ApiVersion version)
    : nodes_(nodes), version_(version), drg_seed_(DomainSeed("Filecoin_DRSample", porep_id)) {
  Bytes32 keys = DomainSeed("Filecoin_Feistel", porep_id);
  for (size_t i = 0; i < 3; ++i) feistel_keys_[i] = LoadLe<uint64_t>(keys.data() + 8 * i);
  unsigned bits = std::bit_width(kExpanderParents * nodes - 1);
  half_bits_ = (bits + 1) / 2;
}

std::array<uint64_t, kDrgParents> Graph::DrgParents(uint64_t node) const {
  constexpr uint64_t kSampled = kDrgParents - 1;
  std::array<uint64_t, kDrgParents> parents{};
  if (node < 2) return parents;
  Bytes32 seed = drg_seed_;
  StoreLe(seed.data() + 28, static_cast<uint32_t>(node));
  ChaChaStream random(ChaCha(8, seed, {}));
  uint64_t meta_node = kSampled * node;
  uint64_t buckets = std::bit_width(meta_node - 1);
  bool predecessor_first = version_ != ApiVersion::kV1_0;
  for (size_t i = 0; i < kSampled; ++i) {
    uint64_t bucket = random.NextU64() % buckets + 1;
    uint64_t high = std::min(meta_node, uint64_t{1} << bucket);
    uint64_t low = std::max<uint64_t>(2, high >> 1);
    uint64_t distance = low + random.NextU64() % (high - low + 1);
    uint64_t parent = (meta_node - distance) / kSampled;
    parents[i + predecessor_first] = parent == node ? node - 1 : parent;
  }
  parents[predecessor_first ? 0 : kSampled] = node - 1;
  return parents;
}

uint64_t Graph::Permute(uint64_t edge) const {
  uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  do {
    uint64_t left = edge >> half_bits_, right = edge & mask;
    for (uint64_t key : feistel_keys_) {
      uint64_t mixed = left ^ FeistelRound(right, key, mask);
      left = right;
      right = mixed;
    }
    edge = left << half_bits_ | right;
  } while (edge >= kExpanderParents * nodes_);
  return edge;
}

Parents Graph::ParentsOf(uint64_t node) const {
  CUZK_CHECK(node < nodes_);
  Parents parents{DrgParents(node), {}};
  for (size_t i = 0; i < kExpanderParents; ++i) {
    uint64_t edge = Permute(kExpanderParents * node + i);
    // The first version kept edges in 32 bits, which cuts those of the two largest sizes.
    if (version_ == ApiVersion::kV1_0) edge = static_cast<uint32_t>(edge);
    parents.expander[i] = edge / kExpanderParents;
  }
  return parents;
}

}  // namespace cuzk::filecoin
