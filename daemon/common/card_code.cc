#include "daemon/common/card_code.h"

#include <charconv>
#include <vector>

#include "core/base/text.h"

namespace cuzk::daemon {
namespace {

std::vector<int> Numbers(std::string_view text) {
  std::vector<int> numbers;
  const char *at = text.data(), *end = text.data() + text.size();
  while (at != end) {
    int number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error == std::errc()) numbers.push_back(number);
    at = next == at ? at + 1 : next;
  }
  return numbers;
}

std::string CapabilityText(int number) { return StrCat(number / 10, ".", number % 10); }

}  // namespace

std::string LackOfCode(std::string_view architectures, std::string_view name, Capability card) {
  const std::vector<int> built = Numbers(architectures);
  const int wanted = 10 * card.major + card.minor;
  std::string has;
  for (size_t i = 0; i < built.size(); ++i) {
    if (built[i] / 10 == card.major && built[i] <= wanted) return "";
    if (i > 0) has += i + 1 == built.size() ? " and " : ", ";
    has += CapabilityText(built[i]);
  }
  if (!built.empty() && built.back() <= wanted) return "";
  return StrCat("this build has no code for ", name, " (", CapabilityText(wanted), "); it has code for ",
                built.empty() ? "no card" : has);
}

}  // namespace cuzk::daemon
