#include "daemon/http/http_pages.h"

#include "daemon/http/handbook.h"
#include "daemon/http/history_json.h"
#include "daemon/http/page.h"
#include "daemon/http/status_json.h"
#include "daemon/http/timeline_json.h"

namespace cuzk::daemon {

HttpServer::Pages MakePages(const PageSources& sources) {
  HttpServer::Pages pages;
  const engine::Engine& engine = *sources.engine;
  pages["/"] = [page = LivePage()] { return page; };
  pages["/troubleshooting"] = [page = Handbook()] { return page; };
  pages["/status"] = [&engine, ready = sources.ready, machine = sources.machine] {
    engine::EngineStatus status = engine.Snapshot();
    status.not_ready = std::string(ready().message());
    return HttpAnswer{.content_type = "application/json", .body = StatusJson(status, machine())};
  };
  pages["/timeline"] = [&engine] {
    return HttpAnswer{.content_type = "application/json", .body = TimelineJson(engine)};
  };
  // The history is on a disk, which may hang: a few threads are left for the probes.
  auto histories = std::make_shared<FewAtOnce>(2);
  pages["/history"] = [&engine, day = sources.day, histories] {
    const std::shared_ptr<void> place = histories->Enter();
    if (place == nullptr) return HttpAnswer{.code = 503, .body = "too many clients are reading the history\n"};
    const std::string record = day->Json(std::chrono::steady_clock::now());
    return HttpAnswer{.content_type = "application/json", .body = HistoryJson(engine, record)};
  };
  pages["/trace"] = [&engine, traces = sources.traces] {
    std::shared_ptr<void> place = traces->Enter();
    if (place == nullptr)
      return HttpAnswer{.code = 503, .body = "too many clients are reading the trace; try again later\n"};
    return HttpAnswer{.content_type = "application/json",
                      .body = engine.TimelineJson(),
                      .headers = {{"Content-Disposition", "attachment; filename=\"cuzkd-trace.json\""}},
                      .place = std::move(place)};
  };
  pages["/metrics"] = [text = sources.metrics] {
    return HttpAnswer{.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = text()};
  };
  pages["/healthz"] = [] { return HttpAnswer{.body = "ok\n"}; };
  pages["/readyz"] = [check = sources.ready] {
    Status ready = check();
    if (ready.ok()) return HttpAnswer{.body = "ready\n"};
    return HttpAnswer{.code = 503, .body = StrCat(ready.message(), "\n")};
  };
  return pages;
}

}  // namespace cuzk::daemon
