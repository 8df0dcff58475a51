#include "core/groth16/identity.h"

#include <simdjson.h>

#include <algorithm>

#include "core/base/file.h"
#include "core/base/hash.h"

namespace cuzk::groth16 {
namespace {

/// Hashes in pieces, so that progress moves.
std::array<uint8_t, 64> HashAll(HashKind kind, ByteSpan bytes, const Progress& progress) {
  constexpr size_t kPiece = size_t{16} << 20;
  Hasher hasher(kind);
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    ByteSpan piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    hasher.Update(piece);
    if (progress) progress(at + piece.size(), bytes.size());
  }
  return hasher.Finish();
}

/// `"key": "value"`; values are hex or version numbers, so nothing needs escaping but quotes and backslashes.
void AppendField(std::string& json, std::string_view key, std::string_view value) {
  json += json.size() > 1 ? ",\n  \"" : "\n  \"";
  json += key;
  json += "\": \"";
  for (char c : value) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  json += '"';
}

bool IsSha256Hex(std::string_view text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

std::string DevelopmentRecord::ToJson() const {
  std::string json = "{";
  AppendField(json, "params_sha256", sha256);
  AppendField(json, "version", version);
  if (waste) {
    const std::pair<const char*, algebra::Fr> fields[] = {{"alpha", waste->alpha},
                                                          {"beta", waste->beta},
                                                          {"gamma", waste->gamma},
                                                          {"delta", waste->delta},
                                                          {"tau", waste->tau}};
    for (const auto& [key, value] : fields) AppendField(json, key, ToHex(value.ToBytesLe()));
  }
  return json + "\n}\n";
}

StatusOr<DevelopmentRecord> DevelopmentRecord::FromJson(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(simdjson::padded_string(json)).get(object) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError("development record: not a JSON object");
  }
  DevelopmentRecord out;
  std::string_view text;
  if (object["params_sha256"].get(text) != simdjson::SUCCESS || !IsSha256Hex(text)) {
    return absl::InvalidArgumentError("development record: \"params_sha256\" is not 64 digits of lower-case hex");
  }
  out.sha256 = text;
  if (object["version"].get(text) == simdjson::SUCCESS) out.version = text;
  if (object["tau"].error() == simdjson::SUCCESS) {
    StatusOr<ToxicWaste> waste = ToxicWaste::FromJson(json);
    if (!waste.ok()) return Annotate(waste.status(), "development record");
    out.waste = *waste;
  }
  return out;
}

std::filesystem::path DevelopmentRecordPath(const std::filesystem::path& parameter_file) {
  std::filesystem::path path = parameter_file;
  return path.replace_extension(".development.json");
}

StatusOr<std::optional<DevelopmentRecord>> ReadDevelopmentRecord(const std::filesystem::path& parameter_file) {
  std::filesystem::path recorded = parameter_file;
  for (const std::filesystem::path& path :
       {DevelopmentRecordPath(parameter_file), recorded.replace_extension(".json")}) {
    StatusOr<std::string> json = ReadFile(path);
    if (absl::IsNotFound(json.status())) continue;
    if (!json.ok()) return json.status();
    StatusOr<DevelopmentRecord> record = DevelopmentRecord::FromJson(*json);
    if (!record.ok()) return Annotate(record.status(), path.string());
    return *std::move(record);
  }
  return std::nullopt;
}

std::string PublishedDigest(ByteSpan bytes, const Progress& progress) {
  return ToHex(ByteSpan(HashAll(HashKind::kBlake2b512, bytes, progress)).first(16));
}

std::string Sha256Digest(ByteSpan bytes, const Progress& progress) {
  return ToHex(ByteSpan(HashAll(HashKind::kSha256, bytes, progress)).first(32));
}

StatusOr<Provenance> Identify(const std::filesystem::path& path, ByteSpan bytes,
                              const std::optional<std::string>& published, const Progress& progress) {
  CUZK_ASSIGN_OR_RETURN(std::optional<DevelopmentRecord> record, ReadDevelopmentRecord(path));
  if (record) {
    const std::string found = Sha256Digest(bytes, progress);
    if (found == record->sha256) return Provenance::kDevelopment;
    return absl::FailedPreconditionError(
        StrCat(path.string(), ": SHA-256 is ", found, ", its development record says ", record->sha256));
  }
  if (!published) {
    return absl::FailedPreconditionError(StrCat(path.string(),
                                                ": no digest is published for this circuit, and there is no ",
                                                DevelopmentRecordPath(path).filename().string(), " beside the file"));
  }
  const std::string found = PublishedDigest(bytes, progress);
  if (found == *published) return Provenance::kPublished;
  return absl::FailedPreconditionError(StrCat(path.string(), ": digest is ", found, ", published is ", *published));
}

}  // namespace cuzk::groth16
