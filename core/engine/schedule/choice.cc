#include "core/engine/schedule/choice.h"

#include <algorithm>

namespace cuzk::engine {

std::optional<size_t> ChooseBySpeed(const std::vector<Candidate>& candidates) {
  std::optional<Duration> fastest;
  for (const Candidate& candidate : candidates) {
    if (candidate.pace) fastest = fastest ? std::min(*fastest, *candidate.pace) : candidate.pace;
  }
  // Without any pace, the least loaded; one tick each.
  const Duration otherwise = std::max(fastest.value_or(Duration(1)), Duration(1));
  std::optional<size_t> best;
  Duration best_end{};
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    const Duration pace = std::max(candidate.pace.value_or(otherwise), Duration(1));
    const Duration end = pace * static_cast<Duration::rep>(candidate.load + 1);
    if (best && end >= best_end) continue;
    best = i;
    best_end = end;
  }
  if (!best || !candidates[*best].room) return std::nullopt;
  return best;
}

}  // namespace cuzk::engine
