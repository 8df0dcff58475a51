// cancel, watch: what goes on with jobs.

#include "core/base/log.h"
#include "daemon/common/convert.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/connection/client.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/ctl/output/progress_view.h"

namespace cuzk::daemon {
namespace {

StatusOr<ControlExit> RunCancel(const Session& session, const std::string& id) {
  CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
  grpc::ClientContext context;
  v1::CancelProofRequest request;
  request.set_job_id(id);
  v1::CancelProofResponse response;
  CUZK_RETURN_IF_ERROR(FromDaemon(client.proving->CancelProof(&context, request, &response)));
  if (session.json) {
    JsonWriter json;
    json.BeginObject().Member("job_id", id).Member("was_running", response.was_running()).EndObject();
    PrintLine(json.text());
  } else {
    PrintLine(StrCat(EscapeControl(id), response.was_running() ? ": cancelled" : ": had already ended"));
  }
  return ControlExit::kOk;
}

// The end of a watched job decides how the program ends; of all jobs, it goes on until it is interrupted.
ControlExit EndOf(const cuzkd::v1::JobProgress& last) {
  if (last.state() == "failed") return FailedExit(last.failure());
  return last.state() == "cancelled" ? ControlExit::kCancelled : ControlExit::kOk;
}

bool IsEnd(const cuzkd::v1::JobProgress& last) {
  return last.state() == "completed" || last.state() == "failed" || last.state() == "cancelled";
}

// A stream that ended before what it was opened for, and the last that was heard of the job.
Status BrokenOff(const Status& ended, const std::string& id, const cuzkd::v1::JobProgress& last) {
  if (id.empty() || !absl::IsUnavailable(ended) || last.state().empty()) return ended;
  return Reworded(
      ended, StrCat(EscapeControl(id), " has not ended (", ProgressText(last), "): ", ended.message(),
                    "; if jobs.state_directory is set, it continues at the daemon's next start; watch it again then"));
}

StatusOr<ControlExit> RunWatch(const Session& session, const std::string& id) {
  CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
  grpc::ClientContext context;
  cuzkd::v1::WatchRequest request;
  request.set_job_id(id);
  auto stream = client.operators->Watch(&context, request);
  cuzkd::v1::JobProgress progress;
  StageLines lines;
  while (stream->Read(&progress)) {
    if (session.json) {
      PrintLine(ProgressJson(progress));
    } else if (std::optional<std::string> line = lines.LineOf(progress, std::chrono::system_clock::now())) {
      PrintLine(*line);
    }
  }
  Status ended = FromDaemon(stream->Finish());
  if (ended.ok() && !id.empty() && IsEnd(progress)) return EndOf(progress);
  if (ended.ok()) ended = SaidByDaemon(absl::UnavailableError("the daemon ended the stream"));
  return BrokenOff(ended, id, progress);
}

}  // namespace

void AddJobs(CLI::App& program, Commands& commands) {
  auto id = std::make_shared<std::string>();
  CLI::App* cancel = program.add_subcommand("cancel", "Cancel a job");
  cancel->add_option("ID", *id, "Job id")->required();
  commands.push_back({cancel, [id](const Session& session) { return RunCancel(session, *id); }});

  CLI::App* watch =
      program.add_subcommand("watch", "Show the progress of one job until it ends, or of all jobs until interrupted");
  watch->add_option("ID", *id, "Job id");
  commands.push_back({watch, [id](const Session& session) { return RunWatch(session, *id); }});
}

}  // namespace cuzk::daemon
