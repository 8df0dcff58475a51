#include "core/groth16/parameter_file.h"

#include <algorithm>

#include "core/algebra/curve/point_io.h"
#include "core/base/check.h"
#include "core/groth16/identity.h"
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

namespace {

/// The first line of a file that begins with text, such as an error page of a server, as far as 16 bytes go; empty for
/// any other file.
std::string TextAtBegin(const InputFile& file) {
  std::array<uint8_t, 16> head{};
  const auto begin = std::span(head).first(std::min<uint64_t>(head.size(), file.size()));
  if (begin.empty() || !file.ReadAt(0, begin).ok()) return "";
  auto printable = [](uint8_t c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t'; };
  if (!std::all_of(begin.begin(), begin.end(), printable)) return "";
  const std::string text(begin.begin(), begin.end());
  return text.substr(0, text.find_first_of("\r\n\t"));
}

/// What is wrong with a file of which the size or the head shows that it is another one; `bytes` as for CheckHead.
Status NotTheFile(const InputFile& file, uint64_t bytes, std::string_view cause) {
  const auto record = ReadDevelopmentRecord(file.path());
  const bool made = record.ok() && record->has_value();
  std::string text(made ? "this is not the file that its development record describes"
                        : "this is not the published file");
  if (bytes != 0) text += StrCat(": ", file.size(), " bytes, ", bytes, " expected");
  text += made ? "; it was cut or replaced" : "; the download failed or was cut";
  const std::string begin = TextAtBegin(file);
  if (!begin.empty()) return absl::InvalidArgumentError(StrCat(text, " (it is a text: \"", begin, "\")"));
  return absl::InvalidArgumentError(cause.empty() ? text : StrCat(text, " (", cause, ")"));
}

/// Of an open file; the path is not named.
Status CheckHeadOf(const InputFile& file, uint64_t bytes) {
  if (bytes != 0 && file.size() != bytes) return NotTheFile(file, bytes, "");
  std::array<uint8_t, kG1Bytes> head;
  if (file.size() < head.size()) return NotTheFile(file, bytes, "alpha_g1: the file ends within it");
  CUZK_RETURN_IF_ERROR(file.ReadAt(0, head));
  const Status point = algebra::ReadG1Uncompressed(head, algebra::PointCheck::kCurveOnly).status();
  return point.ok() ? absl::OkStatus() : NotTheFile(file, bytes, StrCat("alpha_g1: ", point.message()));
}

}  // namespace

Status CheckHead(const std::filesystem::path& path, uint64_t bytes) {
  CUZK_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path));
  return Annotate(CheckHeadOf(file, bytes), path.string());
}

StatusOr<std::shared_ptr<const ParameterFile>> ParameterFile::Open(const std::filesystem::path& path,
                                                                   const std::optional<SectionCounts>& expected) {
  CUZK_ASSIGN_OR_RETURN(InputFile input, InputFile::Open(path));
  std::shared_ptr<ParameterFile> file(new ParameterFile(std::move(input)));
  const uint64_t bytes = expected ? expected->FileBytes() : 0;
  Status status = file->FindSections(expected);
  // The counts told another circuit's file already; what else is wrong with a file of another length follows from that.
  if (absl::IsInvalidArgument(status)) {
    const bool other_length = bytes != 0 && file->file().size() != bytes;
    if (other_length || !CheckHeadOf(file->file(), 0).ok())
      status = NotTheFile(file->file(), bytes, StrCat(status.message()));
  }
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
    return absl::FailedPreconditionError(
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
