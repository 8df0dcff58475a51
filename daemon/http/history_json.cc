#include "daemon/http/history_json.h"

#include <algorithm>

#include "core/base/clock.h"
#include "core/filecoin/types/registry.h"
#include "daemon/common/json_writer.h"

namespace cuzk::daemon {
namespace {

void WriteJob(JsonWriter& json, const engine::ListedJob& job, int64_t now_ms) {
  const store::EndedJob& facts = job.facts;
  const store::JobTimes& times = facts.times;
  json.BeginObject()
      .Member("job_id", facts.id)
      .Member("number", facts.number)
      .Member("kind", filecoin::KindInfo(facts.kind).name)
      .Member("miner_id", facts.subject.miner)
      .Member("sector_number", facts.subject.sector)
      .Member("partition_index", facts.subject.partition)
      .Member("state", engine::JobStateName(job.state))
      .Member("stage", facts.stage)
      .Member("device", facts.device)
      .Member("error", facts.error)
      .Member("ended_secs_ago", static_cast<double>(std::max<int64_t>(0, now_ms - facts.finished_ms)) / 1000);
  json.Key("times_ms").BeginObject().Member("queued", times.queued_ms).Member("parsing", times.parsing_ms);
  json.Member("loading-parameters", times.loading_ms).Member("synthesis", times.synthesis_ms);
  json.Member("waiting-device", times.waiting_ms).Member("device", times.device_ms);
  json.Member("finishing", times.finishing_ms).Member("verifying", times.verifying_ms);
  json.Member("total", times.total_ms).EndObject().EndObject();
}

void WriteJobs(JsonWriter& json, std::string_view name, const StatusOr<engine::JobList>& list, int64_t now_ms) {
  json.Key(name).BeginArray();
  if (list.ok()) {
    for (const engine::ListedJob& job : list->jobs) {
      if (!job.live) WriteJob(json, job, now_ms);
    }
  }
  json.EndArray();
}

}  // namespace

std::string HistoryJson(const engine::Engine& engine, const std::string& day) {
  // Behind every unfinished job.
  const StatusOr<engine::JobList> recent = engine.ListJobs({.place = engine::EndedJobsPlace(), .most = kRecentJobs});
  const StatusOr<engine::JobList> failed =
      engine.ListJobs({.state = engine::JobState::kFailed, .place = engine::EndedJobsPlace(), .most = kFailedJobs});
  return HistoryJson(recent, failed, Clock::System().WallMs(), day);
}

std::string HistoryJson(const StatusOr<engine::JobList>& recent, const StatusOr<engine::JobList>& failed,
                        int64_t now_ms, const std::string& day) {
  JsonWriter json;
  json.BeginObject();
  WriteJobs(json, "recent", recent, now_ms);
  WriteJobs(json, "failed", failed, now_ms);
  json.Member("trouble", std::string(recent.ok() ? failed.status().message() : recent.status().message()));
  return json.Key("day").Raw(day).EndObject().text();
}

}  // namespace cuzk::daemon
