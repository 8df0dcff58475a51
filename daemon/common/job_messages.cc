#include "daemon/common/job_messages.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/filecoin/types/registry.h"

namespace cuzk::daemon {
namespace {

StatusOr<filecoin::Kind> KindNamed(const std::string& name) {
  for (const filecoin::KindRow& row : filecoin::Kinds()) {
    if (row.name == name) return row.kind;
  }
  return absl::InvalidArgumentError(StrCat("kind: ", name, " is not porep, window, winning or snap"));
}

StatusOr<engine::JobState> StateNamed(const std::string& name) {
  using enum engine::JobState;
  for (engine::JobState state : {kQueued, kRunning, kCompleted, kFailed, kCancelled}) {
    if (engine::JobStateName(state) == name) return state;
  }
  return absl::InvalidArgumentError(StrCat("state: ", name, " is not queued, running, completed, failed or cancelled"));
}

/// The text, cut where a character of UTF-8 begins.
std::string Beginning(const std::string& text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes) + " ...";
}

void SetTimes(const store::JobTimes& times, cuzkd::v1::JobTimes& out) {
  out.set_queued_ms(times.queued_ms);
  out.set_parsing_ms(times.parsing_ms);
  out.set_loading_parameters_ms(times.loading_ms);
  out.set_synthesis_ms(times.synthesis_ms);
  out.set_waiting_device_ms(times.waiting_ms);
  out.set_device_ms(times.device_ms);
  out.set_finishing_ms(times.finishing_ms);
  out.set_verifying_ms(times.verifying_ms);
  out.set_total_ms(times.total_ms);
}

}  // namespace

StatusOr<engine::JobQuery> ToJobQuery(const cuzkd::v1::ListJobsRequest& request) {
  engine::JobQuery query;
  if (!request.kind().empty()) {
    CUZK_ASSIGN_OR_RETURN(query.kind, KindNamed(request.kind()));
  }
  if (!request.state().empty()) {
    CUZK_ASSIGN_OR_RETURN(query.state, StateNamed(request.state()));
  }
  if (const double since = request.since_seconds(); since != 0) {
    constexpr double kCentury = 3.2e9;
    if (!(since > 0 && since < kCentury)) {
      return absl::InvalidArgumentError("since_seconds is not a number of seconds");
    }
    query.since_seconds = since;
  }
  if (request.page_size() > 0) query.most = std::min(request.page_size(), kMostListedJobs);
  query.place = request.page_token();
  return query;
}

cuzkd::v1::Job ToJobMessage(const engine::ListedJob& job, size_t error_bytes) {
  cuzkd::v1::Job message;
  const store::EndedJob& facts = job.facts;
  message.set_job_id(facts.id);
  message.set_kind(std::string(filecoin::KindInfo(facts.kind).name));
  message.set_state(std::string(engine::JobStateName(job.state)));
  message.set_stage(facts.stage);
  message.set_priority(facts.priority);
  message.set_miner_id(facts.subject.miner);
  message.set_sector_number(facts.subject.sector);
  message.set_partition_index(facts.subject.partition);
  message.set_circuit_id(facts.circuit);
  message.set_device(facts.device);
  message.set_partitions_total(facts.partitions);
  const bool completed = job.state == engine::JobState::kCompleted;
  message.set_partitions_done(completed ? facts.partitions : job.live ? job.live->progress.partitions_done : 0);
  message.set_fraction(completed ? 1 : job.live ? job.live->progress.fraction : 0);
  message.set_seconds_left(job.live ? job.live->progress.seconds_left.value_or(-1) : -1);
  if (job.live) message.set_place(job.live->place);
  if (job.live && job.live->deadline_seconds) message.set_deadline_seconds(*job.live->deadline_seconds);
  message.set_error(Beginning(facts.error, error_bytes));
  message.set_losses(facts.losses);
  message.set_submitted_ms(facts.submitted_ms);
  message.set_finished_ms(facts.finished_ms);
  SetTimes(facts.times, *message.mutable_times());
  return message;
}

}  // namespace cuzk::daemon
