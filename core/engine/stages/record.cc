#include "core/engine/stages/record.h"

#include <utility>

#include "core/base/thread.h"
#include "core/engine/reports/reports.h"
#include "core/engine/stages/job_control.h"

namespace cuzk::engine {

Status RecordStage::Start(JobControl& jobs, Reports& reports) {
  jobs_ = &jobs;
  reports_ = &reports;
  CUZK_ASSIGN_OR_RETURN(thread_, StartThread("the job store's records", [this] { Run(); }));
  return absl::OkStatus();
}

void RecordStage::Push(RecordTask task) {
  task.since = clock_.Now();
  records_.push_back(std::move(task));
  state_.record_work.NotifyAll();
}

void RecordStage::Stop() {
  state_.record_work.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

std::optional<TimePoint> RecordStage::OldestTask() const {
  if (writing_since_) return writing_since_;
  return records_.empty() ? std::nullopt : std::optional(records_.front().since);
}

void RecordStage::Run() {
  for (;;) {
    RecordTask task;
    History::Batch history;
    store::HistoryLimits limits;
    {
      StateLock lock(state_, Actor::kRecorder);
      while (!state_.stopping && records_.empty() && !state_.history.waits()) lock.Wait(state_.record_work);
      if (records_.empty() && !state_.history.waits()) return;
      if (records_.empty()) {  // what callers wait for goes first
        history = state_.history.Take();
        limits = state_.history_limits;
      } else {
        task = std::move(records_.front());
        records_.pop_front();
        writing_since_ = task.since;
      }
    }
    if (!history.empty()) {
      WriteHistory(history, limits);
      continue;
    }
    const Status written = Write(task);
    Finish(std::move(task), written);
  }
}

void RecordStage::WriteHistory(const History::Batch& batch, const store::HistoryLimits& limits) {
  const Status written = store_.Remember(batch.jobs, batch.errors, limits);
  StateLock lock(state_, Actor::kRecorder);
  if (!state_.history.Done(batch, written.ok())) return;
  reports_->Warn(lock, StrCat("ended jobs are missing from the history until it can be written: ", written.message()));
}

Status RecordStage::Write(const RecordTask& task) {
  switch (task.what) {
    case RecordTask::What::kEnd: {
      store::StoredJob end{.row = task.row,
                           .state = RowStateOf(task.outcome.state),
                           .times = task.timings,
                           .finished_ms = task.finished_ms};
      (task.outcome.state == JobState::kCompleted ? end.proof : end.error) = task.outcome.text;
      return store_.Finish(end);
    }
    case RecordTask::What::kFetched:
      return store_.Fetched(task.row);
    case RecordTask::What::kForget:
      return store_.Forget(task.row);
    case RecordTask::What::kPriority:
      return store_.ChangePriority(task.row, static_cast<uint8_t>(task.priority));
  }
  return absl::OkStatus();
}

void RecordStage::Finish(RecordTask task, const Status& written) {
  StateLock lock(state_, Actor::kRecorder);
  writing_since_.reset();
  if (!written.ok()) {
    state_.counters.store_errors_total++;
    reports_->Warn(lock, std::string(written.message()));
  }
  if (task.what != RecordTask::What::kEnd || !task.job->life.Is(Life::kRecording)) return;
  jobs_->Conclude(lock, *task.job, std::move(task.outcome));
}

}  // namespace cuzk::engine
