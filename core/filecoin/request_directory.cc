#include "core/filecoin/request_directory.h"

#include <simdjson.h>

#include "core/filecoin/format/json_fault.h"
#include "core/filecoin/format/json_reader.h"
#include "core/filecoin/format/xz.h"
#include "core/filecoin/types/identifiers.h"

namespace cuzk::filecoin {
namespace {

using algebra::Fr;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr uint64_t kLargestDescription = uint64_t{64} << 20;

/// NotFound or InvalidArgument if no request is there.
Status CheckDirectory(const std::filesystem::path& directory) {
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::status(directory, error);
  if (!std::filesystem::exists(there)) return absl::NotFoundError(StrCat("there is no directory ", directory.string()));
  if (!std::filesystem::is_directory(there)) {
    return absl::InvalidArgumentError(
        StrCat(directory.string(), " is not a directory; a request is a directory with a file request.json"));
  }
  for (const char* name : {"request.json", "request.json.xz"}) {
    if (std::filesystem::exists(directory / name, error) || error) return absl::OkStatus();
  }
  return absl::NotFoundError(StrCat(directory.string(), " is not a request directory: it has no file request.json"));
}

/// request.json, with errors that name the key.
class Description {
 public:
  static StatusOr<Description> Read(const std::filesystem::path& directory) {
    CUZK_RETURN_IF_ERROR(CheckDirectory(directory));
    Description description;
    CUZK_ASSIGN_OR_RETURN(std::string text, ReadFileOrXz(directory / "request.json", kLargestDescription));
    element root;
    if (auto error = description.parser_->parse(text).get(root); error != simdjson::SUCCESS) {
      return absl::InvalidArgumentError(JsonMistake(directory / "request.json", text, simdjson::error_message(error)));
    }
    if (root.get(description.root_) != simdjson::SUCCESS) {
      return absl::InvalidArgumentError(StrCat((directory / "request.json").string(), ": is not a JSON object"));
    }
    CUZK_ASSIGN_OR_RETURN(std::string kind, description.Text("kind"));
    description.kind_ = FindKind(std::string_view(kind));
    if (description.kind_ == nullptr) {
      return absl::InvalidArgumentError(StrCat("request.json: unknown kind '", Printable(kind), "'"));
    }
    return description;
  }

  const KindRow& kind() const { return *kind_; }
  bool Has(std::string_view key) const { return root_.at_key(key).error() == simdjson::SUCCESS; }

  StatusOr<uint64_t> Number(std::string_view key) const { return NumberOf(root_, key); }
  StatusOr<std::string> Text(std::string_view key) const { return TextOf(root_, key); }
  StatusOr<Bytes32> Value(std::string_view key) const { return ValueOf(root_, key); }
  StatusOr<simdjson::dom::array> List(std::string_view key) const {
    simdjson::dom::array list;
    if (root_.at_key(key).get(list) != simdjson::SUCCESS) return Missing(key, "a list");
    return list;
  }

  static StatusOr<uint64_t> NumberOf(const object& from, std::string_view key) {
    uint64_t number = 0;
    if (from.at_key(key).get(number) != simdjson::SUCCESS) return Missing(key, "a whole number");
    return number;
  }
  static StatusOr<std::string> TextOf(const object& from, std::string_view key) {
    std::string_view text;
    if (from.at_key(key).get(text) != simdjson::SUCCESS) return Missing(key, "a string");
    return std::string(text);
  }
  static StatusOr<Bytes32> ValueOf(const object& from, std::string_view key) {
    CUZK_ASSIGN_OR_RETURN(std::string text, TextOf(from, key));
    auto value = Bytes32FromHex(text);
    if (!value.ok()) return Annotate(value.status(), StrCat("request.json: '", key, "'"));
    return value;
  }

 private:
  Description() : parser_(std::make_unique<simdjson::dom::parser>()) {}
  static Status Missing(std::string_view key, std::string_view what) {
    return absl::InvalidArgumentError(StrCat("request.json: '", key, "' is missing or not ", what));
  }

