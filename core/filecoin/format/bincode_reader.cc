#include "core/filecoin/format/bincode_reader.h"

#include "core/base/check.h"
#include "core/filecoin/types/digest.h"
#include "core/filecoin/types/path_shape.h"

namespace cuzk::filecoin {
namespace {

/// Takes values off the front of a message.
class Input {
 public:
  explicit Input(ByteSpan bytes) : bytes_(bytes) {}

  template <class T>
  Status Integer(T& out) {
    if (bytes_.size() - position_ < sizeof(T)) return Short();
    out = LoadLe<T>(bytes_.data() + position_);
    position_ += sizeof(T);
    return absl::OkStatus();
  }
  Status Element(Fr& out) {
    if (bytes_.size() - position_ < 32) return Short();
    if (!ToFr(bytes_.data() + position_, out)) return Error("not a canonical field element");
    position_ += 32;
    return absl::OkStatus();
  }
  /// A length that must be `expected`.
  Status Length(uint64_t expected, std::string_view what) {
    uint64_t length = 0;
    CUZK_RETURN_IF_ERROR(Integer(length));
    if (length != expected) return Error(StrCat(length, " ", what, ", not ", expected));
    return absl::OkStatus();
  }
  Status End() const {
    if (position_ == bytes_.size()) return absl::OkStatus();
    return Error(StrCat(bytes_.size() - position_, " bytes after the end"));
  }
  Status Error(std::string_view what) const {
    return absl::InvalidArgumentError(StrCat(what, " (at byte ", position_, ")"));
  }

 private:
  Status Short() const { return Error(StrCat("the message ends after ", bytes_.size(), " bytes, in the middle")); }

