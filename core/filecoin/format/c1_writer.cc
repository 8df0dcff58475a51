#include "core/filecoin/format/c1_writer.h"

#include <charconv>

#include "core/filecoin/format/base64.h"
#include "core/filecoin/types/path_shape.h"

namespace cuzk::filecoin {
namespace {

class CommitWriter {
 public:
  explicit CommitWriter(const PorepVanilla& vanilla)
      : vanilla_(vanilla),
        replica_path_(vanilla.proof->size().replica_tree()),
        data_path_(vanilla.proof->size().data_tree()) {}

  std::string Write() {
    Text("{\"registered_proof\":\"");
    Text(vanilla_.proof->name);
    Text("\",\"vanilla_proofs\":{\"StackedDrg");
    Text(vanilla_.proof->size().name);
    Text("V1\":");
    List(vanilla_.partitions, [this](const auto& partition) {
      List(partition, [this](const PorepChallengeProof& proof) { Challenge(proof); });
    });
    Text("},\"comm_r\":");
    Digest(vanilla_.comm_r);
    Text(",\"comm_d\":");
    Digest(vanilla_.comm_d);
    Text(",\"replica_id\":");
    Digest(vanilla_.replica_id);
    Text(",\"seed\":");
    Digest(vanilla_.seed);
    Text(",\"ticket\":");
    Digest(vanilla_.ticket);
    Text("}");
    return std::move(out_);
  }

 private:
  void Text(std::string_view text) { out_ += text; }
  void Number(uint64_t value) {
    char digits[20];
    auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out_.append(digits, static_cast<size_t>(end - digits));
  }
  void Digest(const Bytes32& bytes) {
    List(bytes, [this](uint8_t byte) { Number(byte); });
  }
  void Element(const Fr& value) { Digest(value.ToBytesLe()); }
  template <class Items, class Item>
  void List(const Items& items, Item&& item) {
    out_ += '[';
    bool first = true;
    for (const auto& value : items) {
      if (!first) out_ += ',';
      first = false;
      item(value);
    }
    out_ += ']';
  }

  void Section(const PathShape& shape, size_t section, const circuit::PathInputs& path) {
    size_t begin = section == 0 ? 0 : shape.sections()[section - 1];
    std::span<const PathShape::Level> levels(shape.levels().data() + begin, shape.sections()[section] - begin);
    Text("{\"path\":");
    List(levels, [&](const PathShape::Level& level) {
      Text("{\"hashes\":");
      List(std::span<const Fr>(path.siblings.data() + level.first_sibling, level.arity - 1),
           [this](const Fr& hash) { Element(hash); });
      Text(",\"index\":");
      Number(path.leaf_index / level.weight % level.arity);
      Text("}");
    });
    Text("}");
  }

  void Merkle(const PathShape& shape, const MerkleProof& proof) {
    static constexpr const char* kNames[] = {"\"base_proof\":", "\"sub_proof\":", "\"top_proof\":"};
    Text("{\"data\":{\"");
    Text(shape.variant());
    Text("\":{");
    bool single = shape.sections().size() == 1;
    for (size_t i = 0; !single && i < shape.sections().size(); ++i) {
      Text(kNames[i]);
      Section(shape, i, proof.path);
      Text(",");
    }
    Text("\"root\":");
    Element(proof.root);
    Text(",\"leaf\":");
    Element(proof.leaf);
    if (single) {
      Text(",\"path\":");
      Section(shape, 0, proof.path);
    }
    Text("}}}");
  }

  void Column(const ColumnProof& proof) {
    Text("{\"column\":{\"index\":");
    Number(proof.index);
    Text(",\"rows\":");
    List(proof.rows, [this](const Fr& row) { Element(row); });
    Text(",\"_h\":null},\"inclusion_proof\":");
    Merkle(replica_path_, proof.inclusion);
    Text("}");
  }

  void Labels(const LabelProof& proof) {
    Text("{\"parents\":");
    List(proof.parents, [this](const Fr& parent) { Element(parent); });
    Text(",\"layer_index\":");
    Number(proof.layer);
    Text(",\"node\":");
    Number(proof.node);
    Text("}");
  }

  void Challenge(const PorepChallengeProof& proof) {
    Text("{\"comm_d_proofs\":");
    Merkle(data_path_, proof.comm_d);
    Text(",\"comm_r_last_proof\":");
    Merkle(replica_path_, proof.comm_r_last);
    Text(",\"replica_column_proofs\":{\"c_x\":");
    Column(proof.column);
    Text(",\"drg_parents\":");
    List(proof.drg_parents, [this](const ColumnProof& parent) { Column(parent); });
    Text(",\"exp_parents\":");
    List(proof.expander_parents, [this](const ColumnProof& parent) { Column(parent); });
    Text("},\"labeling_proofs\":");
    List(proof.labeling, [this](const LabelProof& labels) { Labels(labels); });
    Text(",\"encoding_proof\":");
    Labels(proof.encoding);
    Text("}");
  }

  const PorepVanilla& vanilla_;
  PathShape replica_path_, data_path_;
  std::string out_;
};

}  // namespace

std::string WriteCommitOutput(const PorepVanilla& vanilla) { return CommitWriter(vanilla).Write(); }

std::string WriteC1(const PorepVanilla& vanilla, uint64_t sector_number) {
  return StrCat("{\"SectorNum\":", sector_number, ",\"Phase1Out\":\"", EncodeBase64(WriteCommitOutput(vanilla)),
                "\",\"SectorSize\":", vanilla.proof->size().bytes, "}");
}

}  // namespace cuzk::filecoin
