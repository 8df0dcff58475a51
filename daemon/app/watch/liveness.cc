#include "daemon/app/watch/liveness.h"

#include <sys/resource.h>

#include "core/base/text.h"
#include "core/store/health.h"

namespace cuzk::daemon {
namespace {

constexpr double kStorePatience = std::chrono::duration<double>(store::kPatience).count();

double ProcessorSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

LivenessSample MakeSample(const engine::EngineStatus& status) {
  LivenessSample sample{.scheduler_turns = status.counters.scheduler_turns_total,
                        .store_hangs = status.store_wait_seconds >= kStorePatience,
                        .processor_seconds = ProcessorSeconds()};
  std::map<std::string, double> fractions;  // by job id; that two jobs share one does no harm
  for (const engine::JobStatus& job : status.jobs) fractions[job.progress.job_id] += job.progress.fraction;
  for (size_t i = 0; i < status.devices.size(); ++i) {
    const engine::DeviceStatus& device = status.devices[i];
    LivenessSample::Device seen{.name = StrCat(i, " (", device.name, ")"),
                                .lost = !engine::GetsWork(device.service),
                                .busy = device.queued > 0,
                                .on_processor = device.ordinal < 0};
    seen.work = StrCat(device.partitions_total);
    for (const engine::WorkerStatus& worker : device.workers) {
      if (!worker.job_key) continue;
      seen.busy = true;
      seen.work += StrCat(" ", *worker.job_key, ".", worker.partition, "@", fractions[worker.job_id]);
    }
    sample.devices.push_back(std::move(seen));
  }
  return sample;
}

void Liveness::See(const LivenessSample& sample, engine::TimePoint now) {
  const bool first = looked_ == engine::TimePoint{};
  if (!first && now - looked_ >= patience_ / kLongestPause) {
    const engine::Duration stood_still = now - looked_;
    scheduler_.moved += stood_still;
    for (auto& [name, device] : devices_) device.moved += stood_still;
  }
  auto see = [&](Mover& mover, const std::string& work, bool idle) {
    if (first || idle || mover.work != work) mover.moved = now;
    mover.work = work;
  };
  see(scheduler_, StrCat(sample.scheduler_turns), false);
  const double elapsed = std::chrono::duration<double>(now - looked_).count();
  const bool computing = !first && sample.processor_seconds - processor_seconds_ >= kBusyShare * elapsed;
  for (const LivenessSample::Device& device : sample.devices) {
    Mover& mover = devices_[device.name];
    mover.lost = device.lost;
    see(mover, device.work, !device.busy || sample.store_hangs || (device.on_processor && computing));
  }
  processor_seconds_ = sample.processor_seconds;
  looked_ = now;
}

std::string Liveness::Stuck(engine::TimePoint now) const {
  if (now - scheduler_.moved > patience_) return "the scheduler makes no progress";
  std::string stuck;
  for (const auto& [name, device] : devices_) {
    if (device.lost) continue;
    if (now - device.moved <= patience_) return "";
    stuck = StrCat("device ", name, " makes no progress");
  }
  return devices_.empty() || !stuck.empty() ? stuck : "all devices are lost";
}

}  // namespace cuzk::daemon
