#include "daemon/http/legacy_metrics.h"

#include "core/base/text.h"

namespace cuzk::daemon {

std::string LegacyMetricsText(const engine::EngineStatus& status) {
  std::string completed = "# TYPE cuzk_proofs_completed counter\n", failed = "# TYPE cuzk_proofs_failed counter\n";
  for (const auto& [kind, counts] : status.kinds) {
    const std::string labels = StrCat("{proof_kind=\"", filecoin::KindInfo(kind).metric_label, "\"} ");
    completed += StrCat("cuzk_proofs_completed", labels, counts.completed_total, "\n");
    failed += StrCat("cuzk_proofs_failed", labels, counts.failed_total, "\n");
  }
  return completed + failed;
}

}  // namespace cuzk::daemon
