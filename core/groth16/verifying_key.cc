#include "core/groth16/verifying_key.h"

#include "core/algebra/point_io.h"
#include "core/base/file.h"

namespace cuzk::groth16 {
namespace {

using algebra::G1Affine;
using algebra::G2Affine;
using algebra::PointCheck;

/// Reads one point from the front of `bytes` and removes it there.
template <class Point, size_t kBytes>
Status TakePoint(ByteSpan& bytes, std::string_view name, Point& out) {
  if (bytes.size() < kBytes) return absl::InvalidArgumentError(StrCat(name, ": the file ends within it"));
  StatusOr<Point> point = [&] {
    if constexpr (kBytes == kG1Bytes)
      return algebra::ReadG1Uncompressed(bytes.first(kBytes), PointCheck::kFull);
    else
      return algebra::ReadG2Uncompressed(bytes.first(kBytes), PointCheck::kFull);
  }();
  if (!point.ok()) return Annotate(point.status(), name);
  if (point->IsInfinity()) return absl::InvalidArgumentError(StrCat(name, ": point is infinity"));
  out = *point;
  bytes = bytes.subspan(kBytes);
  return absl::OkStatus();
}

Status TakeG1(ByteSpan& bytes, std::string_view name, G1Affine& out) {
  return TakePoint<G1Affine, kG1Bytes>(bytes, name, out);
}
Status TakeG2(ByteSpan& bytes, std::string_view name, G2Affine& out) {
  return TakePoint<G2Affine, kG2Bytes>(bytes, name, out);
}

}  // namespace

std::vector<uint8_t> VerifyingKey::ToBytes() const {
  std::vector<uint8_t> out;
  out.reserve(kHeadBytes + 4 + kG1Bytes * ic.size());
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

StatusOr<VerifyingKey> VerifyingKey::Take(ByteSpan& bytes) {
  VerifyingKey key;
  CUZK_RETURN_IF_ERROR(TakeG1(bytes, "alpha_g1", key.alpha_g1));
  CUZK_RETURN_IF_ERROR(TakeG1(bytes, "beta_g1", key.beta_g1));
  CUZK_RETURN_IF_ERROR(TakeG2(bytes, "beta_g2", key.beta_g2));
  CUZK_RETURN_IF_ERROR(TakeG2(bytes, "gamma_g2", key.gamma_g2));
  CUZK_RETURN_IF_ERROR(TakeG1(bytes, "delta_g1", key.delta_g1));
  CUZK_RETURN_IF_ERROR(TakeG2(bytes, "delta_g2", key.delta_g2));
  if (bytes.size() < 4) return absl::InvalidArgumentError("ic: the file ends within its count");
  const uint64_t count = LoadBe<uint32_t>(bytes.data());
  bytes = bytes.subspan(4);
  if (count == 0) return absl::InvalidArgumentError("ic: has no points");
  if (count > bytes.size() / kG1Bytes) {
    return absl::InvalidArgumentError(
        StrCat("ic: ", count, " points do not fit in the ", bytes.size(), " bytes that follow"));
  }
  key.ic.resize(count);
  for (uint64_t i = 0; i < count; ++i) CUZK_RETURN_IF_ERROR(TakeG1(bytes, StrCat("ic[", i, "]"), key.ic[i]));
  return key;
}

StatusOr<VerifyingKey> VerifyingKey::FromBytes(ByteSpan bytes) {
  CUZK_ASSIGN_OR_RETURN(VerifyingKey key, Take(bytes));
  if (!bytes.empty()) return absl::InvalidArgumentError(StrCat(bytes.size(), " bytes follow after the key"));
  return key;
}

StatusOr<VerifyingKey> VerifyingKey::FromFile(const std::filesystem::path& path, bool allow_more) {
  CUZK_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  ByteSpan bytes = file.bytes();
  StatusOr<VerifyingKey> key = allow_more ? Take(bytes) : FromBytes(bytes);
  if (!key.ok()) return Annotate(key.status(), path.string());
  return key;
}

}  // namespace cuzk::groth16
