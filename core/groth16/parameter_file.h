#pragma once
// Reading of `.params` files: five sections of points behind the verifying key, without header or checksum. The file
// comes from outside, so nothing in it is trusted: counts are compared with the circuit's shape, sections with the end
// of the file, and points are checked while they are decoded, as strictly as the policy says. The file is read, not
// mapped, so that truncating or replacing it meanwhile is an error.

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/algebra/curve/curve.h"
#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/input_file.h"
#include "core/base/progress.h"
#include "core/base/status.h"
#include "core/base/thread_pool.h"
#include "core/groth16/verifying_key.h"
#include "core/r1cs/shape.h"

namespace cuzk::groth16 {

/// The five multi-exponentiations of a proof and the sections of a parameter file, in the file's order.
enum class Query { kH, kL, kA, kBG1, kBG2 };
inline constexpr size_t kQueries = 5;
inline constexpr std::array<Query, kQueries> kAllQueries = {Query::kH, Query::kL, Query::kA, Query::kBG1, Query::kBG2};
/// "h", "l", "a", "b_g1", "b_g2".
std::string_view QueryName(Query query);
/// Bytes of one point of the section: kG1Bytes, for b_g2 kG2Bytes.
size_t PointBytes(Query query);

/// How points outside the verifying key are checked. Infinity and coordinates that are not below p are refused by
/// every policy; what filecoin-proofs does is kCurve.
enum class PointPolicy { kCanonical, kCurve, kSubgroup };
std::string_view PointPolicyName(PointPolicy policy);

/// The lengths that a circuit demands of its parameter file.
struct SectionCounts {
  uint64_t ic = 0;
  std::array<uint64_t, kQueries> points{};  ///< by Query

  uint64_t& operator[](Query q) { return points[static_cast<size_t>(q)]; }
  uint64_t operator[](Query q) const { return points[static_cast<size_t>(q)]; }
  friend bool operator==(const SectionCounts&, const SectionCounts&) = default;

  /// ic = I; h = m - 1; l = X; a = I + ones(a_aux); b = ones(b_input) + ones(b_aux).
  static SectionCounts Of(const r1cs::Shape& shape);
  /// Bytes of a file with these counts.
  uint64_t FileBytes() const;
};

/// What can be said of a parameter file before it is parsed: that it has `bytes` bytes (0: not known) and begins with a
/// point of G1. Reads 96 bytes. Errors of InputFile::Open; InvalidArgument: "NAME: this is not the published file: 9
/// bytes, 47373928632 expected; the download failed or was cut".
Status CheckHead(const std::filesystem::path& path, uint64_t bytes);

/// A parameter file, open for reading, with its key read and every length checked; its points are not decoded yet.
/// Immutable; any number of threads.
class ParameterFile {
 public:
  /// Reads the key (fully checked), finds the sections, and requires that the file ends exactly after the last one and
  /// that b_g1 and b_g2 are equally long. With `expected`, every count must be the circuit's, and is compared before
  /// it is used. NotFound if there is no file; FailedPrecondition for the file of another circuit; InvalidArgument for
  /// any other fault, naming the section and both numbers after what CheckHead would say.
  static StatusOr<std::shared_ptr<const ParameterFile>> Open(const std::filesystem::path& path,
                                                             const std::optional<SectionCounts>& expected = {});

  const std::filesystem::path& path() const { return file_.path(); }
  const InputFile& file() const { return file_; }
  const VerifyingKey& verifying_key() const { return key_; }
  const SectionCounts& counts() const { return counts_; }
  uint64_t section_bytes(Query query) const { return counts_[query] * PointBytes(query); }

  /// Bytes of a section as they are in the file: points big-endian, uncompressed, PointBytes(query) each. Errors of
  /// InputFile::ReadAt; the bytes must be the section's.
  Status ReadSection(Query query, uint64_t offset, std::span<uint8_t> out) const;
  /// Advises the system that these bytes of the section (as many as it has) will be read soon.
  void Announce(Query query, uint64_t offset, uint64_t bytes) const;
  /// FailedPrecondition if the file has changed since it was opened. To be called after points were read.
  Status CheckUnchanged() const { return file_.CheckUnchanged(); }

 private:
  explicit ParameterFile(InputFile file) : file_(std::move(file)) {}
  Status FindSections(const std::optional<SectionCounts>& expected);
  StatusOr<uint64_t> ReadCount(Query query, uint64_t at, std::optional<uint64_t> expected) const;

  InputFile file_;
  VerifyingKey key_;
  SectionCounts counts_;
  std::array<uint64_t, kQueries> offsets_{};  // of the points of each section
};

/// How the points of a section are decoded.
struct DecodeOptions {
  PointPolicy policy = PointPolicy::kCurve;
  algebra::Arithmetic arithmetic = algebra::Arithmetic::kScalar;
  std::stop_token stop;  ///< Cancelled once it is asked to stop
  Progress progress;     ///< bytes done of the bytes to be decoded
};

/// A point of a section.
struct PointPlace {
  Query query;
  uint64_t index = 0;
};

/// Decodes the out.size() points of a G1 section from `begin` on into Montgomery memory form, in parallel, while the
/// disk reads ahead. InvalidArgument names section and index of the lowest bad point. Nothing big is allocated.
Status DecodeG1(const ParameterFile& file, PointPlace begin, std::span<algebra::G1Affine> out, ThreadPool& pool,
                const DecodeOptions& options);
/// The same for b_g2, from point `begin` on.
Status DecodeG2(const ParameterFile& file, uint64_t begin, std::span<algebra::G2Affine> out, ThreadPool& pool,
                const DecodeOptions& options);

/// Decodes and checks every point of the file in bounded memory, keeping none, and that the file stayed what it was.
/// Progress counts bytes.
Status CheckPoints(const ParameterFile& file, ThreadPool& pool, const DecodeOptions& options);

}  // namespace cuzk::groth16
