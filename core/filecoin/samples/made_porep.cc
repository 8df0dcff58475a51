#include <algorithm>
#include <map>

#include "core/circuit/poseidon/poseidon.h"
#include "core/filecoin/format/c1_writer.h"
#include "core/filecoin/graph.h"
#include "core/filecoin/porep.h"
#include "core/filecoin/public_inputs.h"
#include "core/filecoin/samples/made_parts.h"
#include "core/filecoin/samples/made_tree.h"
#include "core/filecoin/types/digest.h"
#include "core/filecoin/types/identifiers.h"

namespace cuzk::filecoin {
namespace {

/// A sector of which only the nodes around the challenges have labels.
class MadeSector {
 public:
  MadeSector(PorepVanilla& vanilla, MadeValues& values)
      : vanilla_(vanilla),
        size_(vanilla.proof->size()),
        graph_(*vanilla.proof),
        layers_(PorepCountsOf(size_).layers),
        data_leaf_(values.NextElement()),
        data_tree_(size_.data_tree(), {data_leaf_}) {}

  Fr comm_d() const { return data_tree_.root(); }

  /// Labels for every challenge and its parents, in all partitions.
  void Open(const std::vector<std::vector<uint64_t>>& challenges, MadeValues& values);
  /// Writes comm_r and the partitions.
  void Prove(const std::vector<std::vector<uint64_t>>& challenges, MadeValues& values);

 private:
  PorepChallengeProof ProveChallenge(uint64_t challenge) const;
  ColumnProof ProveColumn(uint64_t node) const { return {node, columns_.at(node), column_tree_->Prove(node)}; }
  /// The labels that go into the label of a node in a layer.
  std::vector<Fr> ParentLabels(const Parents& parents, size_t layer) const;

  PorepVanilla& vanilla_;
  const SizeRow& size_;
  Graph graph_;
  size_t layers_;
  Fr data_leaf_;
  RunTree data_tree_;
  std::map<uint64_t, Parents> challenged_;
  std::map<uint64_t, std::vector<Fr>> columns_;
  std::unique_ptr<SparseTree> column_tree_, replica_tree_;
};

std::vector<Fr> MadeSector::ParentLabels(const Parents& parents, size_t layer) const {
  std::vector<Fr> labels;
  for (uint64_t parent : parents.drg) labels.push_back(columns_.at(parent)[layer - 1]);
  for (size_t i = 0; layer > 1 && i < kExpanderParents; ++i) {
    labels.push_back(columns_.at(parents.expander[i])[layer - 2]);
  }
  for (size_t i = 0; labels.size() < kLabelParents; ++i) labels.push_back(labels[i]);
  return labels;
}

void MadeSector::Open(const std::vector<std::vector<uint64_t>>& challenges, MadeValues& values) {
  for (const auto& partition : challenges) {
    for (uint64_t challenge : partition) challenged_.emplace(challenge, graph_.ParentsOf(challenge));
  }
  auto open = [&](uint64_t node) {
    auto [column, fresh] = columns_.try_emplace(node, layers_);
    if (!fresh) return;
    for (Fr& label : column->second) label = values.NextElement();
  };
  for (const auto& [node, parents] : challenged_) {
    open(node);
    for (uint64_t parent : parents.drg) open(parent);
    for (uint64_t parent : parents.expander) open(parent);
  }
  // A challenged node may be the parent of another: its label in a layer comes before those of later nodes and layers.
  for (size_t layer = 1; layer <= layers_; ++layer) {
    for (const auto& [node, parents] : challenged_) {
      Bytes32 label = Label(vanilla_.replica_id, layer, node, ParentLabels(parents, layer));
      columns_.at(node)[layer - 1] = *Fr::FromBytesLe(label);
    }
  }
}

PorepChallengeProof MadeSector::ProveChallenge(uint64_t challenge) const {
  PorepChallengeProof proof;
  const Parents& parents = challenged_.at(challenge);
  proof.comm_d = data_tree_.Prove(challenge);
  proof.comm_r_last = replica_tree_->Prove(challenge);
  proof.column = ProveColumn(challenge);
  std::transform(parents.drg.begin(), parents.drg.end(), proof.drg_parents.begin(),
                 [this](uint64_t node) { return ProveColumn(node); });
  std::transform(parents.expander.begin(), parents.expander.end(), proof.expander_parents.begin(),
                 [this](uint64_t node) { return ProveColumn(node); });
  for (size_t layer = 1; layer <= layers_; ++layer) {
    proof.labeling.push_back({ParentLabels(parents, layer), layer, challenge});
  }
  proof.encoding = proof.labeling.back();
  return proof;
}

void MadeSector::Prove(const std::vector<std::vector<uint64_t>>& challenges, MadeValues& values) {
  std::map<uint64_t, Fr> column_hashes, encoded;
  for (const auto& [node, column] : columns_) column_hashes[node] = circuit::PoseidonHash(column);
  for (const auto& [node, parents] : challenged_) encoded[node] = columns_.at(node).back() + data_leaf_;
  Fr empty_column = circuit::PoseidonHash(std::vector<Fr>(layers_, Fr::Zero()));
  column_tree_ = std::make_unique<SparseTree>(size_.replica_tree(), empty_column, column_hashes);
  replica_tree_ = std::make_unique<SparseTree>(size_.replica_tree(), values.NextElement(), encoded);
  vanilla_.comm_r = circuit::PoseidonHash(std::array<Fr, 2>{column_tree_->root(), replica_tree_->root()}).ToBytesLe();
  for (const auto& partition : challenges) {
    auto& proofs = vanilla_.partitions.emplace_back();
    for (uint64_t challenge : partition) proofs.push_back(ProveChallenge(challenge));
  }
}

}  // namespace

void MakePorep(const MadeOptions& options, MadeValues& values, MadeRequest& made) {
  PorepVanilla& vanilla = made.porep;
  vanilla.proof = made.proof;
  MadeSector sector(vanilla, values);
  vanilla.comm_d = sector.comm_d().ToBytesLe();
  vanilla.ticket = values.NextBytes();
  vanilla.seed = values.NextBytes();
  vanilla.replica_id =
      ReplicaId({options.miner_id, options.sector_number, vanilla.ticket, vanilla.comm_d, PorepId(made.proof->number)});
  std::vector<std::vector<uint64_t>> challenges;
  PorepPublic facts{made.proof, vanilla.replica_id, vanilla.comm_d, {}, vanilla.seed};
  for (uint32_t k = 0; k < made.proof->partitions(); ++k) challenges.push_back(PorepPartitionChallenges(facts, k));
  sector.Open(challenges, values);
  sector.Prove(challenges, values);
  made.request.vanilla_proof = WriteC1(vanilla, options.sector_number);
  vanilla.partitions.clear();
}

}  // namespace cuzk::filecoin
