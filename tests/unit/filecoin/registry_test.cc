#include "core/filecoin/types/registry.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace cuzk::filecoin {
namespace {

std::string Prefix(Kind kind) {
  if (kind == Kind::kPorep) return "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-";
  if (kind == Kind::kSnap) return "v28-empty-sector-update-merkletree-poseidon_hasher-";
  return "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-";
}

struct KnownName {
  const char *id, *after_prefix;
};
// The published files, then names for sizes that have none.
constexpr KnownName kKnown[] = {
    {"porep-2k", "8-0-0-sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f"},
    {"porep-8m", "8-0-0-sha256_hasher-ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb"},
    {"porep-512m", "8-0-0-sha256_hasher-6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472"},
    {"porep-32g", "8-8-0-sha256_hasher-82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820"},
    {"porep-64g", "8-8-2-sha256_hasher-96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2"},
    {"winning-2k", "8-0-0-3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e"},
    {"winning-8m", "8-0-0-50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331"},
    {"winning-512m", "8-0-0-7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781"},
    {"winning-32g", "8-8-0-559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e"},
    {"winning-64g", "8-8-2-b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c"},
    {"wpost-2k", "8-0-0-0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0"},
    {"wpost-8m", "8-0-0-5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9"},
    {"wpost-512m", "8-0-0-0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9"},
    {"wpost-32g", "8-8-0-0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc"},
    {"wpost-64g", "8-8-2-2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def"},
    {"snap-2k", "8-0-0-fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194"},
    {"snap-8m", "8-0-0-92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63"},
    {"snap-512m", "8-0-0-61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c"},
    {"snap-32g", "8-8-0-3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18"},
    {"snap-64g", "8-8-2-102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7"},
    {"porep-4k", "8-2-0-sha256_hasher-71fadf776fff80d5977d027cdf5b4af941c75de6aafee6530ff15997f7173b9b"},
    {"porep-16k", "8-8-0-sha256_hasher-5d6414be6742cfc2d41b04c9f12eacd8f78775cf01c1f5cdcf5b370808fe5b74"},
    {"porep-32k", "8-8-2-sha256_hasher-2a21b24b412f71b8441648d2cd849229afd278d96964baf1a0f2712f4afbadfd"},
    {"porep-16m", "8-2-0-sha256_hasher-86c715b389cbfdcb1c84b73e4bf276474652288a6aefcaa9f9600c21b0cff44e"},
    {"porep-1g", "8-2-0-sha256_hasher-002b03e3cbccd5d23c5f673a39ec4127ae31a1820be2faa32f72fdc75cf262c2"},
    {"winning-4k", "8-2-0-1b919095872c3abb6e84fb6060425159f5ddd55c982df1853100e66919c70d34"},
    {"winning-16k", "8-8-0-fb97aa10509b0b9a3663c412f4362c4899d88bc4fcd680ab5898a4b5c594c9ca"},
    {"winning-32k", "8-8-2-46ced5cb1fda8c92490b22b2af7bd1adedace49a0a40539f96bea1082b740ebc"},
    {"winning-16m", "8-2-0-6f17428086c4e8ebe4fe3cb08be628669bf3e16652c22a78e1fa53e9e83feaf4"},
    {"winning-1g", "8-2-0-bbd6dae94a7b8b69d4d020e0562f8640033a09b4a500ad3ab68f696fcf521519"},
    {"wpost-4k", "8-2-0-cc42931263e38853659466f248a6d623b702bf9ec49f687b2a931cef727c1069"},
    {"wpost-16k", "8-8-0-457fef4290dae6633b426166ae92f2e7732fe528b75fec3226dc479ce7c95662"},
    {"wpost-32k", "8-8-2-0f2270b825bd80be1b341ad648b96c9cbf744a38c50921dc734e4a251a48447b"},
    {"wpost-16m", "8-2-0-8feba84565cc48dcdb48c9b2957754a8b91e1bfa1fc1348791d1a3fda9b5ea09"},
    {"wpost-1g", "8-2-0-f3aab9038a63efce6e3dc362dc6a7f7a01f078100441320740f23d626e3dd4cb"},
    {"snap-4k", "8-2-0-86f9265ed999ecebd51ecb470f0ad59033c2f67efc0179811f60a8561bbf2fb7"},
    {"snap-8k", "8-4-0-806c2a39da6a8234f753d3a555b2205cf036ee86799e79d35d58a161cf158435"},
    {"snap-16k", "8-8-0-6c63c2c7caaffe0f5b745c60dfe539d35860b620686b52e138fb373ed5b68004"},
    {"snap-32k", "8-8-2-ac7ca4f57f12169edc7e40c5d842c15dc47662228f2c245c97d1ca4dffca0bdd"},
    {"snap-16m", "8-2-0-05c0e7da0d0341a1e5cb5ed6f34be85cc401bb05d23c10b207bae063b4aab9e3"},
};

TEST(Registry, ParameterFileNamesAreTheKnownOnes) {
  ASSERT_EQ(std::size(kKnown), 40u);
  EXPECT_EQ(Circuits().size(), 40u);
  for (const KnownName& known : kKnown) {
    const Circuit* circuit = FindCircuit(known.id);
    ASSERT_NE(circuit, nullptr) << known.id;
    EXPECT_EQ(circuit->parameter_stem, Prefix(circuit->kind) + known.after_prefix);
    EXPECT_EQ(FindCircuitByFile(circuit->params_file()), circuit);
    EXPECT_EQ(FindCircuitByFile(circuit->key_file()), circuit);
  }
  EXPECT_EQ(FindCircuitByFile("v28-other.params"), nullptr);
}

TEST(Registry, PublishedDigestsAreThoseOfPublishedSizes) {
  std::set<std::string_view> digests;
  for (const Circuit& circuit : Circuits()) {
    EXPECT_EQ(circuit.params_digest.size(), circuit.size->published ? 32u : 0u) << circuit.id;
    EXPECT_EQ(circuit.key_digest.size(), circuit.size->published ? 32u : 0u) << circuit.id;
    if (!circuit.size->published) continue;
    EXPECT_TRUE(digests.insert(circuit.params_digest).second);
    EXPECT_TRUE(digests.insert(circuit.key_digest).second);
  }
  EXPECT_EQ(FindCircuit("porep-32g")->params_digest, "6a388072a518cf46ebd661f5cc46900a");
  EXPECT_EQ(FindCircuit("snap-64g")->key_digest, "80e366df2f1011953c2d01c7b7c9ee8e");
}

TEST(Registry, EveryRegisteredNumberHasItsNameAndCircuit) {
  const std::map<std::pair<Kind, uint64_t>, std::pair<const char*, const char*>> kSome = {
      {{Kind::kPorep, 0}, {"StackedDrg2KiBV1", "porep-2k"}},
      {{Kind::kPorep, 8}, {"StackedDrg32GiBV1_1", "porep-32g"}},
      {{Kind::kPorep, 14}, {"StackedDrg64GiBV1_1_Feat_SyntheticPoRep", "porep-64g"}},
      {{Kind::kPorep, 17}, {"StackedDrg512MiBV1_2_Feat_NonInteractivePoRep", "porep-512m"}},
      {{Kind::kWinning, 3}, {"StackedDrgWinning32GiBV1", "winning-32g"}},
      {{Kind::kWindow, 6}, {"StackedDrgWindow8MiBV1", "wpost-8m"}},
      {{Kind::kWindow, 14}, {"StackedDrgWindow64GiBV1_2", "wpost-64g"}},
      {{Kind::kSnap, 2}, {"StackedDrg512MiBV1", "snap-512m"}},
  };
  for (const auto& [key, expected] : kSome) {
    const RegisteredProof* proof = FindRegisteredProof(key.first, key.second);
    ASSERT_NE(proof, nullptr);
    EXPECT_EQ(proof->name, expected.first);
    EXPECT_EQ(proof->circuit->id, expected.second);
  }
  std::map<Kind, std::set<uint64_t>> numbers;
  for (const RegisteredProof& proof : RegisteredProofs()) EXPECT_TRUE(numbers[proof.kind].insert(proof.number).second);
  auto range = [](uint64_t from, uint64_t to) {
    std::set<uint64_t> all;
    for (; from <= to; ++from) all.insert(from);
    return all;
  };
  EXPECT_EQ(numbers[Kind::kPorep], range(0, 19));
  EXPECT_EQ(numbers[Kind::kWindow], range(5, 14));
  EXPECT_EQ(numbers[Kind::kWinning], range(0, 4));
  EXPECT_EQ(numbers[Kind::kSnap], range(0, 4));
  EXPECT_EQ(FindSealByName("StackedDrg32GiBV1_1")->number, 8u);
  EXPECT_EQ(FindSealByName("StackedDrgWindow32GiBV1"), nullptr);
}

TEST(Registry, MessageLengths) {
  const std::map<std::string, uint64_t> kBytes = {
      {"wpost-2k", 5680},      {"wpost-8m", 15280},     {"wpost-512m", 20080},  {"wpost-32g", 24960},
      {"wpost-64g", 25520},    {"winning-2k", 36816},   {"winning-8m", 100176}, {"winning-512m", 131856},
      {"winning-32g", 164064}, {"winning-64g", 167760}, {"snap-2k", 15064},     {"snap-8m", 43864},
      {"snap-512m", 453064},   {"snap-32g", 561768},    {"snap-64g", 575528},   {"porep-32g", 0}};
  for (const auto& [id, bytes] : kBytes) EXPECT_EQ(FindCircuit(id)->vanilla_bytes, bytes) << id;
  EXPECT_EQ(FindRegisteredProof(Kind::kPorep, 8)->partitions() * kProofBytes, 1920u);
  EXPECT_EQ(FindRegisteredProof(Kind::kPorep, 18)->partitions(), 126u);
  EXPECT_EQ(FindRegisteredProof(Kind::kSnap, 3)->partitions() * kProofBytes, 3072u);
  EXPECT_EQ(FindRegisteredProof(Kind::kWindow, 13)->partitions(), 1u);
}

TEST(Registry, PublicInputs) {
  const std::map<std::string, uint32_t> kInputs = {{"porep-32g", 327},   {"porep-2k", 39}, {"wpost-32g", 25839},
                                                   {"wpost-64g", 25300}, {"wpost-8m", 22}, {"winning-2k", 132},
                                                   {"snap-32g", 4}};
  for (const auto& [id, inputs] : kInputs) EXPECT_EQ(FindCircuit(id)->public_inputs, inputs) << id;
}

TEST(Registry, UpdateCounts) {
  struct Row {
    const char* size;
    uint32_t partitions, challenges, apex, h_select;
    unsigned bits, per_digest, digests;
  };
  constexpr Row kRows[] = {{"2KiB", 1, 10, 8, 1, 6, 42, 1},       {"4KiB", 1, 10, 8, 1, 7, 36, 1},
                           {"16KiB", 2, 10, 128, 1, 8, 31, 1},    {"32KiB", 2, 10, 128, 1, 9, 28, 1},
                           {"8MiB", 4, 10, 128, 8, 16, 15, 1},    {"16MiB", 4, 10, 128, 8, 17, 14, 1},
                           {"512MiB", 16, 86, 128, 8, 20, 12, 8}, {"32GiB", 16, 86, 128, 8, 26, 9, 10},
                           {"64GiB", 16, 86, 128, 8, 27, 9, 10}};
  for (const Row& row : kRows) {
    const SizeRow* size = FindSize(row.size);
    UpdateCounts counts = UpdateCountsOf(*size);
    EXPECT_EQ(counts.partitions, row.partitions) << row.size;
    EXPECT_EQ(counts.challenges, row.challenges) << row.size;
    EXPECT_EQ(counts.apex_leaves, row.apex) << row.size;
    EXPECT_EQ(counts.h_select(), row.h_select) << row.size;
    EXPECT_EQ(counts.bits(size->log2_nodes), row.bits) << row.size;
    EXPECT_EQ(counts.per_digest(size->log2_nodes), row.per_digest) << row.size;
    EXPECT_EQ(counts.digests(size->log2_nodes), row.digests) << row.size;
  }
}

TEST(Registry, LookupsThatFailSayWhatThereIs) {
  auto wrong_kind = CircuitByNames("porrep", "2KiB");
  EXPECT_NE(wrong_kind.status().message().find("porep, window, winning and snap"), absl::string_view::npos);
  auto wrong_size = CircuitByNames("snap", "1GiB");
  EXPECT_EQ(wrong_size.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(wrong_size.status().message().find("2KiB, 4KiB, 8KiB"), absl::string_view::npos);
  EXPECT_EQ((*CircuitByNames("window", "32GiB"))->id, "wpost-32g");
  EXPECT_EQ(FindKind(uint64_t{0}), nullptr);
  EXPECT_EQ(FindKind(uint64_t{5}), nullptr);
  EXPECT_EQ(FindKind("snap")->message_name, "snap-update");
  EXPECT_EQ(KindInfo(Kind::kWindow).metric_label, "window_post");
  EXPECT_EQ(FindSizeByBytes(2049), nullptr);
}

}  // namespace
}  // namespace cuzk::filecoin
