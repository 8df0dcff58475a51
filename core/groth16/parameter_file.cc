#include "core/groth16/parameter_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

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
  CUZK_ASSIGN_OR_RETURN(MappedFile map, MappedFile::Open(path));
  std::shared_ptr<ParameterFile> file(new ParameterFile(std::move(map)));
  Status status = file->ReadSections(expected);
  if (!status.ok()) return Annotate(status, path.string());
  return file;
}

Status ParameterFile::ReadSections(const std::optional<SectionCounts>& expected) {
  ByteSpan rest = map_.bytes();
  CUZK_ASSIGN_OR_RETURN(key_, VerifyingKey::Take(rest));
  counts_.ic = key_.ic.size();
  for (Query query : kAllQueries) {
    const std::string_view name = QueryName(query);
    if (rest.size() < 4)
      return absl::InvalidArgumentError(StrCat("section ", name, ": the file ends within its count"));
    const uint64_t count = LoadBe<uint32_t>(rest.data());
    rest = rest.subspan(4);
    if (count > rest.size() / PointBytes(query)) {
      return absl::InvalidArgumentError(
          StrCat("section ", name, ": ", count, " points do not fit in the ", rest.size(), " bytes that follow"));
    }
    counts_[query] = count;
    sections_[static_cast<size_t>(query)] = rest.first(count * PointBytes(query));
    rest = rest.subspan(count * PointBytes(query));
  }
  if (!rest.empty()) return absl::InvalidArgumentError(StrCat(rest.size(), " bytes follow after the last section"));
  if (counts_[Query::kBG1] != counts_[Query::kBG2]) {
    return absl::InvalidArgumentError(
        StrCat("sections b_g1 and b_g2 differ in length: ", counts_[Query::kBG1], " and ", counts_[Query::kBG2]));
  }
  if (!expected || *expected == counts_) return absl::OkStatus();
  if (counts_.ic != expected->ic) {
    return absl::InvalidArgumentError(
        StrCat("not of this circuit: ic has ", counts_.ic, " points, expected ", expected->ic));
  }
  for (Query query : kAllQueries) {
    if (counts_[query] == (*expected)[query]) continue;
    return absl::InvalidArgumentError(StrCat("not of this circuit: section ", QueryName(query), " has ", counts_[query],
                                             " points, expected ", (*expected)[query]));
  }
  return absl::OkStatus();
}

void ParameterFile::Forget(ByteSpan part) const {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  // Advice only: the pages are read again from the file if they are needed.
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace cuzk::groth16
