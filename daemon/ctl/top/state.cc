#include "daemon/ctl/top/state.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/text.h"
#include "core/filecoin/types/registry.h"

namespace cuzk::daemon {
namespace {

constexpr double kEndedStay = 10, kFailedStay = 120;
constexpr double kRateWindow = 600, kLeastRateWindow = 10;  // seconds

// The name that users know, of the one in GetStatus.
std::string KindName(const std::string& message_name) {
  for (const filecoin::KindRow& kind : filecoin::Kinds()) {
    if (kind.message_name == message_name) return std::string(kind.name);
  }
  return message_name;
}

bool Ended(const cuzkd::v1::JobProgress& progress) {
  return progress.state() != "queued" && progress.state() != "running";
}

}  // namespace

MetricSamples::MetricSamples(std::string_view text) {
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    size_t value = line.rfind(' ');
    if (line.empty() || line[0] == '#' || value == std::string_view::npos) continue;
    size_t brace = std::min(line.find('{'), value);
    samples_.push_back({std::string(line.substr(0, brace)), std::string(line.substr(brace, value - brace)),
                        std::strtod(std::string(line.substr(value + 1)).c_str(), nullptr)});
  }
}

std::optional<double> MetricSamples::Sum(std::string_view name) const {
  std::optional<double> sum;
  for (const Sample& sample : samples_) {
    if (sample.name == name) sum = sum.value_or(0) + sample.value;
  }
  return sum;
}

std::optional<double> MetricSamples::Sum(std::string_view name, std::string_view label, std::string_view value) const {
  std::string wanted = StrCat(label, "=\"", value, "\"");
  std::optional<double> sum;
  for (const Sample& sample : samples_) {
    size_t at = sample.name == name ? sample.labels.find(wanted) : std::string::npos;
    bool whole = at != std::string::npos && at > 0 && (sample.labels[at - 1] == '{' || sample.labels[at - 1] == ',');
    if (whole) sum = sum.value_or(0) + sample.value;
  }
  return sum;
}

void TopState::Answered(const v1::GetStatusResponse& status, std::string_view metrics, double seconds) {
  MetricSamples samples(metrics);
  auto bytes = [&](std::string_view name) { return static_cast<uint64_t>(samples.Sum(name).value_or(0)); };
  TopPicture& p = picture_;
  p.trouble.clear();
  p.uptime_seconds = status.uptime_seconds();
  p.completed = status.total_proofs_completed();
  p.failed = status.total_proofs_failed();
  p.budget_bytes = bytes("cuzk_memory_budget_bytes");
  p.budget_used_bytes = bytes("cuzk_memory_used_bytes");
  p.pool_bytes = bytes("cuzk_pinned_pool_total_bytes");
  p.pool_used_bytes = bytes("cuzk_pinned_pool_used_bytes");
  p.devices.clear();
  for (const v1::GPUStatus& gpu : status.gpus()) {
    TopPicture::Device device{gpu.ordinal(),         gpu.name(),  gpu.current_job_id(), gpu.vram_total_bytes(),
                              gpu.vram_free_bytes(), std::nullopt};
    std::optional<double> busy = samples.Sum("cuzk_gpu_busy_seconds_total", "gpu", StrCat(gpu.ordinal()));
    if (!busy) busy = samples.Sum("cuzk_gpu_busy_seconds_total", "gpu", "cpu");
    auto before = busy_before_.find(gpu.ordinal());
    if (busy && before != busy_before_.end() && answered_before_ && seconds > *answered_before_) {
      device.busy = std::clamp((*busy - before->second) / (seconds - *answered_before_), 0.0, 1.0);
    }
    if (busy) busy_before_[gpu.ordinal()] = *busy;
    p.devices.push_back(std::move(device));
  }
  answered_before_ = seconds;
  Count(p.completed, seconds);
  p.queues.clear();
  for (const v1::QueueStatus& queue : status.queues()) {
    p.queues.push_back({KindName(queue.proof_kind()), queue.pending(), queue.in_progress()});
  }
  p.parameters.clear();
  for (const v1::SRSStatus& srs : status.loaded_srs()) {
    p.parameters.push_back(
        {srs.circuit_id(), srs.size_bytes(), srs.tier() == v1::SRSStatus::COLD, srs.ref_count() > 0});
  }
}

void TopState::Count(uint64_t completed, double seconds) {
  if (!completed_.empty() && completed < completed_.back().second) completed_.clear();  // another daemon
  completed_.emplace_back(seconds, completed);
  while (completed_.size() > 2 && seconds - completed_[1].first >= kRateWindow) completed_.pop_front();
  const double window = seconds - completed_.front().first;
  picture_.proofs_per_hour.reset();
  if (window < kLeastRateWindow) return;
  picture_.proofs_per_hour = static_cast<double>(completed - completed_.front().second) / window * 3600;
}

void TopState::Watched(const cuzkd::v1::JobProgress& progress, double seconds) {
  std::string key = StrCat(progress.kind(), " ", progress.job_id());
  // The same id may come again once its job has ended.
  auto job = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& j) { return j.key == key && !j.ended; });
  if (job == jobs_.end()) job = jobs_.insert(jobs_.end(), Job{order_++, key, {}, seconds, std::nullopt});
  job->progress = progress;
  if (progress.age_seconds() > 0) job->submitted = seconds - progress.age_seconds();
  if (Ended(progress)) job->ended = seconds;
}

TopPicture TopState::Picture(double seconds) {
  std::erase_if(jobs_, [&](const Job& job) {
    return job.ended && seconds - *job.ended > (job.progress.state() == "failed" ? kFailedStay : kEndedStay);
  });
  std::stable_sort(jobs_.begin(), jobs_.end(), [](const Job& a, const Job& b) {
    return std::pair(a.ended.has_value(), a.order) < std::pair(b.ended.has_value(), b.order);
  });
  picture_.jobs.clear();
  for (const Job& job : jobs_) {
    picture_.jobs.push_back({job.progress, job.ended.value_or(seconds) - job.submitted, job.ended.has_value()});
  }
  return picture_;
}

}  // namespace cuzk::daemon
