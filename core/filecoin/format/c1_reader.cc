#include "core/filecoin/format/c1_reader.h"

#include <algorithm>
#include <optional>

#include "core/filecoin/format/base64.h"
#include "core/filecoin/format/json_reader.h"
#include "core/filecoin/types/digest.h"
#include "core/filecoin/types/path_shape.h"

namespace cuzk::filecoin {
namespace {

/// Reads the inner object. Everything below the size tag has lengths that follow from the sector size.
class CommitReader {
 public:
  explicit CommitReader(JsonReader& json) : json_(json) {}
  StatusOr<PorepVanilla> Read();

 private:
  /// What the size tag tells.
  struct Lengths {
    explicit Lengths(const SizeRow& row)
        : size(&row), counts(PorepCountsOf(row)), replica_path(row.replica_tree()), data_path(row.data_tree()) {}
    const SizeRow* size;
    PorepCounts counts;
    PathShape replica_path, data_path;
  };

  Status ReadField(size_t key);
  Status ReadVanillaProofs();
  Status ReadPartitions();
  Status ReadPartition(std::vector<PorepChallengeProof>& challenges);
  Status ReadChallenge(PorepChallengeProof& proof);
  Status ReadColumns(PorepChallengeProof& proof);
  Status ReadColumn(ColumnProof& proof);
  Status ReadRows(ColumnProof& proof);
  Status ReadMerkleProof(const PathShape& shape, MerkleProof& proof);
  Status ReadSections(const PathShape& shape, MerkleProof& proof);
  Status ReadPath(const PathShape& shape, size_t section, MerkleProof& proof);
  Status ReadElement(const PathShape::Level& level, MerkleProof& proof);
  Status ReadLabelProof(LabelProof& proof);
  Status ReadFr(Fr& out);
  Status CheckWhole() const;

