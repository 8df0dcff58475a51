#pragma once
// What http.listen serves.

#include <functional>
#include <string>

#include "core/engine/engine.h"
#include "daemon/common/few_at_once.h"
#include "daemon/http/http_server.h"

namespace cuzk::daemon {

/// Called from the server's threads, at the same time; must outlive the pages.
struct PageSources {
  const engine::Engine* engine = nullptr;
  std::function<Status()> ready;         ///< OK, or why jobs are refused
  std::function<std::string()> metrics;  ///< Prometheus' text
  FewAtOnce* traces = nullptr;           ///< how many traces may be read at once
};

/// `/` the live page, /status and /timeline what it shows, /trace for a trace viewer, /metrics, /healthz, /readyz.
HttpServer::Pages MakePages(const PageSources& sources);

}  // namespace cuzk::daemon
