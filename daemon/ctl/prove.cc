// prove, submit, await: a request directory becomes a proof.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/thread.h"
#include "daemon/common/convert.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/connection/client.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/ctl/output/interrupt_note.h"
#include "daemon/ctl/output/progress_view.h"
#include "daemon/ctl/output/stage_times.h"

namespace cuzk::daemon {
namespace {

struct ProveFlags {
  std::string request, out, id, timeout;
};

// Without --out the proof itself is part of the JSON.
std::string ResultJson(const v1::AwaitProofResponse& result, const std::vector<uint64_t>& bad_sectors,
                       bool with_proof) {
  JsonWriter json;
  json.BeginObject()
      .Member("job_id", result.job_id())
      .Member("status", v1::AwaitProofResponse::Status_Name(result.status()))
      .Member("proof_bytes", result.proof().size())
      .Member("error", result.error_message())
      .Member("queue_wait_ms", result.queue_wait_ms())
      .Member("srs_load_ms", result.srs_load_ms())
      .Member("synthesis_ms", result.synthesis_ms())
      .Member("gpu_compute_ms", result.gpu_compute_ms())
      .Member("total_ms", result.total_ms());
  if (!bad_sectors.empty()) {
    json.Key("bad_sectors").BeginArray();
    for (uint64_t number : bad_sectors) json.Value(number);
    json.EndArray();
  }
  if (with_proof) json.Member("proof", ToHex(AsBytes(result.proof())));
  return json.EndObject().text();
}

void PrintTime(const std::string& name, double seconds) { std::printf("  %-30s %9.3f s\n", name.c_str(), seconds); }

void PrintTimes(const v1::AwaitProofResponse& result) {
  auto seconds = [](uint64_t ms) { return static_cast<double>(ms) / 1000; };
  PrintTime("waiting in the queue", seconds(result.queue_wait_ms()));
  PrintTime("loading parameters", seconds(result.srs_load_ms()));
  PrintTime("writing witnesses", seconds(result.synthesis_ms()));
  PrintTime("computing on the device", seconds(result.gpu_compute_ms()));
  PrintTime("from submission to proof", seconds(result.total_ms()));
}

// The same in detail, from the daemon's timeline. Left out where that cannot be had: the proof is what was asked for.
void PrintStages(const Client& client, const std::string& job_id) {
  grpc::ClientContext context;
  cuzkd::v1::GetTimelineResponse timeline;
  if (!client.operators->GetTimeline(&context, {}, &timeline).ok()) return;
  StatusOr<std::vector<StageTime>> times = StageTimes(timeline.chrome_trace_json(), job_id);
  if (!times.ok() || times->empty()) return;
  std::printf("time by stage (stages overlap; the times of several threads are added)\n");
  for (const StageTime& time : *times) PrintTime(StrCat(time.track, ": ", time.name), time.seconds);
}

// What is known of a job that has failed beyond the answer, which has a text alone. Empty where the daemon does not
// tell.
cuzkd::v1::JobProgress Failure(const Client& client, const v1::AwaitProofResponse& result) {
  if (result.status() != v1::AwaitProofResponse::FAILED) return {};
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
  cuzkd::v1::WatchRequest request;
  request.set_job_id(result.job_id());
  cuzkd::v1::JobProgress progress;
  auto stream = client.operators->Watch(&context, request);
  if (!stream->Read(&progress)) progress.Clear();
  context.TryCancel();
  static_cast<void>(stream->Finish());
  return progress;
}

// Writes the proof, prints the rest, and says how the program ends.
StatusOr<ControlExit> Report(const Session& session, const Client& client, const v1::AwaitProofResponse& result,
                             const std::string& out) {
  const bool completed = result.status() == v1::AwaitProofResponse::COMPLETED;
  std::string id = EscapeControl(result.job_id()), error = EscapeControl(result.error_message());
  if (completed && !out.empty()) {
    const Status written = WriteFile(out, AsBytes(result.proof()));
    // The proof is not lost: it can be fetched again.
    const std::string kept =
        StrCat(written.message(), "; the daemon keeps the proof for jobs.result_age, fetch it with cuzkctl await ");
    if (!written.ok()) return Reworded(written, StrCat(kept, id, " --out FILE"));
  }
  const cuzkd::v1::JobProgress failure = Failure(client, result);
  const std::vector<uint64_t> bad_sectors(failure.bad_sectors().begin(), failure.bad_sectors().end());
  if (session.json) PrintLine(ResultJson(result, bad_sectors, completed && out.empty()));
  switch (result.status()) {
    case v1::AwaitProofResponse::COMPLETED:
      if (!session.json) {
        PrintLine(StrCat(id, ": proof of ", result.proof().size(), " bytes, verified by the daemon",
                         out.empty() ? "; use --out FILE to write it to a file" : StrCat(", in ", out)));
        PrintTimes(result);
      }
      return ControlExit::kOk;
    case v1::AwaitProofResponse::TIMEOUT:
      if (!session.json) PrintLine(StrCat(id, ": not finished yet"));
      return ControlExit::kTimeout;
    case v1::AwaitProofResponse::CANCELLED:
      if (!session.json) PrintLine(StrCat(id, ": cancelled"));
      return ControlExit::kCancelled;
    default:
      if (!session.json) std::fprintf(stderr, "cuzkctl: %s failed: %s\n", id.c_str(), error.c_str());
      return FailedExit(failure.failure());
  }
}

// Finds out before proving whether the proof can be written.
Status CheckOut(const std::string& out) {
  return out.empty() ? absl::OkStatus() : UsageMistake(Annotate(CheckOutput(out), "--out"));
}

// Shows what the job is doing until `done`; starts over while the daemon does not know it yet.
void ShowUntilDone(const Client& client, const std::string& job_id, const std::atomic<bool>& done,
                   std::atomic<bool>& accepted, bool json) {
  ProgressView view(json);
  while (!done) {
    grpc::ClientContext context;
    cuzkd::v1::WatchRequest request;
    request.set_job_id(job_id);
    auto stream = client.operators->Watch(&context, request);
    cuzkd::v1::JobProgress progress;
    while (!done && stream->Read(&progress)) {
      accepted = true;
      bool unfinished = progress.state() == "queued" || progress.state() == "running";
      if (unfinished) view.Show(progress);
    }
    context.TryCancel();
    // Prove itself reports an unknown id and a daemon that has gone; a place among many viewers may come late.
    const bool full = stream->Finish().error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
    for (int i = 0; i < (full ? 100 : 5) && !done; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

StatusOr<ControlExit> RunProve(const Session& session, const ProveFlags& flags) {
  CUZK_RETURN_IF_ERROR(CheckOut(flags.out));
  v1::ProveRequest request;
  CUZK_ASSIGN_OR_RETURN(*request.mutable_submit(), ReadRequest(session.settings, flags.request, flags.id));
  const std::string job_id = request.submit().request_id();
  std::atomic<bool> done = false, accepted = false;
  // Before the threads of gRPC, which would take the signal otherwise.
  std::optional<InterruptNote> note(
      [&] { return accepted ? JobContinues(job_id, session.settings.Bool("jobs.cancel_abandoned")) : std::string(); });
  CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
  v1::ProveResponse response;
  grpc::Status status;
  {
    // Without a thread nothing is shown; the proof is what was asked for.
    const StatusOr<std::jthread> watcher =
        StartThread("the display", [&] { ShowUntilDone(client, job_id, done, accepted, session.json); });
    grpc::ClientContext context;
    status = client.proving->Prove(&context, request, &response);
    done = true;
  }
  note.reset();
  CUZK_RETURN_IF_ERROR(FromDaemon(status));
  StatusOr<ControlExit> code = Report(session, client, response.result(), flags.out);
  if (code.ok() && *code == ControlExit::kOk && !session.json) PrintStages(client, response.result().job_id());
  return code;
}

StatusOr<ControlExit> RunSubmit(const Session& session, const ProveFlags& flags) {
  CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
  CUZK_ASSIGN_OR_RETURN(v1::SubmitProofRequest request, ReadRequest(session.settings, flags.request, flags.id));
  grpc::ClientContext context;
  v1::SubmitProofResponse response;
  CUZK_RETURN_IF_ERROR(FromDaemon(client.proving->SubmitProof(&context, request, &response)));
  if (session.json) {
    JsonWriter json;
    json.BeginObject().Member("job_id", response.job_id()).Member("queue_position", response.queue_position());
    PrintLine(json.EndObject().text());
  } else {
    PrintLine(EscapeControl(response.job_id()));
  }
  return ControlExit::kOk;
}

StatusOr<ControlExit> RunAwait(const Session& session, const ProveFlags& flags) {
  CUZK_RETURN_IF_ERROR(CheckOut(flags.out));
  std::optional<InterruptNote> note([&] { return JobContinues(flags.id, /*cancelled=*/false); });
  CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
  v1::AwaitProofRequest request;
  request.set_job_id(flags.id);
  if (!flags.timeout.empty()) {
    StatusOr<std::chrono::milliseconds> timeout = ParseDuration(flags.timeout);
    if (!timeout.ok()) return UsageMistake(Annotate(timeout.status(), "--timeout"));
    // The shortest wait that can be asked for: 0 would mean to wait for ever.
    request.set_timeout_ms(std::max<uint64_t>(1, static_cast<uint64_t>(timeout->count())));
  }
  grpc::ClientContext context;
  v1::AwaitProofResponse response;
  CUZK_RETURN_IF_ERROR(FromDaemon(client.proving->AwaitProof(&context, request, &response)));
  note.reset();
  return Report(session, client, response, flags.out);
}

}  // namespace

void AddProve(CLI::App& program, Commands& commands) {
  auto flags = std::make_shared<ProveFlags>();
  CLI::App* prove = program.add_subcommand("prove", "Submit a request as Curio does, wait for it and fetch the proof");
  prove->add_option("--request", flags->request, "Request directory")->required();
  prove->add_option("--out", flags->out, "File for the proof; without --out, --json prints the proof in hexadecimal");
  prove->add_option("--id", flags->id, "Request id; default: the id that Curio would use");
  commands.push_back({prove, [flags](const Session& session) { return RunProve(session, *flags); }});

  CLI::App* submit = program.add_subcommand("submit", "Submit a request and print its job id without waiting");
  submit->add_option("--request", flags->request, "Request directory")->required();
  submit->add_option("--id", flags->id, "Request id; default: the id that Curio would use");
  commands.push_back({submit, [flags](const Session& session) { return RunSubmit(session, *flags); }});

  CLI::App* await = program.add_subcommand("await", "Wait for a job and fetch its proof");
  await->add_option("ID", flags->id, "Job id")->required();
  await->add_option("--timeout", flags->timeout,
                    "Longest time to wait, such as 5s; 0s: do not wait. The job continues after this time");
  await->add_option("--out", flags->out, "File for the proof; without --out, --json prints the proof in hexadecimal");
  commands.push_back({await, [flags](const Session& session) { return RunAwait(session, *flags); }});
}

}  // namespace cuzk::daemon
