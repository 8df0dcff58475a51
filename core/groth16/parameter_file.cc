#include "core/groth16/parameter_file.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/r1cs/shape.h"

namespace cuzk::groth16 {

std::string_view QueryName(Query query) {
  constexpr std::array<std::string_view, kQueries> kNames = {"h", "l", "a", "b_g1", "b_g2"};
  return kNames[static_cast<size_t>(query)];
}

size_t PointBytes(Query query) { return query == Query::kBG2 ? kG2Bytes : kG1Bytes; }

std::string_view PointPolicyName(PointPolicy policy) {
  switch (policy) {
    case PointPolicy::kCanonical:
      return "canonical";
    case PointPolicy::kCurve:
      return "curve";
    case PointPolicy::kSubgroup:
      return "subgroup";
  }
  return "unknown";
}

SectionCounts SectionCounts::Of(const r1cs::Shape& shape) {
  SectionCounts out;
  out.ic = shape.counts.inputs;
  out[Query::kH] = (uint64_t{1} << shape.counts.log2_domain()) - 1;
  out[Query::kL] = shape.counts.aux;
  out[Query::kA] = shape.counts.inputs + shape.a_aux.count();
  out[Query::kBG1] = out[Query::kBG2] = shape.b_input.count() + shape.b_aux.count();
  return out;
}

uint64_t SectionCounts::FileBytes() const {
  uint64_t bytes = VerifyingKey::kHeadBytes + 4 + kG1Bytes * ic;
  for (Query query : kAllQueries) bytes += 4 + PointBytes(query) * (*this)[query];
  return bytes;
}

StatusOr<std::shared_ptr<const ParameterFile>> ParameterFile::Open(const std::filesystem::path& path,
                                                                   const std::optional<SectionCounts>& expected) {
  CUZK_ASSIGN_OR_RETURN(InputFile input, InputFile::Open(path));
  std::shared_ptr<ParameterFile> file(new ParameterFile(std::move(input)));
  Status status = file->FindSections(expected);
  if (!status.ok()) return Annotate(status, path.string());
  return file;
}

Status ParameterFile::FindSections(const std::optional<SectionCounts>& expected) {
  auto wanted = [&](uint64_t count) { return expected ? std::optional(count) : std::nullopt; };
  CUZK_ASSIGN_OR_RETURN(key_, VerifyingKey::ReadFrom(file_, wanted(expected ? expected->ic : 0)));
  counts_.ic = key_.ic.size();
  uint64_t at = key_.file_bytes();
  for (Query query : kAllQueries) {
    CUZK_ASSIGN_OR_RETURN(counts_[query], ReadCount(query, at, wanted(expected ? (*expected)[query] : 0)));
    at += 4;
    offsets_[static_cast<size_t>(query)] = at;
    at += section_bytes(query);
  }
  if (at != file_.size()) {
    return absl::InvalidArgumentError(StrCat(file_.size() - at, " bytes follow after the last section"));
  }
  if (counts_[Query::kBG1] != counts_[Query::kBG2]) {
    return absl::InvalidArgumentError(
        StrCat("sections b_g1 and b_g2 differ in length: ", counts_[Query::kBG1], " and ", counts_[Query::kBG2]));
  }
  return absl::OkStatus();
}

/// The number of points of a section whose count is at `at`: the circuit's, and no more than follow in the file.
StatusOr<uint64_t> ParameterFile::ReadCount(Query query, uint64_t at, std::optional<uint64_t> expected) const {
  const std::string_view name = QueryName(query);
  if (file_.size() - at < 4) {
    return absl::InvalidArgumentError(StrCat("section ", name, ": the file ends within its count"));
  }
  std::array<uint8_t, 4> bytes;
  CUZK_RETURN_IF_ERROR(file_.ReadAt(at, bytes));
  const uint64_t count = LoadBe<uint32_t>(bytes.data()), left = file_.size() - at - bytes.size();
  if (expected && count != *expected) {
    return absl::InvalidArgumentError(
        StrCat("not of this circuit: section ", name, " has ", count, " points, expected ", *expected));
  }
  if (count > left / PointBytes(query)) {
    return absl::InvalidArgumentError(
        StrCat("section ", name, ": ", count, " points do not fit in the ", left, " bytes that follow"));
  }
  return count;
}

Status ParameterFile::ReadSection(Query query, uint64_t offset, std::span<uint8_t> out) const {
  CUZK_CHECK(offset <= section_bytes(query) && out.size() <= section_bytes(query) - offset);
  return file_.ReadAt(offsets_[static_cast<size_t>(query)] + offset, out);
}

void ParameterFile::Announce(Query query, uint64_t offset, uint64_t bytes) const {
  const uint64_t size = section_bytes(query);
  if (offset >= size) return;
  file_.Announce(offsets_[static_cast<size_t>(query)] + offset, std::min(bytes, size - offset));
}

}  // namespace cuzk::groth16