  std::unique_ptr<simdjson::dom::parser> parser_;  // owns what root_ points into
  object root_;
  const KindRow* kind_ = nullptr;
};

/// A file name that stays inside the directory.
StatusOr<std::filesystem::path> Inside(const std::filesystem::path& directory, const std::string& name) {
  std::filesystem::path path(name);
  if (name.empty() || path.has_parent_path() || name == "." || name == "..") {
    return absl::InvalidArgumentError(StrCat("request.json: '", Printable(name), "' is not a file name"));
  }
  return directory / path;
}

/// Splits a vanilla_file: each item after its length, u64 little-endian.
StatusOr<std::vector<std::string>> SplitItems(std::string_view bytes) {
  std::vector<std::string> items;
  while (!bytes.empty()) {
    if (bytes.size() < 8) return absl::InvalidArgumentError("vanilla_file ends inside a length");
    uint64_t length = LoadLe<uint64_t>(reinterpret_cast<const uint8_t*>(bytes.data()));
    bytes.remove_prefix(8);
    if (length > bytes.size()) {
      return absl::InvalidArgumentError(StrCat("vanilla_file ends inside item ", items.size()));
    }
    items.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return items;
}

StatusOr<std::vector<std::string>> ReadItems(const Description& description, const std::filesystem::path& directory,
                                             uint64_t most_bytes) {
  if (description.Has("vanilla_file")) {
    CUZK_ASSIGN_OR_RETURN(std::string name, description.Text("vanilla_file"));
    CUZK_ASSIGN_OR_RETURN(std::filesystem::path path, Inside(directory, name));
    CUZK_ASSIGN_OR_RETURN(std::string bytes, ReadFileOrXz(path, most_bytes));
    return SplitItems(bytes);
  }
  bool snap = description.kind().kind == Kind::kSnap;
  CUZK_ASSIGN_OR_RETURN(simdjson::dom::array list, description.List(snap ? "partitions" : "sectors"));
  std::vector<std::string> items;
  for (element entry : list) {
    std::string_view name;
    auto error = snap ? entry.get(name) : entry.at_key("file").get(name);
    if (error != simdjson::SUCCESS) {
      return absl::InvalidArgumentError(StrCat("request.json: item ", items.size(), " names no file"));
    }
    CUZK_ASSIGN_OR_RETURN(std::filesystem::path path, Inside(directory, std::string(name)));
    CUZK_ASSIGN_OR_RETURN(std::string bytes, ReadFileOrXz(path, most_bytes));
    most_bytes -= bytes.size();
    items.push_back(std::move(bytes));
  }
  return items;
}

std::string AsString(const Bytes32& bytes) { return std::string(bytes.begin(), bytes.end()); }

/// Fields that every kind has.
Status ReadCommon(const Description& description, VanillaRequest& request) {
  request.kind = static_cast<uint64_t>(description.kind().kind);
  CUZK_ASSIGN_OR_RETURN(request.registered_proof, description.Number("registered_proof"));
  CUZK_ASSIGN_OR_RETURN(request.sector_size, description.Number("sector_size"));
  CUZK_ASSIGN_OR_RETURN(request.miner_id, description.Number("miner_id"));
  if (description.kind().kind == Kind::kPorep || description.kind().kind == Kind::kSnap) {
    CUZK_ASSIGN_OR_RETURN(request.sector_number, description.Number("sector_number"));
    return absl::OkStatus();
  }
  CUZK_ASSIGN_OR_RETURN(Bytes32 randomness, description.Value("randomness"));
  request.randomness = AsString(randomness);
  CUZK_ASSIGN_OR_RETURN(uint64_t index, description.Number("partition_index"));
  if (index > UINT32_MAX) return absl::InvalidArgumentError("request.json: 'partition_index' is too large");
  request.partition_index = static_cast<uint32_t>(index);
  return absl::OkStatus();
}

StatusOr<Fr> Element(const Description& description, std::string_view key) {
  CUZK_ASSIGN_OR_RETURN(Bytes32 bytes, description.Value(key));
  return algebra::FrFromBytes(bytes, key);
}

StatusOr<Verification> VerifyPorep(const Description& description, const VanillaRequest& request,
                                   const RegisteredProof* proof) {
  PorepPublic facts{proof};
  CUZK_RETURN_IF_ERROR(Element(description, "comm_r").status());
  CUZK_RETURN_IF_ERROR(Element(description, "comm_d").status());
  CUZK_ASSIGN_OR_RETURN(facts.comm_r, description.Value("comm_r"));
  CUZK_ASSIGN_OR_RETURN(facts.comm_d, description.Value("comm_d"));
  CUZK_ASSIGN_OR_RETURN(facts.seed, description.Value("seed"));
  CUZK_ASSIGN_OR_RETURN(Bytes32 ticket, description.Value("ticket"));
  facts.replica_id = ReplicaId({request.miner_id, request.sector_number, ticket, facts.comm_d, PorepId(proof->number)});
  Verification verification{proof, {}};
  Graph graph(*proof);
  for (uint32_t k = 0; k < proof->partitions(); ++k) {
    verification.public_inputs.push_back(PorepPublicInputs(facts, graph, PorepPartitionChallenges(facts, k)));
  }
  return verification;
}

StatusOr<Verification> VerifyPost(const Description& description, const VanillaRequest& request,
                                  const RegisteredProof* proof) {
  PostPublic facts{proof, {}, proof->kind == Kind::kWindow ? request.partition_index : 0};
  std::copy(request.randomness.begin(), request.randomness.end(), facts.randomness.begin());
  CUZK_RETURN_IF_ERROR(algebra::FrFromBytes(facts.randomness, "randomness").status());
  CUZK_ASSIGN_OR_RETURN(simdjson::dom::array list, description.List("sectors"));
  std::vector<PostPublicSector> sectors;
  for (element entry : list) {
    object sector;
    if (entry.get(sector) != simdjson::SUCCESS)
      return absl::InvalidArgumentError("request.json: 'sectors' are objects");
    PostPublicSector facts_of_sector{};
    CUZK_ASSIGN_OR_RETURN(facts_of_sector.id, Description::NumberOf(sector, "sector_number"));
    CUZK_ASSIGN_OR_RETURN(Bytes32 comm_r, Description::ValueOf(sector, "comm_r"));
    CUZK_ASSIGN_OR_RETURN(facts_of_sector.comm_r, algebra::FrFromBytes(comm_r, "comm_r"));
    if (!sectors.empty() && sectors.back().id >= facts_of_sector.id) {
      return absl::InvalidArgumentError("request.json: 'sectors' must ascend");
    }
    sectors.push_back(facts_of_sector);
  }
  if (sectors.empty() || sectors.size() > PostCountsOf(proof->kind, proof->size()).most_sectors) {
    return absl::InvalidArgumentError(StrCat("request.json: ", sectors.size(), " sectors do not fit ", proof->name));
  }
  return Verification{proof, {PostPublicInputs(facts, sectors)}};
}

StatusOr<Verification> VerifySnap(const Description& description, const RegisteredProof* proof) {
  UpdatePublic facts{proof, {}, {}, {}};
  CUZK_ASSIGN_OR_RETURN(facts.comm_r_old, Element(description, "comm_r_old"));
  CUZK_ASSIGN_OR_RETURN(facts.comm_r_new, Element(description, "comm_r_new"));
  CUZK_ASSIGN_OR_RETURN(facts.comm_d_new, Element(description, "comm_d_new"));
  Verification verification{proof, {}};
  for (uint32_t k = 0; k < proof->partitions(); ++k) {
    verification.public_inputs.push_back(UpdatePublicInputs(facts, k));
  }
  return verification;
}

}  // namespace

StatusOr<DirectoryRequest> ReadRequestDirectory(const std::filesystem::path& directory, uint64_t most_bytes) {
  CUZK_ASSIGN_OR_RETURN(Description description, Description::Read(directory));
  DirectoryRequest read;
  VanillaRequest& request = read.request;
  CUZK_RETURN_IF_ERROR(ReadCommon(description, request));
  if (description.kind().kind == Kind::kPorep) {
    CUZK_ASSIGN_OR_RETURN(request.vanilla_proof, ReadFileOrXz(directory / "c1.json", most_bytes));
  } else {
    CUZK_ASSIGN_OR_RETURN(request.vanilla_proofs, ReadItems(description, directory, most_bytes));
  }
  if (description.kind().kind == Kind::kSnap) {
    const std::pair<std::string_view, std::string*> fields[] = {
        {"comm_r_old", &request.comm_r_old}, {"comm_r_new", &request.comm_r_new}, {"comm_d_new", &request.comm_d_new}};
    for (auto [key, field] : fields) {
      CUZK_ASSIGN_OR_RETURN(Bytes32 value, description.Value(key));
      *field = AsString(value);
    }
  }
  read.request_id = CurioRequestId(request);
  return read;
}

StatusOr<Verification> ReadVerification(const std::filesystem::path& directory) {
  CUZK_ASSIGN_OR_RETURN(Description description, Description::Read(directory));
  VanillaRequest request;
  CUZK_RETURN_IF_ERROR(ReadCommon(description, request));
  const RegisteredProof* proof = FindRegisteredProof(description.kind().kind, request.registered_proof);
  if (proof == nullptr) {
    return absl::InvalidArgumentError(StrCat("request.json: registered_proof ", request.registered_proof,
                                             " is not one of ", description.kind().name));
  }
  if (proof->kind == Kind::kPorep) return VerifyPorep(description, request, proof);
  if (proof->kind == Kind::kSnap) return VerifySnap(description, proof);
  return VerifyPost(description, request, proof);
}

std::string CurioRequestId(const VanillaRequest& request) {
  const KindRow* kind = FindKind(request.kind);
  std::string id = StrCat(kind == nullptr ? std::string_view("request") : kind->request_prefix, "-", request.miner_id);
  if (kind == nullptr || kind->kind == Kind::kPorep || kind->kind == Kind::kSnap) {
    return StrCat(id, "-", request.sector_number);
  }
  std::string_view start = std::string_view(request.randomness).substr(0, 8);
  if (kind->kind == Kind::kWinning) return StrCat(id, "-", ToHex(AsBytes(start)));
  std::string list;
  for (char byte : start) list += StrCat(list.empty() ? "" : " ", int{static_cast<uint8_t>(byte)});
  return StrCat(id, "-", request.partition_index, "-[", list, "]");
}

}  // namespace cuzk::filecoin
