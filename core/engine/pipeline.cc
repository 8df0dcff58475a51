#include "core/engine/pipeline.h"

#include <algorithm>

namespace cuzk::engine {

Pipeline::Pipeline(const PipelineParts& parts)
    : state_(parts.options),
      reports_(state_, *parts.engine.clock, parts.engine.observer, parts.events, parts.timeline),
      circuits_({.state = state_,
                 .work = parts.work,
                 .engine = parts.engine,
                 .budget = *parts.engine.budget,
                 .plan = PlanOptionsOf(parts.options)}),
      records_(parts.store == nullptr ? nullptr
                                      : std::make_unique<RecordStage>(state_, *parts.store, *parts.engine.clock)),
      jobs_({state_, parts.options, *parts.engine.clock, parts.engine.observer, reports_, circuits_, records_.get()}),
      quarantine_(context_, devices_),
      context_{.state = state_,
               .options = parts.options,
               .parts = parts.engine,
               .work = parts.work,
               .parameters = parts.parameters,
               .reports = reports_,
               .circuits = circuits_,
               .jobs = jobs_,
               .quarantine = quarantine_,
               .store = parts.store,
               .request_limit = parts.request_limit},
      finish_(context_),
      parse_(context_),
      synthesis_(context_, parse_),
      admission_(context_, synthesis_, devices_) {
  state_.usable_devices = static_cast<unsigned>(parts.engine.devices.size());
  for (const filecoin::KindRow& row : filecoin::Kinds()) state_.kinds[row.kind];
  for (prover::Device* device : parts.engine.devices) {
    const unsigned number = static_cast<unsigned>(devices_.size());
    devices_.push_back(std::make_unique<DeviceStage>(context_, number, device, finish_));
    loads_.push_back(std::make_unique<LoadStage>(context_, *devices_.back()));
  }
}

Status Pipeline::Start() {
  const unsigned synthesis_threads = std::max(1u, context_.options.synthesis_threads);
  unsigned mark = synthesis_threads;  // the synthesis threads have the first numbers
  if (records_ != nullptr) CUZK_RETURN_IF_ERROR(records_->Start(jobs_, reports_));
  for (auto& load : loads_) CUZK_RETURN_IF_ERROR(load->Start());
  for (auto& device : devices_) {
    CUZK_RETURN_IF_ERROR(device->Start(mark));
    mark += device->workers();
  }
  CUZK_RETURN_IF_ERROR(synthesis_.Start(synthesis_threads));
  CUZK_RETURN_IF_ERROR(finish_.Start());
  return admission_.Start();
}

Pipeline::~Pipeline() {
  {
    StateLock lock(state_, Actor::kCaller);
    state_.stopping = true;
    jobs_.StopAll(lock, {JobState::kCancelled, "the engine was stopped"});
    state_.loads_wanted.NotifyAll();
    state_.device_work.NotifyAll();
  }
  state_.loading.request_stop();
  synthesis_.Stop();
  finish_.Stop();
  admission_.Stop();
  if (records_ != nullptr) records_->Stop();
}

std::optional<TimePoint> Pipeline::OldestRecord() const {
  return records_ == nullptr ? std::nullopt : records_->OldestTask();
}

}  // namespace cuzk::engine
