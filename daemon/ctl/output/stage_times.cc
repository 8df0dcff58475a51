#include "daemon/ctl/output/stage_times.h"

#include <simdjson.h>

#include <map>

namespace cuzk::daemon {
namespace {

struct Bar {
  std::string name;
  int64_t track = 0;
  double seconds = 0;
  uint64_t key = 0;
};

// "device 0 worker 1" becomes "device".
std::string KindOfTrack(std::string_view track) { return std::string(track.substr(0, track.find(' '))); }

struct Trace {
  std::map<int64_t, std::string> tracks;
  std::vector<Bar> bars;
};

std::string_view Text(simdjson::simdjson_result<simdjson::dom::element> element) {
  std::string_view text;
  return element.get(text) == simdjson::SUCCESS ? text : std::string_view();
}

template <class T>
T Number(simdjson::simdjson_result<simdjson::dom::element> element) {
  T number{};
  return element.get(number) == simdjson::SUCCESS ? number : T{};
}

void AddEvent(const simdjson::dom::element& event, std::string_view job_id, Trace& trace) {
  auto track = Number<int64_t>(event["tid"]);
  if (Text(event["ph"]) == "M") {
    trace.tracks[track] = KindOfTrack(Text(event["args"]["name"]));
  } else if (Text(event["args"]["job"]) == job_id) {
    trace.bars.push_back({.name = std::string(Text(event["name"])),
                          .track = track,
                          .seconds = static_cast<double>(Number<int64_t>(event["dur"])) / 1e6,
                          .key = Number<uint64_t>(event["args"]["key"])});
  }
}

}  // namespace

StatusOr<std::vector<StageTime>> StageTimes(std::string_view trace_json, std::string_view job_id) {
  simdjson::dom::parser parser;
  simdjson::padded_string text(trace_json);
  simdjson::dom::element root;
  simdjson::dom::array events;
  if (parser.parse(text).get(root) != simdjson::SUCCESS || root["traceEvents"].get(events) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError("the timeline is not a Chrome trace");
  }
  Trace trace;
  for (const simdjson::dom::element& event : events) AddEvent(event, job_id, trace);
  uint64_t newest = 0;
  for (const Bar& bar : trace.bars) newest = std::max(newest, bar.key);
  std::vector<StageTime> times;
  for (const Bar& bar : trace.bars) {
    if (bar.key != newest) continue;
    const std::string& track = trace.tracks[bar.track];
    auto same = std::find_if(times.begin(), times.end(),
                             [&](const StageTime& t) { return t.track == track && t.name == bar.name; });
    if (same == times.end()) same = times.insert(times.end(), {track, bar.name, 0});
    same->seconds += bar.seconds;
  }
  return times;
}

}  // namespace cuzk::daemon
