#include "core/filecoin/types/registry.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/base/hash.h"

namespace cuzk::filecoin {
namespace {

constexpr KindRow kKinds[] = {
    {Kind::kPorep, "porep", "porep-c2", "porep_c2", "porep", "porep", "porep", 2},
    {Kind::kWindow, "window", "window-post", "window_post", "wpost", "window", "wdpost", 3},
    {Kind::kWinning, "winning", "winning-post", "winning_post", "winning", "winning", "winpost", 4},
    {Kind::kSnap, "snap", "snap-update", "snap_update", "snap", "update", "snap", 2},
};

constexpr SizeRow kSizes[] = {
    {uint64_t{1} << 11, "2KiB", "2k", 6, 8, 0, 0, 2, true},
    {uint64_t{1} << 12, "4KiB", "4k", 7, 8, 2, 0, 2, false},
    {uint64_t{1} << 13, "8KiB", "8k", 8, 8, 4, 0, 2, false},
    {uint64_t{1} << 14, "16KiB", "16k", 9, 8, 8, 0, 2, false},
    {uint64_t{1} << 15, "32KiB", "32k", 10, 8, 8, 2, 2, false},
    {uint64_t{1} << 23, "8MiB", "8m", 18, 8, 0, 0, 6, true},
    {uint64_t{1} << 24, "16MiB", "16m", 19, 8, 2, 0, 6, false},
    {uint64_t{1} << 29, "512MiB", "512m", 24, 8, 0, 0, 8, true},
    {uint64_t{1} << 30, "1GiB", "1g", 25, 8, 2, 0, 8, false},
    {uint64_t{1} << 35, "32GiB", "32g", 30, 8, 8, 0, 9, true},
    {uint64_t{1} << 36, "64GiB", "64g", 31, 8, 8, 2, 9, true},
};

/// What the network published for one circuit.
struct Published {
  std::string_view id, params_digest, key_digest;
};
constexpr Published kPublished[] = {
    {"porep-2k", "434fb1338ecfaf0f59256f30dde4968f", "dc1ade9929ade1708238f155343044ac"},
    {"porep-8m", "09e612e4eeb7a0eb95679a88404f960c", "b687beb9adbd9dabe265a7e3620813e4"},
    {"porep-512m", "6c77597eb91ab936c1cef4cf19eba1b3", "065179da19fbe515507267677f02823e"},
    {"porep-32g", "6a388072a518cf46ebd661f5cc46900a", "0c7b4aac1c40fdb7eb82bc355b41addf"},
    {"porep-64g", "1801f8a6e1b00bceb00cc27314bb5ce3", "a89884252c04c298d0b3c81bfd884164"},
    {"winning-2k", "82c88066be968bb550a05e30ff6c2413", "ffd79788d614d27919ae5bd2d94eacb6"},
    {"winning-8m", "700171ecf7334e3199437c930676af82", "79ebb55f56fda427743e35053edad8fc"},
    {"winning-512m", "827359440349fe8f5a016e7598993b79", "bd2cd62f65c1ab84f19ca27e97b7c731"},
    {"winning-32g", "d84f79a16fe40e9e25a36e2107bb1ba0", "fc02943678dd119e69e7fab8420e8819"},
    {"winning-64g", "2170a91ad5bae22ea61f2ea766630322", "6d3789148fb6466d07ee1e24d6292fd6"},
    {"wpost-2k", "7610b9f82bfc88405b7a832b651ce2f6", "0e0958009936b9d5e515ec97b8cb792d"},
    {"wpost-8m", "c49499bb76a0762884896f9683403f55", "34d4feeacd9abf788d69ef1bb4d8fd00"},
    {"wpost-512m", "1a7d4a9c8a502a497ed92a54366af33f", "4dae975de4f011f101f5a2f86d1daaba"},
    {"wpost-32g", "2cf49eb26f1fee94c85781a390ddb4c8", "0f8ec542485568fa3468c066e9fed82b"},
    {"wpost-64g", "3810b7780ac0e299b22ae70f1f94c9bc", "59d2bf1857adc59a4f08fcf2afaa916b"},
    {"snap-2k", "311f92a3e75036ced01b1c0025f1fa0c", "eadad9784969890d30f2749708c79771"},
    {"snap-8m", "5aedd2cf3e5c0a15623d56a1b43110ad", "abd80269054d391a734febdac0d2e687"},
    {"snap-512m", "c3ad7bb549470b82ad52ed070aebb4f4", "994c5b7d450ca9da348c910689f2dc7f"},
    {"snap-32g", "1b3cfd761a961543f9eb273e435a06a2", "3a6941983754737fde880d29c7094905"},
    {"snap-64g", "1a392e7b759fb18e036c7559b5ece816", "80e366df2f1011953c2d01c7b7c9ee8e"},
};

constexpr uint64_t kGiB = uint64_t{1} << 30;

bool HasSize(Kind kind, const SizeRow& size) {
  if (kind == Kind::kSnap) return size.bytes != kGiB;
  return size.name != "8KiB";
}

std::string TreeName(const SizeRow& size) {
  return StrCat("merkletree-poseidon_hasher-", size.base, "-", size.sub, "-", size.top);
}

/// The text whose SHA-256 is in the parameter file's name.
std::string Identifier(Kind kind, const SizeRow& size) {
  if (kind == Kind::kPorep) {
    PorepCounts counts = PorepCountsOf(size);
    return StrCat("layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{expansion_degree: ",
                  kExpanderParents, " base_graph: drgraph::BucketGraph{size: ", size.nodes(), "; degree: ", kDrgParents,
                  "; hasher: poseidon_hasher} }, challenges: LayerChallenges { layers: ", counts.layers,
                  ", max_count: ", counts.challenges, " }, tree: ", TreeName(size), " }");
  }
  if (kind == Kind::kSnap) return StrCat("empty_sector_update::PublicParams{ sector_nodes: ", size.nodes(), " }");
  PostCounts counts = PostCountsOf(kind, size);
  return StrCat("FallbackPoSt::PublicParams{sector_size: ", size.bytes, ", challenge_count: ", counts.challenges,
                ", sector_count: ", counts.sectors, "}");
}

std::string ParameterStem(Kind kind, const SizeRow& size) {
  std::string tree = TreeName(size);
  std::string prefix = kind == Kind::kPorep  ? StrCat("stacked-proof-of-replication-", tree, "-sha256_hasher")
                       : kind == Kind::kSnap ? StrCat("empty-sector-update-", tree)
                                             : StrCat("proof-of-spacetime-fallback-", tree);
  return StrCat("v28-", prefix, "-", ToHex(Sha256(AsBytes(Identifier(kind, size)))));
}

uint64_t PathBytes(uint64_t levels, uint64_t siblings) { return 8 + levels * (16 + 32 * siblings); }

/// A bincode MerkleProof in a tree of the sector's shape.
uint64_t TreeProofBytes(const SizeRow& size) {
  uint64_t bytes = 4 + 64 + PathBytes(size.base_levels, size.base - 1);
  if (size.sub != 0) bytes += PathBytes(1, size.sub - 1);
  if (size.top != 0) bytes += PathBytes(1, size.top - 1);
  return bytes;
}

uint64_t VanillaBytes(Kind kind, const SizeRow& size) {
  if (kind == Kind::kPorep) return 0;
  if (kind == Kind::kSnap) {
    UpdateCounts counts = UpdateCountsOf(size);
    uint64_t data_proof = 4 + 64 + PathBytes(size.log2_nodes, 1);
    return 32 + 8 + 32 * counts.apex_leaves + 8 + counts.challenges * (2 * TreeProofBytes(size) + data_proof);
  }
  return 120 + PostCountsOf(kind, size).vanilla_challenges * TreeProofBytes(size);
}

uint32_t PublicInputs(Kind kind, const SizeRow& size) {
  if (kind == Kind::kPorep) return 3 + (kDrgParents + kExpanderParents + 4) * PorepCountsOf(size).challenges;
  if (kind == Kind::kSnap) return 4;
  PostCounts counts = PostCountsOf(kind, size);
  return counts.sectors * (1 + counts.challenges);
}

std::vector<Circuit> MakeCircuits() {
  std::vector<Circuit> circuits;
  for (const KindRow& kind : kKinds) {
    for (const SizeRow& size : kSizes) {
      if (!HasSize(kind.kind, size)) continue;
      Circuit circuit{kind.kind, &size, StrCat(kind.circuit_prefix, "-", size.id), ParameterStem(kind.kind, size)};
      for (const Published& row : kPublished) {
        if (row.id != circuit.id) continue;
        circuit.params_digest = row.params_digest;
        circuit.key_digest = row.key_digest;
      }
      circuit.public_inputs = PublicInputs(kind.kind, size);
      circuit.vanilla_bytes = VanillaBytes(kind.kind, size);
      circuits.push_back(std::move(circuit));
    }
  }
  return circuits;
}

/// Registered proofs that differ in their sector size alone.
struct Family {
  Kind kind;
  std::string_view before, after;  // around the size in the name
  ApiVersion version;
  PorepFeature feature;
};
constexpr Family kFamilies[] = {
    {Kind::kPorep, "StackedDrg", "V1", ApiVersion::kV1_0, PorepFeature::kNone},
    {Kind::kPorep, "StackedDrg", "V1_1", ApiVersion::kV1_1, PorepFeature::kNone},
    {Kind::kPorep, "StackedDrg", "V1_1_Feat_SyntheticPoRep", ApiVersion::kV1_2, PorepFeature::kSynthetic},
    {Kind::kPorep, "StackedDrg", "V1_2_Feat_NonInteractivePoRep", ApiVersion::kV1_2, PorepFeature::kNonInteractive},
    {Kind::kWindow, "StackedDrgWindow", "V1", ApiVersion::kV1_0, PorepFeature::kNone},
    {Kind::kWindow, "StackedDrgWindow", "V1_2", ApiVersion::kV1_2, PorepFeature::kNone},
    {Kind::kWinning, "StackedDrgWinning", "V1", ApiVersion::kV1_0, PorepFeature::kNone},
    {Kind::kSnap, "StackedDrg", "V1", ApiVersion::kV1_1, PorepFeature::kNone},
};

/// A published size and its registered numbers, in the order of kFamilies.
struct RegisteredSize {
  std::string_view size;
  std::array<uint64_t, std::size(kFamilies)> numbers;
};
// clang-format off
constexpr RegisteredSize kRegistered[] = {
    // PoRep: V1, V1_1, synthetic, non-interactive; window: V1, V1_2; winning; snap.
    {"2KiB", {0, 5, 10, 15, 5, 10, 0, 0}},
    {"8MiB", {1, 6, 11, 16, 6, 11, 1, 1}},
    {"512MiB", {2, 7, 12, 17, 7, 12, 2, 2}},
    {"32GiB", {3, 8, 13, 18, 8, 13, 3, 3}},
    {"64GiB", {4, 9, 14, 19, 9, 14, 4, 4}},
};
// clang-format on

constexpr bool EachPublishedSizeIsRegistered() {
  for (const SizeRow& size : kSizes) {
    bool found = false;
    for (const RegisteredSize& row : kRegistered) found = found || row.size == size.name;
    if (found != size.published) return false;
  }
  return true;
}
static_assert(EachPublishedSizeIsRegistered());

std::vector<RegisteredProof> MakeRegisteredProofs() {
  std::vector<RegisteredProof> proofs;
  for (size_t i = 0; i < std::size(kFamilies); ++i) {
    const Family& family = kFamilies[i];
    for (const RegisteredSize& row : kRegistered) {
      const SizeRow& size = *FindSize(row.size);
      proofs.push_back({family.kind, row.numbers[i], StrCat(family.before, size.name, family.after),
                        FindCircuit(family.kind, size), family.version, family.feature});
    }
  }
  return proofs;
}

}  // namespace

std::span<const KindRow> Kinds() { return kKinds; }

const KindRow& KindInfo(Kind kind) {
  const KindRow* row = FindKind(static_cast<uint64_t>(kind));
  CUZK_CHECK(row != nullptr);
  return *row;
}

const KindRow* FindKind(std::string_view name) {
  for (const KindRow& row : kKinds) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

const KindRow* FindKind(uint64_t number) {
  for (const KindRow& row : kKinds) {
    if (static_cast<uint64_t>(row.kind) == number) return &row;
  }
  return nullptr;
}

std::span<const SizeRow> Sizes() { return kSizes; }

const SizeRow* FindSize(std::string_view name) {
  for (const SizeRow& row : kSizes) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

const SizeRow* FindSizeByBytes(uint64_t bytes) {
  for (const SizeRow& row : kSizes) {
    if (row.bytes == bytes) return &row;
  }
  return nullptr;
}

uint32_t UpdateCounts::h_select() const {
  for (unsigned i = 0; i < h_values.size(); ++i) {
    if (h_values[i] == h) return 1u << i;
  }
  CUZK_CHECK(!"h is one of its values");
  return 0;
}

unsigned UpdateCounts::log2_partitions() const { return std::bit_width(partitions) - 1; }

PorepCounts PorepCountsOf(const SizeRow& size) {
  if (size.bytes > kGiB) return {11, 18, 10, 126, 176, 2253};
  return {2, 2, 1, 13, 2, 26};
}

PostCounts PostCountsOf(Kind kind, const SizeRow& size) {
  CUZK_CHECK(kind == Kind::kWindow || kind == Kind::kWinning);
  if (kind == Kind::kWinning) return {kWinningChallenges, 1, 1, kWinningChallenges};
  uint32_t sectors = size.bytes == 64 * kGiB ? 2300 : size.bytes == 32 * kGiB ? 2349 : 2;
  return {sectors, kWindowChallenges, sectors, kWindowChallenges};
}

UpdateCounts UpdateCountsOf(const SizeRow& size) {
  constexpr std::array<uint8_t, 6> kOneBit = {1, 1, 1, 1, 1, 1}, kSevenToTwelve = {7, 8, 9, 10, 11, 12};
  if (size.log2_nodes <= 8) return {1, 10, 8, kOneBit, 1};
  if (size.log2_nodes <= 10) return {2, 10, 128, kOneBit, 1};
  if (size.log2_nodes <= 19) return {4, 10, 128, kSevenToTwelve, 10};
  return {16, 86, 128, kSevenToTwelve, 10};
}

std::span<const Circuit> Circuits() {
  static const std::vector<Circuit> circuits = MakeCircuits();
  return circuits;
}

const Circuit* FindCircuit(std::string_view id) {
  for (const Circuit& circuit : Circuits()) {
    if (circuit.id == id) return &circuit;
  }
  return nullptr;
}

const Circuit* FindCircuit(Kind kind, const SizeRow& size) {
  for (const Circuit& circuit : Circuits()) {
    if (circuit.kind == kind && circuit.size->bytes == size.bytes) return &circuit;
  }
  return nullptr;
}

StatusOr<const Circuit*> CircuitByNames(std::string_view kind, std::string_view size) {
  const KindRow* row = FindKind(kind);
  if (row == nullptr) {
    return absl::InvalidArgumentError(StrCat("no kind '", kind, "': there are porep, window, winning and snap"));
  }
  const SizeRow* found = FindSize(size);
  const Circuit* circuit = found == nullptr ? nullptr : FindCircuit(row->kind, *found);
  if (circuit != nullptr) return circuit;
  std::string sizes;
  for (const Circuit& other : Circuits()) {
    if (other.kind == row->kind) sizes += StrCat(sizes.empty() ? "" : ", ", other.size->name);
  }
  return absl::InvalidArgumentError(StrCat("no size '", size, "' for ", kind, ": there are ", sizes));
}

const Circuit* FindCircuitByFile(std::string_view file_name) {
  for (const Circuit& circuit : Circuits()) {
    if (circuit.params_file() == file_name || circuit.key_file() == file_name) return &circuit;
  }
  return nullptr;
}

uint32_t RegisteredProof::partitions() const {
  if (kind == Kind::kSnap) return UpdateCountsOf(size()).partitions;
  if (kind != Kind::kPorep) return 1;
  PorepCounts counts = PorepCountsOf(size());
  return feature == PorepFeature::kNonInteractive ? counts.non_interactive_partitions : counts.partitions;
}

uint32_t MostVanillaProofs() {
  static const uint32_t most = [] {
    uint32_t found = 1;
    for (const RegisteredProof& proof : RegisteredProofs()) {
      const bool post = proof.kind == Kind::kWindow || proof.kind == Kind::kWinning;
      found = std::max(found, post ? PostCountsOf(proof.kind, proof.size()).most_sectors : proof.partitions());
    }
    return found;
  }();
  return most;
}

std::span<const RegisteredProof> RegisteredProofs() {
  static const std::vector<RegisteredProof> proofs = MakeRegisteredProofs();
  return proofs;
}

const RegisteredProof* FindRegisteredProof(Kind kind, uint64_t number) {
  for (const RegisteredProof& proof : RegisteredProofs()) {
    if (proof.kind == kind && proof.number == number) return &proof;
  }
  return nullptr;
}

const RegisteredProof* FindSealByName(std::string_view name) {
  for (const RegisteredProof& proof : RegisteredProofs()) {
    if (proof.kind == Kind::kPorep && proof.name == name) return &proof;
  }
  return nullptr;
}

}  // namespace cuzk::filecoin
