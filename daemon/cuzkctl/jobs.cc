// cancel, watch: what goes on with jobs.

#include "core/base/log.h"
#include "daemon/convert.h"
#include "daemon/cuzkctl/client.h"
#include "daemon/cuzkctl/command.h"
#include "daemon/cuzkctl/progress_view.h"
#include "daemon/json_writer.h"

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
    PrintLine(StrCat(EscapeControl(id), response.was_running() ? ": cancelled" : ": was not running"));
  }
  return ControlExit::kOk;
}

// The end of a watched job decides how the program ends; of all jobs, it goes on until it is interrupted. A daemon that
// stops ends the stream in good order: then the last that was heard is no end.
StatusOr<ControlExit> EndOf(const std::string& id, const cuzkd::v1::JobProgress& last) {
  if (last.state() == "completed") return ControlExit::kOk;
  if (last.state() == "failed") return ControlExit::kFailed;
  if (last.state() == "cancelled") return ControlExit::kCancelled;
  const std::string where = last.state().empty() ? "" : StrCat(" (", ProgressText(last), ")");
  return SaidByDaemon(absl::UnavailableError(
      StrCat("the daemon stopped before ", id, " ended", where,
             ": it goes on at the next start, if jobs.state_directory is set; watch or await it then")));
}

StatusOr<ControlExit> RunWatch(const Session& session, const std::string& id) {
  CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
  grpc::ClientContext context;
  cuzkd::v1::WatchRequest request;
  request.set_job_id(id);
  auto stream = client.operators->Watch(&context, request);
  cuzkd::v1::JobProgress progress;
  ProgressView view(session.json);
  while (stream->Read(&progress)) {
    if (session.json || !id.empty()) {
      view.Show(progress);
    } else {
      PrintLine(StrCat(EscapeControl(progress.job_id()), "  ", ProgressText(progress)));
    }
  }
  view.Finish();
  CUZK_RETURN_IF_ERROR(FromDaemon(stream->Finish()));
  if (!id.empty()) return EndOf(id, progress);
  return SaidByDaemon(absl::UnavailableError("the daemon stopped"));
}

}  // namespace

void AddJobs(CLI::App& program, Commands& commands) {
  auto id = std::make_shared<std::string>();
  CLI::App* cancel = program.add_subcommand("cancel", "Cancel a job");
  cancel->add_option("ID", *id, "Job id")->required();
  commands.push_back({cancel, [id](const Session& session) { return RunCancel(session, *id); }});

  CLI::App* watch = program.add_subcommand("watch", "Show the progress of a job, or of all jobs");
  watch->add_option("ID", *id, "Job id");
  commands.push_back({watch, [id](const Session& session) { return RunWatch(session, *id); }});
}

}  // namespace cuzk::daemon
