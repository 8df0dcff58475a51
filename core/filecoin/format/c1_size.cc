#include "core/filecoin/format/c1_size.h"

#include <algorithm>
#include <charconv>

namespace cuzk::filecoin {

const Circuit* CircuitAtTheEndOf(std::string_view payload) {
  constexpr size_t kEnd = 128;
  constexpr std::string_view kKey = "\"SectorSize\"", kBlanks = " \t\r\n:";
  std::string_view end = payload.substr(payload.size() - std::min(payload.size(), kEnd));
  const size_t key = end.rfind(kKey);
  if (key == end.npos) return nullptr;
  end.remove_prefix(key + kKey.size());
  end.remove_prefix(std::min(end.find_first_not_of(kBlanks), end.size()));
  uint64_t bytes = 0;
  if (std::from_chars(end.data(), end.data() + end.size(), bytes).ec != std::errc()) return nullptr;
  const SizeRow* size = FindSizeByBytes(bytes);
  return size == nullptr ? nullptr : FindCircuit(Kind::kPorep, *size);
}

}  // namespace cuzk::filecoin
