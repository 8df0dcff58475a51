#include "core/circuit/bad_sectors.h"

#include <algorithm>
#include <span>

#include "absl/strings/cord.h"
#include "core/base/bytes.h"
#include "core/base/check.h"

namespace cuzk::circuit {
namespace {

/// Names the payload: the numbers, eight bytes each, little-endian.
constexpr char kPayload[] = "cuzkd/bad-sectors";

/// Room for "; 4294967295 more causes" behind what is cut.
constexpr size_t kRoomForCount = 24;
/// What the numbers may take of the text, so that at least one cause is told.
constexpr size_t kMostNumbers = kBadSectorsText * 3 / 4;

/// The length of the run of consecutive numbers that begins the span.
size_t RunLength(std::span<const BadSector> sectors) {
  size_t length = 1;
  while (length < sectors.size() && sectors[length].number == sectors[0].number + length) ++length;
  return length;
}

/// "57, 100-140, 200"; " and 12 more" stands for the numbers beyond kMostNumbers bytes.
std::string NumbersText(std::span<const BadSector> sectors) {
  std::string text;
  while (!sectors.empty()) {
    const size_t run = RunLength(sectors);
    std::string next = StrCat(text.empty() ? "" : ", ", sectors[0].number);
    if (run > 1) next += StrCat("-", sectors[run - 1].number);
    if (text.size() + next.size() > kMostNumbers - kRoomForCount)
      return text + StrCat(" and ", sectors.size(), " more");
    text += next;
    sectors = sectors.subspan(run);
  }
  return text;
}

std::string CauseText(const BadSector& sector) {
  return StrCat("sector ", sector.number, " (item ", sector.item, "), ", sector.what);
}

std::string TextOf(std::span<const BadSector> sectors) {
  if (sectors.size() == 1) return CauseText(sectors[0]).substr(0, kBadSectorsText);
  std::string text = StrCat(sectors.size(), " sectors are bad: ");
  text += NumbersText(sectors);
  for (size_t i = 0; i < sectors.size(); ++i) {
    const std::string cause = StrCat("; ", CauseText(sectors[i]));
    if (text.size() + cause.size() > kBadSectorsText - kRoomForCount) {
      return text + StrCat("; ", sectors.size() - i, " more causes");
    }
    text += cause;
  }
  return text;
}

}  // namespace

Status BadSectorsError(std::vector<BadSector> sectors) {
  CUZK_CHECK(!sectors.empty());
  std::stable_sort(sectors.begin(), sectors.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  auto same = [](const auto& a, const auto& b) { return a.number == b.number; };
  sectors.erase(std::unique(sectors.begin(), sectors.end(), same), sectors.end());
  std::string numbers(sectors.size() * sizeof(uint64_t), '\0');
  for (size_t i = 0; i < sectors.size(); ++i) {
    StoreLe(reinterpret_cast<uint8_t*>(numbers.data()) + i * sizeof(uint64_t), sectors[i].number);
  }
  Status status = absl::InvalidArgumentError(TextOf(sectors));
  status.SetPayload(kPayload, absl::Cord(numbers));
  return status;
}

std::vector<uint64_t> BadSectorsOf(const Status& status) {
  const auto payload = status.GetPayload(kPayload);
  if (!payload) return {};
  const std::string bytes(*payload);
  std::vector<uint64_t> numbers(bytes.size() / sizeof(uint64_t));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = LoadLe<uint64_t>(reinterpret_cast<const uint8_t*>(bytes.data()) + i * sizeof(uint64_t));
  }
  return numbers;
}

}  // namespace cuzk::circuit
