#include "core/base/settings/nearest_name.h"

#include <algorithm>
#include <vector>

#include "core/base/text.h"

namespace cuzk {

size_t EditDistance(std::string_view a, std::string_view b) {
  // Row i holds the distances between the first i characters of a and every beginning of b.
  std::vector<size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (size_t k = 0; k <= b.size(); ++k) last[k] = k;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t k = 1; k <= b.size(); ++k) {
      const size_t replaced = last[k - 1] + (a[i - 1] == b[k - 1] ? 0 : 1);
      row[k] = std::min({replaced, last[k] + 1, row[k - 1] + 1});
      const bool swapped = i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1];
      if (swapped) row[k] = std::min(row[k], before_last[k - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

std::string NearestName(std::string_view word, std::span<const std::string> names) {
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  std::string nearest;
  for (const std::string& name : names) {
    // What differs in length by more cannot be nearer.
    if (std::max(name.size(), word.size()) - std::min(name.size(), word.size()) >= least) continue;
    const size_t distance = EditDistance(word, name);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, std::span<const std::string> names) {
  const std::string nearest = NearestName(word, names);
  return nearest.empty() ? "" : StrCat("; did you mean \"", nearest, "\"?");
}

}  // namespace cuzk
