// Each relation between the values of a vanilla proof, broken alone: the error names place and relation.

#include <gtest/gtest.h>

#include <functional>

#include "core/circuit/bad_sectors.h"
#include "core/circuit/poseidon/poseidon.h"
#include "core/filecoin/format/bincode_reader.h"
#include "core/filecoin/format/c1_reader.h"
#include "core/filecoin/format/c1_writer.h"
#include "tests/unit/filecoin/samples.h"

namespace cuzk::filecoin {
namespace {

using testing_support::ParseAndCheck;
using testing_support::Recorded;

void ExpectText(const Status& status, std::string_view text) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find(text), std::string::npos) << status << "\nlacks: " << text;
}

const Fr kOne = Fr::One();

TEST(PorepRelations, EachBrokenAlone) {
  using Break = std::function<void(PorepVanilla&, PorepChallengeProof&)>;
  const std::pair<const char*, Break> kCases[] = {
      {"replica_id does not follow from miner 1000, sector 84", [](auto& v, auto&) { v.replica_id[0] ^= 1; }},
      {"replica_id does not follow", [](auto& v, auto&) { v.ticket[31] ^= 1; }},
      {"replica_id does not follow", [](auto& v, auto&) { v.comm_d[0] ^= 1; }},
      {"comm_d_proofs: index", [](auto& v, auto&) { v.seed[0] ^= 1; }},
      {"partition 0: comm_r is not the hash", [](auto& v, auto&) { v.comm_r[0] ^= 1; }},
      {"partition 0, challenge 1: comm_d_proofs: root is not comm_d", [](auto&, auto& p) { p.comm_d.root += kOne; }},
      {"challenge 1: comm_d_proofs: index", [](auto&, auto& p) { p.comm_d.path.leaf_index ^= 1; }},
      {"challenge 1: comm_d path: does not lead", [](auto&, auto& p) { p.comm_d.path.siblings[3] += kOne; }},
      {"challenge 1: comm_r_last_proof: root is not comm_r_last", [](auto&, auto& p) { p.comm_r_last.root += kOne; }},
      {"challenge 1: comm_r_last_proof: index", [](auto&, auto& p) { p.comm_r_last.path.leaf_index ^= 8; }},
      {"challenge 1: comm_r_last path: does not lead", [](auto&, auto& p) { p.comm_r_last.path.siblings[9] += kOne; }},
      {"challenge 1: comm_r_last_proof: leaf is not the encoding", [](auto&, auto& p) { p.comm_r_last.leaf += kOne; }},
      {"challenge 1: comm_r_last_proof: leaf is not the encoding", [](auto&, auto& p) { p.comm_d.leaf += kOne; }},
      {"challenge 1: comm_d path: does not lead",
       [](auto&, auto& p) { p.comm_d.leaf += kOne, p.comm_r_last.leaf += kOne; }},
      {"challenge 1: c_x: column index", [](auto&, auto& p) { p.column.index ^= 1; }},
      {"challenge 1: c_x: inclusion_proof: index", [](auto&, auto& p) { p.column.inclusion.path.leaf_index ^= 1; }},
      {"challenge 1: c_x: inclusion_proof: root", [](auto&, auto& p) { p.column.inclusion.root += kOne; }},
      {"challenge 1: comm_r_last_proof: leaf is not the encoding", [](auto&, auto& p) { p.column.rows[1] += kOne; }},
      {"challenge 1: label of layer 2: is not the one that its parents give",
       [](auto&, auto& p) { p.column.rows[1] += kOne, p.comm_r_last.leaf += kOne; }},
      {"challenge 1: column hash: is not the leaf", [](auto&, auto& p) { p.column.inclusion.leaf += kOne; }},
      {"challenge 1: label of layer 1: is not the one that its parents give",
       [](auto&, auto& p) {
         p.column.rows[0] += kOne;
         p.column.inclusion.leaf = circuit::PoseidonHash(p.column.rows);
       }},
      {"challenge 1: drg parent 2: column index", [](auto&, auto& p) { p.drg_parents[2].index += 1; }},
      {"challenge 1: drg parent 2: column index",
       [](auto&, auto& p) { std::swap(p.drg_parents[2], p.drg_parents[3]); }},
      {"challenge 1: labeling_proofs 1: parents 11", [](auto&, auto& p) { p.expander_parents[5].rows[0] += kOne; }},
      {"challenge 1: column hash of expander parent 5: is not the leaf",
       [](auto&, auto& p) { p.expander_parents[5].rows[1] += kOne; }},
      {"challenge 1: column hash of drg parent 0: is not the leaf",
       [](auto&, auto& p) { p.drg_parents[0].inclusion.leaf += kOne; }},
      {"challenge 1: labeling_proofs 0: parents",
       [](auto&, auto& p) {
         p.drg_parents[4].rows[0] += kOne;
         p.drg_parents[4].inclusion.leaf = circuit::PoseidonHash(p.drg_parents[4].rows);
       }},
      {"challenge 1: exp parent 7: inclusion_proof: root",
       [](auto&, auto& p) { p.expander_parents[7].inclusion.root += kOne; }},
      {"challenge 1: comm_c path of expander parent 7: does not lead",
       [](auto&, auto& p) { p.expander_parents[7].inclusion.path.siblings[0] += kOne; }},
      {"challenge 1: labeling_proofs 0: parents 36", [](auto&, auto& p) { p.labeling[0].parents[36] += kOne; }},
      {"challenge 1: labeling_proofs 1: node", [](auto&, auto& p) { p.labeling[1].node += 1; }},
      {"challenge 1: labeling_proofs 1: layer_index", [](auto&, auto& p) { p.labeling[1].layer = 1; }},
      {"challenge 1: encoding_proof: parents 3", [](auto&, auto& p) { p.encoding.parents[3] += kOne; }},
      {"challenge 1: encoding_proof: node", [](auto&, auto& p) { p.encoding.node += 1; }},
      {"challenge 1: encoding_proof: layer_index", [](auto&, auto& p) { p.encoding.layer = 3; }},
  };
  VanillaRequest request = Recorded("porep/2KiB-v1_1-1000-84").request;
  const C1 c1 = *ReadC1(request.vanilla_proof);
  for (const auto& [text, break_it] : kCases) {
    PorepVanilla vanilla = c1.vanilla;
    break_it(vanilla, vanilla.partitions[0][1]);
    request.vanilla_proof = WriteC1(vanilla, 84);
    ExpectText(ParseAndCheck(request).status(), text);
  }
}

