#include "core/groth16/verifying_key.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "core/algebra/curve/point_io.h"

namespace cuzk::groth16 {
namespace {

using algebra::G1Affine;
using algebra::G2Affine;
using algebra::PointCheck;

/// Where a key's bytes come from, in order.
struct Source {
  uint64_t left;                                       // bytes
  std::function<Status(std::span<uint8_t> out)> read;  // as many as `out` has, of those that are left

  Status Next(std::span<uint8_t> out, std::string_view name) {
    if (left < out.size()) return absl::InvalidArgumentError(StrCat(name, ": the file ends within it"));
    left -= out.size();
    return read(out);
  }
};

template <class Point, size_t kBytes>
Status ReadPoint(Source& source, std::string_view name, Point& out) {
  std::array<uint8_t, kBytes> bytes;
  CUZK_RETURN_IF_ERROR(source.Next(bytes, name));
  StatusOr<Point> point = [&] {
    if constexpr (kBytes == kG1Bytes)
      return algebra::ReadG1Uncompressed(bytes, PointCheck::kFull);
    else
      return algebra::ReadG2Uncompressed(bytes, PointCheck::kFull);
  }();
  if (!point.ok()) return Annotate(point.status(), name);
  if (point->IsInfinity()) return absl::InvalidArgumentError(StrCat(name, ": point is infinity"));
  out = *point;
  return absl::OkStatus();
}

Status ReadG1(Source& source, std::string_view name, G1Affine& out) {
  return ReadPoint<G1Affine, kG1Bytes>(source, name, out);
}
Status ReadG2(Source& source, std::string_view name, G2Affine& out) {
  return ReadPoint<G2Affine, kG2Bytes>(source, name, out);
}

StatusOr<uint64_t> ReadIcCount(Source& source, std::optional<uint64_t> expected) {
  std::array<uint8_t, 4> bytes;
  CUZK_RETURN_IF_ERROR(source.Next(bytes, "count of ic"));
  const uint64_t count = LoadBe<uint32_t>(bytes.data());
  if (expected && count != *expected) {
    return absl::FailedPreconditionError(
        StrCat("not of this circuit: ic has ", count, " points, expected ", *expected));
  }
  if (count == 0) return absl::InvalidArgumentError("ic: has no points");
  if (count > source.left / kG1Bytes) {
    return absl::InvalidArgumentError(
        StrCat("ic: ", count, " points do not fit in the ", source.left, " bytes that follow"));
  }
  return count;
}

StatusOr<VerifyingKey> ReadKey(Source& source, std::optional<uint64_t> expected_ic) {
  VerifyingKey key;
  CUZK_RETURN_IF_ERROR(ReadG1(source, "alpha_g1", key.alpha_g1));
  CUZK_RETURN_IF_ERROR(ReadG1(source, "beta_g1", key.beta_g1));
  CUZK_RETURN_IF_ERROR(ReadG2(source, "beta_g2", key.beta_g2));
  CUZK_RETURN_IF_ERROR(ReadG2(source, "gamma_g2", key.gamma_g2));
  CUZK_RETURN_IF_ERROR(ReadG1(source, "delta_g1", key.delta_g1));
  CUZK_RETURN_IF_ERROR(ReadG2(source, "delta_g2", key.delta_g2));
  CUZK_ASSIGN_OR_RETURN(const uint64_t count, ReadIcCount(source, expected_ic));
  if (expected_ic) key.ic.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    G1Affine point;
    CUZK_RETURN_IF_ERROR(ReadG1(source, StrCat("ic[", i, "]"), point));
    key.ic.push_back(point);
  }
  return key;
}

}  // namespace

std::vector<uint8_t> VerifyingKey::ToBytes() const {
  std::vector<uint8_t> out;
  out.reserve(file_bytes());
  auto append = [&out](const auto& bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); };
  append(algebra::WriteG1Uncompressed(alpha_g1));
  append(algebra::WriteG1Uncompressed(beta_g1));
  append(algebra::WriteG2Uncompressed(beta_g2));
  append(algebra::WriteG2Uncompressed(gamma_g2));
  append(algebra::WriteG1Uncompressed(delta_g1));
  append(algebra::WriteG2Uncompressed(delta_g2));
  std::array<uint8_t, 4> count;
  StoreBe(count.data(), static_cast<uint32_t>(ic.size()));
  append(count);
  for (const G1Affine& point : ic) append(algebra::WriteG1Uncompressed(point));
  return out;
}

StatusOr<VerifyingKey> VerifyingKey::Take(ByteSpan& bytes, std::optional<uint64_t> expected_ic) {
  Source source{bytes.size(), [&bytes](std::span<uint8_t> out) {
                  std::copy_n(bytes.begin(), out.size(), out.begin());
                  bytes = bytes.subspan(out.size());
                  return absl::OkStatus();
                }};
  return ReadKey(source, expected_ic);
}

StatusOr<VerifyingKey> VerifyingKey::FromBytes(ByteSpan bytes) {
  CUZK_ASSIGN_OR_RETURN(VerifyingKey key, Take(bytes));
  if (!bytes.empty()) return absl::InvalidArgumentError(StrCat(bytes.size(), " bytes follow after the key"));
  return key;
}

StatusOr<VerifyingKey> VerifyingKey::ReadFrom(const InputFile& file, std::optional<uint64_t> expected_ic) {
  uint64_t at = 0;
  Source source{file.size(), [&file, &at](std::span<uint8_t> out) {
                  const uint64_t from = at;
                  at += out.size();
                  return file.ReadAt(from, out);
                }};
  return ReadKey(source, expected_ic);
}

StatusOr<VerifyingKey> VerifyingKey::FromFile(const std::filesystem::path& path) {
  CUZK_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  StatusOr<VerifyingKey> key = ReadFrom(file);
  if (!key.ok()) return Annotate(key.status(), path.string());
  if (path.extension() == ".params" || key->file_bytes() == file.size()) return key;
  return absl::InvalidArgumentError(
      StrCat(path.string(), ": ", file.size() - key->file_bytes(), " bytes follow after the key"));
}

}  // namespace cuzk::groth16
