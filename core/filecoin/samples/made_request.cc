#include "core/filecoin/samples/made_request.h"

#include <system_error>

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/relations.h"
#include "core/filecoin/samples/made_parts.h"
#include "core/filecoin/types/identifiers.h"

namespace cuzk::filecoin {
namespace {

// The files of a made request, and the key that tells it from one that somebody sealed for.
constexpr char kDescriptionFile[] = "request.json", kC1File[] = "c1.json", kItemsFile[] = "vanilla.bin";
constexpr char kMadeKey[] = "made_from_seed";

Status CheckOptions(const RegisteredProof& proof, const MadeOptions& options) {
  if (proof.feature != PorepFeature::kNone) {
    return absl::InvalidArgumentError(StrCat("requests are made for interactive proofs, not for ", proof.name));
  }
  bool post = proof.kind == Kind::kWindow || proof.kind == Kind::kWinning;
  uint32_t most = post ? PostCountsOf(proof.kind, proof.size()).most_sectors : 1;
  if (options.sectors > most) {
    return absl::InvalidArgumentError(StrCat(options.sectors, " sectors, but ", proof.name, " takes at most ", most));
  }
  return absl::OkStatus();
}

Status CheckMade(const MadeRequest& made) {
  CUZK_ASSIGN_OR_RETURN(ParsedRequest parsed, ParseRequest(made.request));
  for (const Partition& partition : parsed.partitions) {
    CUZK_RETURN_IF_ERROR(CheckClosedRelations(*parsed.proof->circuit, partition.inputs));
  }
  return absl::OkStatus();
}

/// request.json, one key a line.
class Description {
 public:
  void Text(std::string_view key, std::string_view value) { Raw(key, StrCat("\"", value, "\"")); }
  void Number(std::string_view key, uint64_t value) { Raw(key, StrCat(value)); }
  void Value(std::string_view key, ByteSpan bytes) { Text(key, ToHex(bytes)); }
  void Raw(std::string_view key, std::string_view json) {
    text_ += StrCat(text_.empty() ? "{\n" : ",\n", "  \"", key, "\": ", json);
  }
  std::string Take() { return std::move(text_) + "\n}\n"; }