TEST(PorepRelations, CountsAndZeros) {
  using Break = std::function<void(PorepVanilla&)>;
  const std::pair<const char*, Break> kCases[] = {
      {"partition 0: 1 challenges, not 2", [](auto& v) { v.partitions[0].pop_back(); }},
      {"partition 0: more than 2 challenges", [](auto& v) { v.partitions[0].push_back(v.partitions[0][0]); }},
      {"2 partitions, but StackedDrg2KiBV1_1 has 1", [](auto& v) { v.partitions.push_back(v.partitions[0]); }},
      {"0 partitions, but", [](auto& v) { v.partitions.clear(); }},
      {"partition 0, challenge 1: 1 labeling_proofs, not 2", [](auto& v) { v.partitions[0][1].labeling.pop_back(); }},
      {"partition 0, challenge 0: labeling_proofs 1: parents: 36 parents",
       [](auto& v) { v.partitions[0][0].labeling[1].parents.pop_back(); }},
      {"challenge 0: replica_column_proofs: exp_parents 7: column: rows: 1 rows, not 2",
       [](auto& v) { v.partitions[0][0].expander_parents[7].rows.pop_back(); }},
      {"comm_r is zero", [](auto& v) { v.comm_r = {}; }},
      {"comm_d is zero", [](auto& v) { v.comm_d = {}; }},
      {"seed is zero", [](auto& v) { v.seed = {}; }},
      {"comm_r", [](auto& v) { v.comm_r.fill(0xff); }},
      {"replica_id", [](auto& v) { v.replica_id.fill(0xff); }},
  };
  VanillaRequest request = Recorded("porep/2KiB-v1_1-1000-84").request;
  const C1 c1 = *ReadC1(request.vanilla_proof);
  for (const auto& [text, break_it] : kCases) {
    PorepVanilla vanilla = c1.vanilla;
    break_it(vanilla);
    request.vanilla_proof = WriteC1(vanilla, 84);
    ExpectText(ParseAndCheck(request).status(), text);
  }
}

