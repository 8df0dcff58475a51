#include "core/circuit/poseidon/poseidon.h"
#include "core/filecoin/challenges.h"
#include "core/filecoin/format/bincode_reader.h"
#include "core/filecoin/public_inputs.h"
#include "core/filecoin/samples/made_parts.h"
#include "core/filecoin/samples/made_tree.h"

namespace cuzk::filecoin {
namespace {

std::string AsString(const Bytes32& bytes) { return std::string(bytes.begin(), bytes.end()); }

Fr HashPair(const Fr& a, const Fr& b) { return circuit::PoseidonHash(std::array<Fr, 2>{a, b}); }

PostVanilla MakeSector(const MadeRequest& made, uint64_t id, const std::vector<uint64_t>& challenges,
                       MadeValues& values) {
  std::map<uint64_t, Fr> leaves;
  for (uint64_t challenge : challenges) leaves[challenge] = values.NextElement();
  SparseTree tree(made.proof->size().replica_tree(), values.NextElement(), leaves);
  PostVanilla vanilla{id, {}, values.NextElement(), tree.root(), {}};
  vanilla.comm_r = HashPair(vanilla.comm_c, vanilla.comm_r_last);
  for (uint64_t challenge : challenges) vanilla.proofs.push_back(tree.Prove(challenge));
  return vanilla;
}

}  // namespace

void MakePost(const MadeOptions& options, MadeValues& values, MadeRequest& made) {
  PostCounts counts = PostCountsOf(made.proof->kind, made.proof->size());
  PostPublic facts{made.proof, values.NextBytes(), options.partition_index};
  made.request.randomness = AsString(facts.randomness);
  made.request.partition_index = options.partition_index;
  uint32_t sectors = options.sectors == 0 ? counts.most_sectors : options.sectors;
  for (uint32_t i = 0; i < sectors; ++i) {
    uint64_t id = options.sector_number + i;
    PostVanilla vanilla = MakeSector(made, id, PostSectorChallenges(facts, id, i), values);
    made.request.vanilla_proofs.push_back(WritePostVanilla(*made.proof->circuit, vanilla));
    made.sectors.emplace_back(id, vanilla.comm_r.ToBytesLe());
  }
}

void MakeUpdate(MadeValues& values, MadeRequest& made) {
  const SizeRow& size = made.proof->size();
  UpdateCounts counts = UpdateCountsOf(size);
  Fr comm_c = values.NextElement(), old_leaf = values.NextElement(), data_leaf = values.NextElement();
  RunTree old_tree(size.replica_tree(), {old_leaf}), data_tree(size.data_tree(), {data_leaf});
  Fr comm_r_old = HashPair(comm_c, old_tree.root()), comm_d_new = data_tree.root();
  // The new label depends on the high bits of the node alone.
  Fr phi = UpdatePhi(comm_d_new, comm_r_old);
  std::vector<Fr> new_leaves;
  for (uint64_t high = 0; high < uint64_t{1} << counts.h; ++high) {
    new_leaves.push_back(old_leaf + data_leaf * UpdateRho(phi, high << (size.log2_nodes - counts.h), size));
  }
  RunTree new_tree(size.replica_tree(), new_leaves);
  Fr comm_r_new = HashPair(comm_c, new_tree.root());
  size_t apex_level = size.log2_nodes;
  for (uint64_t nodes = uint64_t{counts.partitions} * counts.apex_leaves; nodes > 1; nodes /= 2) --apex_level;
  for (uint32_t k = 0; k < counts.partitions; ++k) {
    UpdateVanilla vanilla{comm_c, std::vector<Fr>(counts.apex_leaves, data_tree.NodeAbove(apex_level, 0)), {}};
    for (uint64_t node : UpdateChallenges(comm_r_new, k, size)) {
      vanilla.challenges.push_back({old_tree.Prove(node), data_tree.Prove(node), new_tree.Prove(node)});
    }
    made.request.vanilla_proofs.push_back(WriteUpdateVanilla(*made.proof->circuit, vanilla));
  }
  made.request.comm_r_old = AsString(comm_r_old.ToBytesLe());
  made.request.comm_r_new = AsString(comm_r_new.ToBytesLe());
  made.request.comm_d_new = AsString(comm_d_new.ToBytesLe());
}

}  // namespace cuzk::filecoin