 private:
  std::string text_;
};

void DescribePorep(const MadeRequest& made, Description& description) {
  description.Number("sector_number", made.request.sector_number);
  description.Value("comm_r", made.porep.comm_r);
  description.Value("comm_d", made.porep.comm_d);
  description.Value("ticket", made.porep.ticket);
  description.Value("seed", made.porep.seed);
  description.Value("prover_id", ProverId(made.request.miner_id));
  description.Value("replica_id", made.porep.replica_id);
}

void DescribePost(const MadeRequest& made, Description& description) {
  description.Value("randomness", AsBytes(made.request.randomness));
  description.Number("partition_index", made.request.partition_index);
  std::string sectors;
  for (const auto& [id, comm_r] : made.sectors) {
    sectors +=
        StrCat(sectors.empty() ? "[" : ", ", "{\"sector_number\": ", id, ", \"comm_r\": \"", ToHex(comm_r), "\"}");
  }
  description.Raw("sectors", StrCat(sectors, "]"));
  description.Text("vanilla_file", kItemsFile);
}

void DescribeSnap(const MadeRequest& made, Description& description) {
  description.Number("sector_number", made.request.sector_number);
  description.Value("comm_r_old", AsBytes(made.request.comm_r_old));
  description.Value("comm_r_new", AsBytes(made.request.comm_r_new));
  description.Value("comm_d_new", AsBytes(made.request.comm_d_new));
  description.Text("vanilla_file", kItemsFile);
}

Status WriteItems(const std::vector<std::string>& items, const std::filesystem::path& path) {
  CUZK_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  for (const std::string& item : items) {
    uint8_t length[8];
    StoreLe(length, uint64_t{item.size()});
    CUZK_RETURN_IF_ERROR(file.Append(length));
    CUZK_RETURN_IF_ERROR(file.Append(AsBytes(item)));
  }
  return file.Commit();
}

}  // namespace

MadeValues::MadeValues(const RegisteredProof& proof, uint64_t seed)
    : stream_(ChaCha(
          20, Sha256(AsBytes(StrCat("made request ", KindInfo(proof.kind).name, " ", proof.name, " ", seed))), {})) {}

Bytes32 MadeValues::NextBytes() {
  Bytes32 bytes;
  for (size_t i = 0; i < bytes.size(); i += 4) StoreLe(bytes.data() + i, stream_.NextU32());
  return ClearTopBits(bytes);
}

Fr MadeValues::NextElement() { return *Fr::FromBytesLe(NextBytes()); }

StatusOr<const RegisteredProof*> ProofToMake(const Circuit& circuit) {
  for (const RegisteredProof& proof : RegisteredProofs()) {
    if (proof.circuit != &circuit || proof.feature != PorepFeature::kNone) continue;
    // Of PoRep and window the first version is of the past.
    bool versions = circuit.kind == Kind::kPorep || circuit.kind == Kind::kWindow;
    if (versions && proof.version == ApiVersion::kV1_0) continue;
    return &proof;
  }
  return absl::InvalidArgumentError(StrCat("no registered proof of ", KindInfo(circuit.kind).name, " is of ",
                                           circuit.size->name, ", so there are no requests for it"));
}

StatusOr<MadeRequest> MakeRequest(const RegisteredProof& proof, const MadeOptions& options) {
  CUZK_RETURN_IF_ERROR(CheckOptions(proof, options));
  MadeRequest made{{}, &proof, {}, {}};
  made.seed = options.seed;
  made.request.kind = static_cast<uint64_t>(proof.kind);
  made.request.registered_proof = proof.number;
  made.request.sector_size = proof.size().bytes;
  made.request.miner_id = options.miner_id;
  MadeValues values(proof, options.seed);
  switch (proof.kind) {
    case Kind::kPorep:
      MakePorep(options, values, made);
      break;
    case Kind::kSnap:
      MakeUpdate(values, made);
      break;
    case Kind::kWindow:
    case Kind::kWinning:
      MakePost(options, values, made);
      break;
  }
  if (proof.kind == Kind::kPorep || proof.kind == Kind::kSnap) made.request.sector_number = options.sector_number;
  Status status = CheckMade(made);
  if (!status.ok()) return absl::InternalError(StrCat("the made request is not valid: ", status.message()));
  return made;
}

bool HoldsNoOtherRequest(const std::filesystem::path& directory) {
  StatusOr<std::string> text = ReadFile(directory / kDescriptionFile);
  if (text.ok()) return text->find(StrCat("\"", kMadeKey, "\"")) != std::string::npos;
  std::error_code error;
  auto holds = [&](const char* name) {
    return std::filesystem::exists(std::filesystem::symlink_status(directory / name, error));
  };
  return !holds(kDescriptionFile) && !holds(kC1File) && !holds(kItemsFile);
}

Status WriteRequestDirectory(const MadeRequest& made, const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return ErrnoStatus(error.value(), "make folder", directory);
  Description description;
  description.Text("kind", KindInfo(made.proof->kind).name);
  description.Text("name", directory.filename().string());
  description.Number("miner_id", made.request.miner_id);
  description.Number("sector_size", made.request.sector_size);
  description.Number("registered_proof", made.request.registered_proof);
  description.Text("registered_proof_name", made.proof->name);
  description.Number(kMadeKey, made.seed);
  if (made.proof->kind == Kind::kPorep) {
    DescribePorep(made, description);
    CUZK_RETURN_IF_ERROR(WriteFile(directory / kC1File, AsBytes(made.request.vanilla_proof)));
  } else {
    made.proof->kind == Kind::kSnap ? DescribeSnap(made, description) : DescribePost(made, description);
    CUZK_RETURN_IF_ERROR(WriteItems(made.request.vanilla_proofs, directory / kItemsFile));
  }
  // Last, so that a directory with a request.json is whole.
  return WriteFile(directory / kDescriptionFile, AsBytes(description.Take()));
}

}  // namespace cuzk::filecoin