TEST(PorepRelations, NamesAndSizeTags) {
  VanillaRequest request = Recorded("porep/2KiB-v1_1-1000-84").request;
  C1 c1 = *ReadC1(request.vanilla_proof);
  EXPECT_EQ(c1.sector_number, 84u);
  EXPECT_EQ(c1.sector_size, 2048u);
  const std::string json = WriteCommitOutput(c1.vanilla);
  auto replaced = [&](std::string_view what, std::string_view with) {
    std::string text = json;
    return ReadCommitOutput(text.replace(text.find(what), what.size(), with)).status();
  };
  EXPECT_TRUE(replaced("{", " {\n\t").ok());
  ExpectText(replaced("\"StackedDrg2KiBV1_1\"", "\"StackedDrg8MiBV1_1\""),
             "StackedDrg8MiBV1_1 with vanilla proofs of 2KiB");
  ExpectText(replaced("\"StackedDrg2KiBV1_1\"", "\"StackedDrgWindow2KiBV1\""), "unknown name 'StackedDrgWindow2KiBV1'");
  ExpectText(replaced("\"StackedDrg2KiBV1\"", "\"StackedDrg2KiBV1_1\""), "unknown size tag 'StackedDrg2KiBV1_1'");
  ExpectText(replaced("\"StackedDrg2KiBV1\"", "\"StackedDrg8MiBV1\""), "comm_d_proofs");
  ExpectText(replaced("\"Single\"", "\"Sub\""), "partition 0, challenge 0: comm_d_proofs: unknown key 'Sub'");
  ExpectText(replaced(",\"_h\":null", ""), "c_x: column: key '_h' is missing");
  ExpectText(replaced("\"_h\":null", "\"_h\":0"), "_h: something where null belongs");
  ExpectText(replaced("\"_h\":null", "\"_h\":null,\"_x\":1"), "unknown key '_x'");
  ExpectText(replaced("]]},", "]],\"StackedDrg8MiBV1\":[]},"), "more than one size tag");
}

TEST(PostRelations, EachBrokenAlone) {
  using Break = std::function<void(PostVanilla&)>;
  const std::pair<const char*, Break> kCases[] = {
      {"sector 149 (item 1), challenge 4: root is not comm_r_last", [](auto& v) { v.proofs[4].root += kOne; }},
      {"sector 149 (item 1), challenge 0: root is not comm_r_last", [](auto& v) { v.comm_r_last += kOne; }},
      {"sector 149 (item 1), challenge 9: index", [](auto& v) { v.proofs[9].path.leaf_index ^= 1; }},
      {"sector 150 (item 1), challenge 0: index", [](auto& v) { v.sector_id = 150; }},
      {"ascend", [](auto& v) { v.sector_id = 1; }},
      {"sector 149 (item 1), comm_r: is not the hash", [](auto& v) { v.comm_r += kOne; }},
      {"sector 149 (item 1), comm_r: is not the hash", [](auto& v) { v.comm_c += kOne; }},
      {"sector 149 (item 1), comm_r_last path of challenge 3: does not lead",
       [](auto& v) { v.proofs[3].leaf += kOne; }},
      {"sector 149 (item 1), comm_r_last path of challenge 3: does not lead",
       [](auto& v) { v.proofs[3].path.siblings[13] += kOne; }},
      {"sector 149 (item 1), 9 inclusion proofs, not 10", [](auto& v) { v.proofs.pop_back(); }},
  };
  const VanillaRequest recorded = Recorded("window/2KiB-window_v1_2-1000-2of4-part1").request;
  const Circuit& circuit = *FindCircuit(std::string_view("wpost-2k"));
  const PostVanilla item = *ReadPostVanilla(circuit, AsBytes(recorded.vanilla_proofs[1]));
  EXPECT_EQ(WritePostVanilla(circuit, item), recorded.vanilla_proofs[1]);
  for (const auto& [text, break_it] : kCases) {
    PostVanilla vanilla = item;
    break_it(vanilla);
    VanillaRequest request = recorded;
    request.vanilla_proofs[1] = WritePostVanilla(circuit, vanilla);
    ExpectText(ParseAndCheck(request).status(), text);
  }
}

/// The recorded WindowPoSt of two sectors after `break_it` was applied to both.
template <class Break>
Status BothBroken(Break break_it) {
  VanillaRequest request = Recorded("window/2KiB-window_v1_2-1000-2of4-part1").request;
  const Circuit& circuit = *FindCircuit(std::string_view("wpost-2k"));
  for (size_t i = 0; i < request.vanilla_proofs.size(); ++i) {
    PostVanilla vanilla = *ReadPostVanilla(circuit, AsBytes(request.vanilla_proofs[i]));
    break_it(vanilla, i);
    request.vanilla_proofs[i] = WritePostVanilla(circuit, vanilla);
  }
  return ParseAndCheck(request).status();
}

