#include "daemon/ctl/output/figures.h"

#include <cmath>
#include <cstdio>

#include "core/base/text.h"

namespace cuzk::daemon {

std::string Gib(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(bytes) / static_cast<double>(uint64_t{1} << 30));
  return text;
}

std::string Amount(uint64_t bytes) {
  return bytes >> 30 == 0 ? StrCat(bytes >> 20, " MiB") : StrCat(Gib(bytes), " GiB");
}

std::string Share(uint64_t used, uint64_t all) { return StrCat(Gib(used), " of ", Gib(all), " GiB"); }

std::string DurationText(double seconds) {
  const auto whole = static_cast<uint64_t>(std::llround(std::fmax(seconds, 0)));
  if (whole < 120) return StrCat(whole, " s");
  if (whole < 7200) return StrCat(whole / 60, " min");
  if (whole < 48 * 3600) return StrCat(whole / 3600, " h ", whole % 3600 / 60, " min");
  return StrCat(whole / 86400, " d ", whole % 86400 / 3600, " h");
}

std::string Percent(double fraction) { return StrCat(static_cast<int>(std::floor(fraction * 100)), " %"); }

}  // namespace cuzk::daemon
