#include "daemon/http/timeline_json.h"

#include <chrono>
#include <map>
#include <string_view>

#include "daemon/common/json_writer.h"

namespace cuzk::daemon {

using engine::TimelineBar;

std::string TimelineJson(const engine::Engine& engine) {
  engine::TimePoint now = std::chrono::steady_clock::now();
  return TimelineJson(engine.Timeline(now - kTimelineWindow, kTimelineBars), now);
}

std::string TimelineJson(const std::vector<std::shared_ptr<const TimelineBar>>& bars, engine::TimePoint now) {
  auto seconds = [](auto duration) { return std::chrono::duration<double>(duration).count(); };
  std::map<std::string_view, std::vector<const TimelineBar*>> tracks;
  for (const auto& bar : bars) tracks[bar->track].push_back(bar.get());
  JsonWriter json;
  json.BeginObject().Member("now", seconds(now.time_since_epoch())).Member("window_secs", seconds(kTimelineWindow));
  json.Key("tracks").BeginArray();
  for (const auto& [name, list] : tracks) {
    json.BeginObject().Member("name", name).Key("bars").BeginArray();
    for (const TimelineBar* bar : list) {
      json.BeginObject().Member("name", bar->name);
      if (bar->job_key != 0) {
        json.Member("job_id", bar->job_id).Member("key", bar->job_key).Member("partition", bar->partition);
      } else {
        json.Key("job_id").Null().Key("key").Null().Key("partition").Null();
      }
      json.Member("begin", seconds(bar->begin.time_since_epoch()));
      json.Member("end", seconds(bar->end.time_since_epoch())).EndObject();
    }
    json.EndArray().EndObject();
  }
  return json.EndArray().EndObject().text();
}

}  // namespace cuzk::daemon