  JsonReader& json_;
  std::optional<Lengths> lengths_;
  std::string name_;
  PorepVanilla out_;
};

Status CommitReader::ReadFr(Fr& out) {
  Bytes32 bytes;
  CUZK_RETURN_IF_ERROR(json_.Digest(bytes));
  if (!ToFr(bytes, out)) return json_.Error("not a canonical field element");
  return absl::OkStatus();
}

Status CommitReader::ReadElement(const PathShape::Level& level, MerkleProof& proof) {
  static constexpr std::array<std::string_view, 2> kKeys = {"hashes", "index"};
  return ReadObject(json_, kKeys, [&](size_t key) -> Status {
    if (key == 0) {
      return ReadArray(json_, level.arity - 1, "hashes", [&](size_t i) {
        return Annotate(ReadFr(proof.path.siblings[level.first_sibling + i]), "hashes");
      });
    }
    CUZK_ASSIGN_OR_RETURN(uint64_t index, json_.Integer());
    if (index >= level.arity) return json_.Error(StrCat("index ", index, " of ", level.arity));
    proof.path.leaf_index += index * level.weight;
    return absl::OkStatus();
  });
}

Status CommitReader::ReadPath(const PathShape& shape, size_t section, MerkleProof& proof) {
  static constexpr std::array<std::string_view, 1> kKeys = {"path"};
  size_t begin = section == 0 ? 0 : shape.sections()[section - 1];
  size_t end = shape.sections()[section];
  return ReadObject(json_, kKeys, [&](size_t) {
    return ReadArray(json_, end - begin, "levels", [&](size_t i) -> Status {
      Status status = ReadElement(shape.levels()[begin + i], proof);
      return status.ok() ? status : Annotate(std::move(status), StrCat("level ", begin + i));
    });
  });
}

Status CommitReader::ReadSections(const PathShape& shape, MerkleProof& proof) {
  auto member = [&](size_t key) -> Status {
    if (key == 0) return Annotate(ReadFr(proof.root), "root");
    if (key == 1) return Annotate(ReadFr(proof.leaf), "leaf");
    return ReadPath(shape, key - 2, proof);
  };
  static constexpr std::array<std::string_view, 3> kSingle = {"root", "leaf", "path"};
  static constexpr std::array<std::string_view, 4> kSub = {"root", "leaf", "base_proof", "sub_proof"};
  static constexpr std::array<std::string_view, 5> kTop = {"root", "leaf", "base_proof", "sub_proof", "top_proof"};
  if (shape.sections().size() == 1) return ReadObject(json_, kSingle, member);
  if (shape.sections().size() == 2) return ReadObject(json_, kSub, member);
  return ReadObject(json_, kTop, member);
}

Status CommitReader::ReadMerkleProof(const PathShape& shape, MerkleProof& proof) {
  static constexpr std::array<std::string_view, 1> kKeys = {"data"};
  proof.path.siblings.resize(shape.siblings());
  return ReadObject(json_, kKeys, [&](size_t) -> Status {
    const std::array<std::string_view, 1> variant = {shape.variant()};
    return ReadObject(json_, variant, [&](size_t) { return ReadSections(shape, proof); });
  });
}

Status CommitReader::ReadRows(ColumnProof& proof) {
  static constexpr std::array<std::string_view, 3> kKeys = {"index", "rows", "_h"};
  return ReadObject(json_, kKeys, [&](size_t key) -> Status {
    if (key == 2) return Annotate(json_.Null(), "_h");
    if (key == 1) {
      proof.rows.resize(lengths_->counts.layers);
      return Annotate(ReadArray(json_, proof.rows.size(), "rows", [&](size_t i) { return ReadFr(proof.rows[i]); }),
                      "rows");
    }
    CUZK_ASSIGN_OR_RETURN(proof.index, json_.Integer());
    return absl::OkStatus();
  });
}

Status CommitReader::ReadColumn(ColumnProof& proof) {
  static constexpr std::array<std::string_view, 2> kKeys = {"column", "inclusion_proof"};
  return ReadObject(json_, kKeys, [&](size_t key) -> Status {
    if (key == 0) return Annotate(ReadRows(proof), "column");
    return Annotate(ReadMerkleProof(lengths_->replica_path, proof.inclusion), "inclusion_proof");
  });
}

Status CommitReader::ReadColumns(PorepChallengeProof& proof) {
  static constexpr std::array<std::string_view, 3> kKeys = {"c_x", "drg_parents", "exp_parents"};
  return ReadObject(json_, kKeys, [&](size_t key) -> Status {
    if (key == 0) return Annotate(ReadColumn(proof.column), "c_x");
    std::span<ColumnProof> parents = proof.expander_parents;
    if (key == 1) parents = proof.drg_parents;
    return ReadArray(json_, parents.size(), kKeys[key], [&](size_t i) -> Status {
      Status status = ReadColumn(parents[i]);
      return status.ok() ? status : Annotate(std::move(status), StrCat(kKeys[key], " ", i));
    });
  });
}

Status CommitReader::ReadLabelProof(LabelProof& proof) {
  static constexpr std::array<std::string_view, 3> kKeys = {"parents", "layer_index", "node"};
  return ReadObject(json_, kKeys, [&](size_t key) -> Status {
    if (key == 0) {
      proof.parents.resize(kLabelParents);
      return Annotate(ReadArray(json_, kLabelParents, "parents", [&](size_t i) { return ReadFr(proof.parents[i]); }),
                      "parents");
    }
    CUZK_ASSIGN_OR_RETURN(uint64_t value, json_.Integer());
    (key == 1 ? proof.layer : proof.node) = value;
    return absl::OkStatus();
  });
}

Status CommitReader::ReadChallenge(PorepChallengeProof& proof) {
  static constexpr std::array<std::string_view, 5> kKeys = {
      "comm_d_proofs", "comm_r_last_proof", "replica_column_proofs", "labeling_proofs", "encoding_proof"};
  return ReadObject(json_, kKeys, [&](size_t key) -> Status {
    switch (key) {
      case 0:
        return Annotate(ReadMerkleProof(lengths_->data_path, proof.comm_d), kKeys[0]);
      case 1:
        return Annotate(ReadMerkleProof(lengths_->replica_path, proof.comm_r_last), kKeys[1]);
      case 2:
        return Annotate(ReadColumns(proof), kKeys[2]);
      case 4:
        return Annotate(ReadLabelProof(proof.encoding), kKeys[4]);
      default:
        break;
    }
    proof.labeling.resize(lengths_->counts.layers);
    return ReadArray(json_, proof.labeling.size(), kKeys[3], [&](size_t i) -> Status {
      Status status = ReadLabelProof(proof.labeling[i]);
      return status.ok() ? status : Annotate(std::move(status), StrCat("labeling_proofs ", i));
    });
  });
}

Status CommitReader::ReadPartition(std::vector<PorepChallengeProof>& challenges) {
  std::string where = StrCat("partition ", out_.partitions.size() - 1);
  challenges.reserve(lengths_->counts.challenges);
  Status status = ReadArray(json_, lengths_->counts.challenges, "challenges", [&](size_t i) -> Status {
    Status read = ReadChallenge(challenges.emplace_back());
    if (!read.ok()) where += StrCat(", challenge ", i);
    return read;
  });
  return Annotate(std::move(status), where);
}

Status CommitReader::ReadPartitions() {
  CUZK_RETURN_IF_ERROR(json_.BeginArray());
  size_t most = std::max(lengths_->counts.partitions, lengths_->counts.non_interactive_partitions);
  for (bool first = true;; first = false) {
    CUZK_ASSIGN_OR_RETURN(bool more, json_.NextElement(first));
    if (!more) return absl::OkStatus();
    if (out_.partitions.size() == most) return json_.Error(StrCat("more than ", most, " partitions"));
    CUZK_RETURN_IF_ERROR(ReadPartition(out_.partitions.emplace_back()));
  }
}

Status CommitReader::ReadVanillaProofs() {
  CUZK_RETURN_IF_ERROR(json_.BeginObject());
  CUZK_ASSIGN_OR_RETURN(bool more, json_.NextMember(true));
  if (!more) return json_.Error("no size tag");
  CUZK_ASSIGN_OR_RETURN(std::string tag, json_.Key());
  // The tag is the name of the size's first registered seal, whatever the proof's version.
  const RegisteredProof* seal = FindSealByName(tag);
  if (seal == nullptr || seal->version != ApiVersion::kV1_0) {
    return json_.Error(StrCat("unknown size tag '", Printable(tag), "'"));
  }
  lengths_.emplace(seal->size());
  CUZK_RETURN_IF_ERROR(ReadPartitions());
  CUZK_ASSIGN_OR_RETURN(more, json_.NextMember(false));
  if (more) return json_.Error("more than one size tag");
  return absl::OkStatus();
}

Status CommitReader::ReadField(size_t key) {
  switch (key) {
    case 0: {
      CUZK_ASSIGN_OR_RETURN(name_, json_.String());
      return absl::OkStatus();
    }
    case 1:
      return ReadVanillaProofs();
    case 2:
      return json_.Digest(out_.comm_r);
    case 3:
      return json_.Digest(out_.comm_d);
    case 4:
      return json_.Digest(out_.replica_id);
    case 5:
      return json_.Digest(out_.seed);
    default:
      return json_.Digest(out_.ticket);
  }
}

Status CommitReader::CheckWhole() const {
  const RegisteredProof* proof = FindSealByName(name_);
  if (proof == nullptr) {
    return absl::InvalidArgumentError(StrCat("registered_proof: unknown name '", Printable(name_), "'"));
  }
  if (&proof->size() != lengths_->size) {
    return absl::InvalidArgumentError(
        StrCat("registered_proof ", name_, " with vanilla proofs of ", lengths_->size->name));
  }
  if (out_.partitions.size() != proof->partitions()) {
    return absl::InvalidArgumentError(
        StrCat(out_.partitions.size(), " partitions, but ", name_, " has ", proof->partitions()));
  }
  const std::pair<std::string_view, const Bytes32*> commitments[] = {{"comm_r", &out_.comm_r},
                                                                     {"comm_d", &out_.comm_d}};
  for (auto [name, bytes] : commitments) {
    if (*bytes == Bytes32{}) return absl::InvalidArgumentError(StrCat(name, " is zero"));
    CUZK_RETURN_IF_ERROR(algebra::FrFromBytes(*bytes, name).status());
  }
  if (out_.seed == Bytes32{}) return absl::InvalidArgumentError("seed is zero");
  return algebra::FrFromBytes(out_.replica_id, "replica_id").status();
}

StatusOr<PorepVanilla> CommitReader::Read() {
  static constexpr std::array<std::string_view, 7> kKeys = {"registered_proof", "vanilla_proofs", "comm_r", "comm_d",
                                                            "replica_id",       "seed",           "ticket"};
  CUZK_RETURN_IF_ERROR(ReadObject(json_, kKeys, [&](size_t key) {
    // Errors inside the vanilla proofs begin with their partition.
    return key == 1 ? ReadField(key) : Annotate(ReadField(key), kKeys[key]);
  }));
  CUZK_RETURN_IF_ERROR(json_.End());
  CUZK_RETURN_IF_ERROR(CheckWhole());
  out_.proof = FindSealByName(name_);
  return std::move(out_);
}

StatusOr<PorepVanilla> ReadInner(std::string_view base64) {
  if (base64.find('\\') != std::string_view::npos) {
    EscapedBase64Source source(std::string_view(base64.data() - 1, base64.size() + 2));
    JsonReader reader(source);
    return CommitReader(reader).Read();
  }
  Base64Source source(base64);
  JsonReader reader(source);
  return CommitReader(reader).Read();
}

}  // namespace

StatusOr<PorepVanilla> ReadCommitOutput(std::string_view json) {
  JsonReader reader(json);
  return CommitReader(reader).Read();
}

StatusOr<C1> ReadC1(std::string_view text) {
  static constexpr std::array<std::string_view, 3> kKeys = {"SectorNum", "Phase1Out", "SectorSize"};
  C1 c1;
  std::string_view base64;
  JsonReader reader(text);
  Status wrapper = ReadObject(reader, kKeys, [&](size_t key) -> Status {
    if (key == 1) {
      CUZK_ASSIGN_OR_RETURN(base64, reader.RawString());
      return absl::OkStatus();
    }
    auto value = reader.Integer();
    if (!value.ok()) return Annotate(value.status(), kKeys[key]);
    (key == 0 ? c1.sector_number : c1.sector_size) = *value;
    return absl::OkStatus();
  });
  if (wrapper.ok()) wrapper = reader.End();
  if (!wrapper.ok()) return Annotate(std::move(wrapper), "C1 wrapper");
  CUZK_ASSIGN_OR_RETURN(c1.vanilla, ReadInner(base64));
  return c1;
}

}  // namespace cuzk::filecoin
