#include "core/groth16/identity.h"

#include <simdjson.h>

#include <algorithm>
#include <vector>

#include "core/base/file.h"
#include "core/base/hash.h"

namespace cuzk::groth16 {
namespace {

/// Bytes that are hashed at a time, and between two reports of progress; the disk reads that far ahead.
constexpr uint64_t kPiece = uint64_t{1} << 20, kReport = uint64_t{16} << 20;

StatusOr<std::array<uint8_t, 64>> HashAll(HashKind kind, const InputFile& file, const Progress& progress,
                                          const std::stop_token& stop) {
  Hasher hasher(kind);
  std::vector<uint8_t> buffer(std::min(kPiece, file.size()));
  for (uint64_t at = 0; at < file.size(); at += buffer.size()) {
    if (stop.stop_requested()) return absl::CancelledError(StrCat(file.path().string(), ": stopped while it was read"));
    if (at % kReport == 0) file.Announce(at, 2 * kReport);
    const std::span<uint8_t> piece = std::span(buffer).first(std::min<uint64_t>(buffer.size(), file.size() - at));
    CUZK_RETURN_IF_ERROR(file.ReadAt(at, piece));
    hasher.Update(piece);
    const uint64_t done = at + piece.size();
    if (progress && (done % kReport == 0 || done == file.size())) progress(done, file.size());
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

std::string PublishedDigest(ByteSpan bytes) { return ToHex(ByteSpan(Blake2b512(bytes)).first(16)); }

StatusOr<std::string> PublishedDigest(const InputFile& file, const Progress& progress, const std::stop_token& stop) {
  CUZK_ASSIGN_OR_RETURN(auto hash, HashAll(HashKind::kBlake2b512, file, progress, stop));
  return ToHex(ByteSpan(hash).first(16));
}

StatusOr<std::string> Sha256Digest(const InputFile& file, const Progress& progress, const std::stop_token& stop) {
  CUZK_ASSIGN_OR_RETURN(auto hash, HashAll(HashKind::kSha256, file, progress, stop));
  return ToHex(ByteSpan(hash).first(32));
}

StatusOr<ExpectedDigest> ExpectedDigestOf(const std::filesystem::path& parameter_file,
                                          const std::optional<std::string>& published) {
  CUZK_ASSIGN_OR_RETURN(const std::optional<DevelopmentRecord> record, ReadDevelopmentRecord(parameter_file));
  if (record) return ExpectedDigest{Provenance::kDevelopment, record->sha256};
  if (published) return ExpectedDigest{Provenance::kPublished, *published};
  return absl::FailedPreconditionError(
      StrCat(parameter_file.string(), ": no digest is published for this circuit, and there is no ",
             DevelopmentRecordPath(parameter_file).filename().string(), " beside the file"));
}

Status CheckDigest(const InputFile& file, const ExpectedDigest& expected, const Progress& progress,
                   const std::stop_token& stop) {
  const bool development = expected.provenance == Provenance::kDevelopment;
  CUZK_ASSIGN_OR_RETURN(const std::string found,
                        development ? Sha256Digest(file, progress, stop) : PublishedDigest(file, progress, stop));
  CUZK_RETURN_IF_ERROR(file.CheckUnchanged());
  if (found == expected.digest) return absl::OkStatus();
  const std::string name = file.path().string();
  return absl::FailedPreconditionError(
      development ? StrCat(name, ": SHA-256 is ", found, ", its development record says ", expected.digest)
                  : StrCat(name, ": digest is ", found, ", published is ", expected.digest));
}

StatusOr<Provenance> Identify(const InputFile& file, const std::optional<std::string>& published,
                              const Progress& progress, const std::stop_token& stop) {
  CUZK_ASSIGN_OR_RETURN(const ExpectedDigest expected, ExpectedDigestOf(file.path(), published));
  CUZK_RETURN_IF_ERROR(CheckDigest(file, expected, progress, stop));
  return expected.provenance;
}

Provenance IdentifyKey(const VerifyingKey& key, const std::optional<std::string>& published) {
  return published && PublishedDigest(key.ToBytes()) == *published ? Provenance::kPublished : Provenance::kDevelopment;
}

namespace {

/// The key file beside a parameter file, where there is one, holds its key: proofs are verified with it.
Status CheckKeyBeside(const ParameterFile& file) {
  std::filesystem::path path = file.path();
  StatusOr<VerifyingKey> key = VerifyingKey::FromFile(path.replace_extension(".vk"));
  if (absl::IsNotFound(key.status())) return absl::OkStatus();
  if (!key.ok()) return key.status();
  if (key->ToBytes() == file.verifying_key().ToBytes()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat(path.string(), ": is not the key of ", file.path().filename().string(), " beside it"));
}

}  // namespace

StatusOr<Provenance> CheckParameters(const std::filesystem::path& path, const ParameterCheck& check, ThreadPool& pool) {
  CUZK_ASSIGN_OR_RETURN(auto file, ParameterFile::Open(path, check.counts));
  CUZK_RETURN_IF_ERROR(CheckKeyBeside(*file));
  DecodeOptions decode{.policy = PointPolicy::kSubgroup, .arithmetic = check.arithmetic, .progress = check.points};
  CUZK_RETURN_IF_ERROR(CheckPoints(*file, pool, decode));
  return Identify(file->file(), check.published, check.digest);
}

}  // namespace cuzk::groth16