TEST(PostRelations, AllBadSectorsAreNamedInOneError) {
  // What the reader sees and what the circuit would see, in one request.
  const Status mixed = BothBroken([](PostVanilla& v, size_t i) {
    if (i == 0) v.proofs[3].leaf += kOne;
    if (i == 1) v.proofs[4].root += kOne;
  });
  EXPECT_EQ(circuit::BadSectorsOf(mixed), (std::vector<uint64_t>{142, 149}));
  ExpectText(mixed, "2 sectors are bad: 142, 149; sector 142 (item 0), comm_r_last path of challenge 3: does not lead");
  ExpectText(mixed, "; sector 149 (item 1), challenge 4: root is not comm_r_last");

  const Status cut = BothBroken([](PostVanilla& v, size_t) { v.proofs.pop_back(); });
  EXPECT_EQ(circuit::BadSectorsOf(cut), (std::vector<uint64_t>{142, 149}));

  // One stranger is a bad sector; nothing but strangers is a wrong request.
  const Status one = BothBroken([](PostVanilla& v, size_t i) { v.proofs[9].path.leaf_index ^= i; });
  EXPECT_EQ(circuit::BadSectorsOf(one), (std::vector<uint64_t>{149}));
  const Status all = BothBroken([](PostVanilla& v, size_t) { v.proofs[9].path.leaf_index ^= 1; });
  EXPECT_TRUE(circuit::BadSectorsOf(all).empty());
  ExpectText(all, "the challenges of no sector are those of this request: sector 142 (item 0), challenge 9: index");
}

TEST(UpdateRelations, EachBrokenAlone) {
  using Break = std::function<void(UpdateVanilla&)>;
  const std::pair<const char*, Break> kCases[] = {
      {"partition 2, challenge 6: proof_r_old: root", [](auto& v) { v.challenges[6].r_old.root += kOne; }},
      {"partition 2, challenge 6: proof_r_new: root", [](auto& v) { v.challenges[6].r_new.root += kOne; }},
      {"partition 2, challenge 6: proof_d_new: root is not comm_d_new",
       [](auto& v) { v.challenges[6].d_new.root += kOne; }},
      {"partition 2, challenge 6: proof_d_new: index", [](auto& v) { v.challenges[6].d_new.path.leaf_index ^= 1; }},
      {"partition 2, challenge 6: proof_r_new: index", [](auto& v) { v.challenges[6].r_new.path.leaf_index ^= 1; }},
      {"partition 2: challenge 6: old path: index",
       [](auto& v) {
         auto& proof = v.challenges[6];
         for (auto* merkle : {&proof.r_old, &proof.d_new, &proof.r_new}) merkle->path.leaf_index ^= 1;
       }},
      {"partition 2, challenge 6: proof_d_new: level 17: sibling is not that of",
       [](auto& v) { v.challenges[6].d_new.path.siblings[17] += kOne; }},
      {"partition 2: the apex leaves do not lead to comm_d_new",
       [](auto& v) {
         for (auto& proof : v.challenges) proof.d_new.path.siblings[17] += kOne;
       }},
      {"proof_d_new: level 9: sibling is not a node above the apex leaves",
       [](auto& v) { v.challenges[6].d_new.path.siblings[9] += kOne; }},
      {"partition 2: challenge 6: data path: does not lead",
       [](auto& v) { v.challenges[6].d_new.path.siblings[8] += kOne; }},
      {"partition 2: challenge 6: new label", [](auto& v) { v.challenges[6].r_new.leaf += kOne; }},
      {"partition 2: challenge 6: new label", [](auto& v) { v.challenges[6].d_new.leaf += kOne; }},
      {"partition 2: challenge 6: old path: does not lead",
       [](auto& v) { v.challenges[6].r_old.path.siblings[40] += kOne; }},
      {"partition 2: challenge 6: new path: does not lead",
       [](auto& v) { v.challenges[6].r_new.path.siblings[0] += kOne; }},
      {"partition 2: comm_r_old is not the hash", [](auto& v) { v.comm_c += kOne; }},
      {"sibling is not a node above the apex leaves", [](auto& v) { v.apex_leaves[77] += kOne; }},
      {"partition 2: 127 apex leaves, not 128", [](auto& v) { v.apex_leaves.pop_back(); }},
      {"partition 2: 9 challenges, not 10", [](auto& v) { v.challenges.pop_back(); }},
  };
  const VanillaRequest recorded = Recorded("snap/8MiB-snap-1000-98").request;
  const Circuit& circuit = *FindCircuit(std::string_view("snap-8m"));
  const UpdateVanilla item = *ReadUpdateVanilla(circuit, AsBytes(recorded.vanilla_proofs[2]));
  EXPECT_EQ(WriteUpdateVanilla(circuit, item), recorded.vanilla_proofs[2]);
  for (const auto& [text, break_it] : kCases) {
    UpdateVanilla vanilla = item;
    break_it(vanilla);
    VanillaRequest request = recorded;
    request.vanilla_proofs[2] = WriteUpdateVanilla(circuit, vanilla);
    ExpectText(ParseAndCheck(request).status(), text);
  }
  VanillaRequest swapped = recorded;
  std::swap(swapped.vanilla_proofs[1], swapped.vanilla_proofs[2]);
  EXPECT_FALSE(ParseAndCheck(swapped).ok());
}

}  // namespace
}  // namespace cuzk::filecoin
