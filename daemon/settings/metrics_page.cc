#include "daemon/settings/metrics_page.h"

#include "core/base/metrics/metrics.h"
#include "core/base/settings/settings_text.h"
#include "core/base/text.h"

namespace cuzk::daemon {
namespace {

std::string_view TypeName(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kHistogram:
      return "histogram";
  }
  return "";
}

std::string CodeList(std::string_view labels) {
  std::string list;
  for (const std::string& label : SplitList(labels)) list += StrCat(list.empty() ? "" : ", ", "`", label, "`");
  return list;
}

}  // namespace

std::string MetricsPage() {
  std::string page =
      "# Metrics\n\nPrinted by `cuzkd --print-metrics`. `/metrics` at `http.listen` serves these metrics in "
      "Prometheus\' text format.\nTimes are in seconds and sizes in bytes. Counters start at 0 when the daemon starts, "
      "except\n`cuzk_proofs_completed_total`, `cuzk_proofs_failed_total` and `cuzk_proofs_cancelled_total`, which the "
      "job store\nkeeps over restarts.\n\n"
      "| metric | type | labels | meaning |\n|---|---|---|---|\n";
  for (const MetricRow& row : MetricTable()) {
    page += StrCat("| `", row.name, "` | ", TypeName(row.type), " | ", CodeList(row.labels), " | ", row.help, " |\n");
  }
  page += "\n## Labels\n\n| label | value |\n|---|---|\n";
  for (const LabelRow& row : LabelTable()) page += StrCat("| `", row.name, "` | ", row.meaning, " |\n");
  return page;
}

}  // namespace cuzk::daemon
