#pragma once
// What http.listen serves.

#include <functional>
#include <memory>
#include <string>

#include "core/engine/engine.h"
#include "daemon/common/few_at_once.h"
#include "daemon/http/day_record.h"
#include "daemon/http/http_server.h"
#include "daemon/http/status_json.h"

namespace cuzk::daemon {

/// Called from the server's threads, at the same time; must outlive the pages.
struct PageSources {
  const engine::Engine* engine = nullptr;
  std::function<Status()> ready;         ///< OK, or why jobs are refused
  std::function<std::string()> metrics;  ///< Prometheus' text
  FewAtOnce* traces = nullptr;           ///< how many traces may be read at once
  const DayRecord* day = nullptr;
  std::function<MachineFacts()> machine;  ///< waits for nothing
};

/// `/` the live page, /status, /timeline and /history what it shows, /troubleshooting the handbook that it names,
/// /trace for a trace viewer, /metrics, /healthz, /readyz.
HttpServer::Pages MakePages(const PageSources& sources);

}  // namespace cuzk::daemon