  ByteSpan bytes_;
  size_t position_ = 0;
};

Status ReadLevel(Input& input, const PathShape::Level& level, MerkleProof& proof) {
  CUZK_RETURN_IF_ERROR(input.Length(level.arity - 1, "hashes"));
  for (uint32_t i = 0; i + 1 < level.arity; ++i) {
    CUZK_RETURN_IF_ERROR(input.Element(proof.path.siblings[level.first_sibling + i]));
  }
  uint64_t index = 0;
  CUZK_RETURN_IF_ERROR(input.Integer(index));
  if (index >= level.arity) return input.Error(StrCat("index ", index, " of ", level.arity));
  proof.path.leaf_index += index * level.weight;
  return absl::OkStatus();
}

Status ReadRootAndLeaf(Input& input, MerkleProof& proof) {
  CUZK_RETURN_IF_ERROR(Annotate(input.Element(proof.root), "root"));
  return Annotate(input.Element(proof.leaf), "leaf");
}

Status ReadProof(Input& input, const PathShape& shape, MerkleProof& proof) {
  uint32_t variant = 0;
  CUZK_RETURN_IF_ERROR(input.Integer(variant));
  if (variant != shape.sections().size() - 1) {
    return input.Error(
        StrCat("Merkle proof variant ", variant, ", not ", shape.sections().size() - 1, " (", shape.variant(), ")"));
  }
  proof.path.siblings.resize(shape.siblings());
  bool single = variant == 0;
  if (single) CUZK_RETURN_IF_ERROR(ReadRootAndLeaf(input, proof));
  size_t level = 0;
  for (size_t end : shape.sections()) {
    CUZK_RETURN_IF_ERROR(input.Length(end - level, "levels"));
    for (; level < end; ++level) {
      Status status = ReadLevel(input, shape.levels()[level], proof);
      if (!status.ok()) return Annotate(std::move(status), StrCat("level ", level));
    }
  }
  return single ? absl::OkStatus() : ReadRootAndLeaf(input, proof);
}

class Output {
 public:
  template <class T>
  void Integer(T value) {
    uint8_t bytes[sizeof(T)];
    StoreLe(bytes, value);
    out_.append(reinterpret_cast<const char*>(bytes), sizeof(T));
  }
  void Element(const Fr& value) {
    Bytes32 bytes = value.ToBytesLe();
    out_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void Proof(const PathShape& shape, const MerkleProof& proof);
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

void Output::Proof(const PathShape& shape, const MerkleProof& proof) {
  CUZK_CHECK(proof.path.siblings.size() == shape.siblings());
  Integer(static_cast<uint32_t>(shape.sections().size() - 1));
  bool single = shape.sections().size() == 1;
  auto root_and_leaf = [&] {
    Element(proof.root);
    Element(proof.leaf);
  };
  if (single) root_and_leaf();
  size_t level = 0;
  for (size_t end : shape.sections()) {
    Integer(uint64_t{end - level});
    for (; level < end; ++level) {
      const PathShape::Level& row = shape.levels()[level];
      Integer(uint64_t{row.arity - 1});
      for (uint32_t i = 0; i + 1 < row.arity; ++i) Element(proof.path.siblings[row.first_sibling + i]);
      Integer(proof.path.leaf_index / row.weight % row.arity);
    }
  }
  if (!single) root_and_leaf();
}

}  // namespace

StatusOr<PostVanilla> ReadPostVanilla(const Circuit& circuit, ByteSpan bytes) {
  PathShape shape(circuit.size->replica_tree());
  PostCounts counts = PostCountsOf(circuit.kind, *circuit.size);
  Input input(bytes);
  PostVanilla vanilla;
  CUZK_RETURN_IF_ERROR(Annotate(input.Integer(vanilla.sector_id), "sector_id"));
  CUZK_RETURN_IF_ERROR(Annotate(input.Element(vanilla.comm_r), "comm_r"));
  CUZK_RETURN_IF_ERROR(input.Length(1, "sectors in the item"));
  CUZK_RETURN_IF_ERROR(input.Length(counts.vanilla_challenges, "inclusion proofs"));
  for (uint32_t i = 0; i < counts.vanilla_challenges; ++i) {
    Status status = ReadProof(input, shape, vanilla.proofs.emplace_back());
    if (!status.ok()) return Annotate(std::move(status), StrCat("challenge ", i));
  }
  CUZK_RETURN_IF_ERROR(Annotate(input.Element(vanilla.comm_c), "comm_c"));
  CUZK_RETURN_IF_ERROR(Annotate(input.Element(vanilla.comm_r_last), "comm_r_last"));
  CUZK_RETURN_IF_ERROR(input.End());
  return vanilla;
}

StatusOr<UpdateVanilla> ReadUpdateVanilla(const Circuit& circuit, ByteSpan bytes) {
  PathShape replica(circuit.size->replica_tree()), data(circuit.size->data_tree());
  UpdateCounts counts = UpdateCountsOf(*circuit.size);
  Input input(bytes);
  UpdateVanilla vanilla;
  CUZK_RETURN_IF_ERROR(Annotate(input.Element(vanilla.comm_c), "comm_c"));
  CUZK_RETURN_IF_ERROR(input.Length(counts.apex_leaves, "apex leaves"));
  vanilla.apex_leaves.resize(counts.apex_leaves);
  for (Fr& leaf : vanilla.apex_leaves) CUZK_RETURN_IF_ERROR(Annotate(input.Element(leaf), "apex leaf"));
  CUZK_RETURN_IF_ERROR(input.Length(counts.challenges, "challenges"));
  for (uint32_t i = 0; i < counts.challenges; ++i) {
    UpdateChallengeProof& proof = vanilla.challenges.emplace_back();
    Status status = Annotate(ReadProof(input, replica, proof.r_old), "proof_r_old");
    if (status.ok()) status = Annotate(ReadProof(input, data, proof.d_new), "proof_d_new");
    if (status.ok()) status = Annotate(ReadProof(input, replica, proof.r_new), "proof_r_new");
    if (!status.ok()) return Annotate(std::move(status), StrCat("challenge ", i));
  }
  CUZK_RETURN_IF_ERROR(input.End());
  return vanilla;
}

std::string WritePostVanilla(const Circuit& circuit, const PostVanilla& vanilla) {
  PathShape shape(circuit.size->replica_tree());
  Output out;
  out.Integer(vanilla.sector_id);
  out.Element(vanilla.comm_r);
  out.Integer(uint64_t{1});
  out.Integer(uint64_t{vanilla.proofs.size()});
  for (const MerkleProof& proof : vanilla.proofs) out.Proof(shape, proof);
  out.Element(vanilla.comm_c);
  out.Element(vanilla.comm_r_last);
  return out.Take();
}

std::string WriteUpdateVanilla(const Circuit& circuit, const UpdateVanilla& vanilla) {
  PathShape replica(circuit.size->replica_tree()), data(circuit.size->data_tree());
  Output out;
  out.Element(vanilla.comm_c);
  out.Integer(uint64_t{vanilla.apex_leaves.size()});
  for (const Fr& leaf : vanilla.apex_leaves) out.Element(leaf);
  out.Integer(uint64_t{vanilla.challenges.size()});
  for (const UpdateChallengeProof& proof : vanilla.challenges) {
    out.Proof(replica, proof.r_old);
    out.Proof(data, proof.d_new);
    out.Proof(replica, proof.r_new);
  }
  return out.Take();
}

}  // namespace cuzk::filecoin
