// jobs, job: what the daemon knows of jobs, also of those that ended long ago.

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include "core/base/log.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/connection/client.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/ctl/output/figures.h"
#include "daemon/ctl/output/text_table.h"

namespace cuzk::daemon {
namespace {

/// What a line of the table shows of a reason; `cuzkctl job` shows all of it.
constexpr size_t kReasonColumns = 100;
/// What is asked for at once.
constexpr uint32_t kPage = 500;

struct ListFlags {
  std::string kind, state, since;
  bool failed = false;
  uint64_t limit = 100;
};

struct NamedTime {
  const char* name;
  uint64_t ms;
};

/// The stages in their order.
std::array<NamedTime, 8> StagesOf(const cuzkd::v1::JobTimes& times) {
  return {{{"queued", times.queued_ms()},
           {"parsing", times.parsing_ms()},
           {"loading-parameters", times.loading_parameters_ms()},
           {"synthesis", times.synthesis_ms()},
           {"waiting-device", times.waiting_device_ms()},
           {"device", times.device_ms()},
           {"finishing", times.finishing_ms()},
           {"verifying", times.verifying_ms()}}};
}

std::string MillisecondsText(uint64_t ms) {
  if (ms < 1000) return StrCat(ms, " ms");
  if (ms < 100'000) return StrCat(ms / 1000, ".", ms % 1000 / 100, " s");
  return DurationText(static_cast<double>(ms) / 1000);
}

/// Local time, as in the log.
std::string TimeText(int64_t ms) {
  if (ms == 0) return "";
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

std::string PriorityText(uint32_t priority) {
  constexpr std::array<const char*, 5> kNames{"", "low", "normal", "high", "critical"};
  return priority < kNames.size() ? kNames[priority] : StrCat(priority);
}

/// "1000/84": the miner and the sector; of a WindowPoSt, the partition.
std::string SubjectText(const cuzkd::v1::Job& job) {
  if (job.kind() == "window") return StrCat(job.miner_id(), " partition ", job.partition_index());
  if (job.kind() == "winning") return StrCat(job.miner_id());
  return StrCat(job.miner_id(), "/", job.sector_number());
}

std::string StateText(const cuzkd::v1::Job& job) {
  if (job.state() == "queued") return job.place() == 0 ? "waiting" : StrCat("waiting, place ", job.place());
  if (job.state() == "running") return StrCat("running, ", job.stage(), ", ", Percent(job.fraction()));
  if (job.state() == "completed") return "proved";
  return job.stage().empty() ? job.state() : StrCat(job.state(), " in ", job.stage());
}

std::string JobJson(const cuzkd::v1::Job& job) {
  JsonWriter json;
  json.BeginObject().Member("job_id", job.job_id()).Member("kind", job.kind()).Member("state", job.state());
  json.Member("stage", job.stage()).Member("priority", PriorityText(job.priority()));
  json.Member("miner_id", job.miner_id()).Member("sector_number", job.sector_number());
  json.Member("partition_index", job.partition_index()).Member("circuit_id", job.circuit_id());
  json.Member("device", job.device()).Member("partitions_total", job.partitions_total());
  json.Member("partitions_done", job.partitions_done()).Member("fraction", job.fraction());
  json.Key("seconds_left");
  job.seconds_left() < 0 ? json.Null() : json.Value(job.seconds_left());
  json.Member("place", job.place()).Key("deadline_seconds");
  job.has_deadline_seconds() ? json.Value(job.deadline_seconds()) : json.Null();
  json.Member("error", job.error()).Member("losses", job.losses());
  json.Member("submitted_ms", job.submitted_ms()).Key("finished_ms");
  job.finished_ms() == 0 ? json.Null() : json.Value(job.finished_ms());
  json.Key("times_ms").BeginObject();
  for (const NamedTime& stage : StagesOf(job.times())) json.Member(stage.name, stage.ms);
  return json.Member("total", job.times().total_ms()).EndObject().EndObject().text();
}

StatusOr<cuzkd::v1::ListJobsRequest> RequestOf(const ListFlags& flags) {
  cuzkd::v1::ListJobsRequest request;
  request.set_kind(flags.kind);
  request.set_state(flags.failed ? "failed" : flags.state);
  if (flags.since.empty()) return request;
  StatusOr<std::chrono::milliseconds> since = ParseDuration(flags.since);
  if (!since.ok()) return UsageMistake(Annotate(since.status(), "--since"));
  if (since->count() == 0) return UsageMistake(absl::InvalidArgumentError("--since: the time must be longer than 0s"));
  request.set_since_seconds(std::chrono::duration<double>(*since).count());
  return request;
}

struct Jobs {
  std::vector<cuzkd::v1::Job> jobs;
  bool more = false;
};

StatusOr<Jobs> AskForJobs(const Session& session, const ListFlags& flags) {
  CUZK_ASSIGN_OR_RETURN(cuzkd::v1::ListJobsRequest request, RequestOf(flags));
  CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
  Jobs all;
  do {
    const uint64_t left = flags.limit == 0 ? kPage : flags.limit - all.jobs.size();
    request.set_page_size(static_cast<uint32_t>(std::min<uint64_t>(left, kPage)));
    grpc::ClientContext context;
    cuzkd::v1::ListJobsResponse response;
    CUZK_RETURN_IF_ERROR(FromDaemon(client.operators->ListJobs(&context, request, &response)));
    for (cuzkd::v1::Job& job : *response.mutable_jobs()) all.jobs.push_back(std::move(job));
    request.set_page_token(response.next_page_token());
    all.more = !response.next_page_token().empty();
  } while (all.more && (flags.limit == 0 || all.jobs.size() < flags.limit));
  return all;
}

void PrintJobs(const Jobs& all) {
  TextTable table({"JOB", "KIND", "MINER/SECTOR", "PRIORITY", "STATE", "SUBMITTED", "ENDED", ">TIME", "REASON"});
  for (const cuzkd::v1::Job& job : all.jobs) {
    std::string reason = EscapeControl(job.error());
    if (ColumnsOf(reason) > kReasonColumns) {
      reason = FitTo(reason, kReasonColumns) + " ...";
    }
    table.Add({EscapeControl(job.job_id()), job.kind(), SubjectText(job), PriorityText(job.priority()), StateText(job),
               TimeText(job.submitted_ms()), TimeText(job.finished_ms()), MillisecondsText(job.times().total_ms()),
               std::move(reason)});
  }
  if (table.empty()) {
    PrintLine("no such jobs");
    return;
  }
  for (const std::string& line : table.Lines()) PrintLine(line);
  if (all.more) PrintLine("There are more jobs: --limit N shows more of them, --limit 0 all.");
}

StatusOr<ControlExit> RunJobs(const Session& session, const ListFlags& flags) {
  CUZK_ASSIGN_OR_RETURN(const Jobs all, AskForJobs(session, flags));
  if (!session.json) {
    PrintJobs(all);
    return ControlExit::kOk;
  }
  JsonWriter json;
  json.BeginObject().Key("jobs").BeginArray();
  for (const cuzkd::v1::Job& job : all.jobs) json.Raw(JobJson(job));
  PrintLine(json.EndArray().Member("more", all.more).EndObject().text());
  return ControlExit::kOk;
}

void PrintFacts(const cuzkd::v1::Job& job) {
  auto line = [](std::string name, const std::string& value) {
    name.resize(12, ' ');
    if (!value.empty()) PrintLine(StrCat("  ", name, value));
  };
  PrintLine(EscapeControl(job.job_id()));
  line("kind", job.circuit_id().empty() ? job.kind() : StrCat(job.kind(), ", circuit ", job.circuit_id()));
  line("miner", StrCat("f0", job.miner_id()));
  if (job.kind() == "porep" || job.kind() == "snap") line("sector", StrCat(job.sector_number()));
  if (job.kind() == "window") line("partition", StrCat(job.partition_index(), " of its deadline"));
  line("priority", PriorityText(job.priority()));
  line("state", StateText(job));
  if (job.seconds_left() >= 0) line("left", StrCat("about ", DurationText(job.seconds_left())));
  if (job.has_deadline_seconds()) line("deadline", StrCat("in ", DurationText(job.deadline_seconds())));
  line("reason", EscapeControl(job.error()));
  line("submitted", TimeText(job.submitted_ms()));
  line("ended", TimeText(job.finished_ms()));
  if (job.partitions_total() > 0) {
    line("partitions", StrCat(job.partitions_done(), " of ", job.partitions_total(), " proved"));
  }
  line("devices", job.device());
  if (job.losses() > 0)
    line("losses", StrCat(job.losses(), " interruptions, because a device was lost or the daemon crashed"));
}

void PrintStages(const cuzkd::v1::Job& job) {
  TextTable table({"STAGE", ">TIME"});
  for (const NamedTime& stage : StagesOf(job.times())) {
    if (stage.ms > 0) table.Add({stage.name, MillisecondsText(stage.ms)});
  }
  table.Add({"total", MillisecondsText(job.times().total_ms())});
  PrintLine("");
  for (const std::string& line : table.Lines()) PrintLine(line);
  if (job.partitions_total() > 1)
    PrintLine("Partitions overlap, so that the stages may add up to more than the total.");
}

StatusOr<ControlExit> RunJob(const Session& session, const std::string& id) {
  CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
  grpc::ClientContext context;
  cuzkd::v1::GetJobRequest request;
  request.set_job_id(id);
  cuzkd::v1::GetJobResponse response;
  CUZK_RETURN_IF_ERROR(FromDaemon(client.operators->GetJob(&context, request, &response)));
  if (session.json) {
    PrintLine(JobJson(response.job()));
    return ControlExit::kOk;
  }
  PrintFacts(response.job());
  PrintStages(response.job());
  return ControlExit::kOk;
}

}  // namespace

void AddJobList(CLI::App& program, Commands& commands) {
  auto flags = std::make_shared<ListFlags>();
  CLI::App* jobs = program.add_subcommand("jobs", "List the unfinished jobs, then the ended jobs, the latest first");
  jobs->add_option("--kind", flags->kind, "Only jobs of this kind: porep, window, winning or snap");
  CLI::Option* state = jobs->add_option("--state", flags->state,
                                        "Only jobs in this state: queued, running, completed, failed or cancelled");
  jobs->add_option("--since", flags->since, "Only unfinished jobs and jobs that ended within this time, such as 2h");
  jobs->add_flag("--failed", flags->failed, "The same as --state failed")->excludes(state);
  jobs->add_option("--limit", flags->limit, "Show at most N jobs; 0: all")->type_name("N")->capture_default_str();
  commands.push_back({jobs, [flags](const Session& session) { return RunJobs(session, *flags); }});

  auto id = std::make_shared<std::string>();
  CLI::App* job = program.add_subcommand("job", "Show a job, how it ended, and its time by stage");
  job->add_option("ID", *id, "Job id")->required();
  commands.push_back({job, [id](const Session& session) { return RunJob(session, *id); }});
}

}  // namespace cuzk::daemon
