#pragma once
// The origin of a parameter file: the trusted setup, whose digest is published, or `cuzkctl params make`.

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "core/base/bytes.h"
#include "core/base/input_file.h"
#include "core/base/progress.h"
#include "core/base/status.h"
#include "core/groth16/generator.h"
#include "core/groth16/parameter_file.h"

namespace cuzk::groth16 {

/// The content of `NAME.development.json`, which marks a parameter file as unfit for a real network.
struct DevelopmentRecord {
  std::string sha256;               ///< of the parameter file, lower-case hex
  std::string version;              ///< of the program that made it; empty in a recorded fixture
  std::optional<ToxicWaste> waste;  ///< only if it was given to the generator

  /// "params_sha256", "version", and the five keys of ToxicWaste::FromJson.
  std::string ToJson() const;
  /// InvalidArgument names the key that is missing or malformed; other keys are ignored.
  static StatusOr<DevelopmentRecord> FromJson(std::string_view json);
};

/// `NAME.development.json` for a file NAME.params.
std::filesystem::path DevelopmentRecordPath(const std::filesystem::path& parameter_file);

/// The first 16 bytes of BLAKE2b-512 over all bytes, in lower-case hex: the form of the published table.
std::string PublishedDigest(ByteSpan bytes);
/// The same of a file. Errors of InputFile::ReadAt; Cancelled soon after `stop` is requested.
StatusOr<std::string> PublishedDigest(const InputFile& file, const Progress& progress,
                                      const std::stop_token& stop = {});
/// SHA-256 over all bytes of a file, in lower-case hex. Errors as above.
StatusOr<std::string> Sha256Digest(const InputFile& file, const Progress& progress, const std::stop_token& stop = {});

enum class Provenance { kPublished, kDevelopment };

/// The record beside a parameter file; nothing if there is none.
StatusOr<std::optional<DevelopmentRecord>> ReadDevelopmentRecord(const std::filesystem::path& parameter_file);

/// The digest that a parameter file must have.
struct ExpectedDigest {
  Provenance provenance = Provenance::kPublished;
  std::string digest;  ///< for kPublished the table's, for kDevelopment SHA-256, both in lower-case hex
};
/// That of the record beside the file, or else the table's (`published`, if the table has one). FailedPrecondition if
/// there is neither; InvalidArgument for a malformed record.
StatusOr<ExpectedDigest> ExpectedDigestOf(const std::filesystem::path& parameter_file,
                                          const std::optional<std::string>& published);
/// Reads the file once. FailedPrecondition, with both digests, if it has another one, or if it changed meanwhile;
/// Cancelled by `stop`.
Status CheckDigest(const InputFile& file, const ExpectedDigest& expected, const Progress& progress,
                   const std::stop_token& stop = {});

/// Tells whether a file is the published one (`published` is the table's digest, if the table has one) or a development
/// file with its record beside it (a recorded fixture NAME.json stands for the record). FailedPrecondition if it is
/// neither, with both digests, or if it changed meanwhile; InvalidArgument for a malformed record; Cancelled by `stop`.
StatusOr<Provenance> Identify(const InputFile& file, const std::optional<std::string>& published,
                              const Progress& progress, const std::stop_token& stop = {});

/// The origin of a key: kPublished if its bytes have the table's digest, kDevelopment otherwise.
Provenance IdentifyKey(const VerifyingKey& key, const std::optional<std::string>& published);

/// The facts that `cuzkctl params check` compares a parameter file with.
struct ParameterCheck {
  std::optional<SectionCounts> counts;   ///< the circuit's
  std::optional<std::string> published;  ///< digest of the table
  algebra::Arithmetic arithmetic = algebra::Arithmetic::kScalar;
  Progress points, digest;
};
/// Lengths, the key file beside it where there is one, every point with its subgroup, and the digest that applies.
/// Errors of ParameterFile::Open, VerifyingKey::FromFile, CheckPoints and Identify; FailedPrecondition for another
/// file's key.
StatusOr<Provenance> CheckParameters(const std::filesystem::path& path, const ParameterCheck& check, ThreadPool& pool);

}  // namespace cuzk::groth16
