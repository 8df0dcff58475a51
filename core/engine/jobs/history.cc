#include "core/engine/jobs/history.h"

#include <algorithm>
#include <utility>

namespace cuzk::engine {
namespace {

/// Ends that may wait for the store; with more, the oldest are lost.
constexpr size_t kMostWaiting = 10'000;
/// Ends that are kept where there is no store.
constexpr size_t kKeptInMemory = 1'000;
/// What the store writes at once, so that other operations need not wait long for it.
constexpr size_t kAtOnce = 100;
/// An error may quote what a client sent.
constexpr size_t kMostErrorBytes = 8'192;

void Shorten(std::string& text) {
  if (text.size() <= kMostErrorBytes) return;
  size_t end = kMostErrorBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a character of UTF-8
  text.resize(end);
  text.append(" ...");
}

/// The devices that proved partitions of the job, as the metrics name them.
std::string DevicesOf(const Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) {
  std::vector<int> ordinals;
  for (const PartitionRecord& partition : job.partitions) {
    for (const prover::Device* device : {partition.proved_on, partition.avoid}) {
      if (device != nullptr) ordinals.push_back(device->ordinal());
    }
  }
  std::sort(ordinals.begin(), ordinals.end());
  ordinals.erase(std::unique(ordinals.begin(), ordinals.end()), ordinals.end());
  std::string text;
  for (int ordinal : ordinals) {
    text += StrCat(text.empty() ? "" : ",", ordinal < 0 ? std::string("cpu") : StrCat(ordinal));
  }
  return text;
}

}  // namespace

void History::KeepInMemory() {
  stored_ = false;
  errors_.clear();
}

void History::Add(store::EndedJob job) {
  job.number = ++last_number_;
  Shorten(job.error);
  jobs_.push_back(std::move(job));
  if (jobs_.size() <= (stored_ ? kMostWaiting : kKeptInMemory)) return;
  jobs_.pop_front();
  if (stored_) ++lost_total_;
}

void History::Add(store::NotedError error) {
  if (!stored_) return;
  error.number = ++last_number_;
  Shorten(error.text);
  errors_.push_back(std::move(error));
  if (errors_.size() > store::kErrorsKept) errors_.pop_front();
}

History::Batch History::Take() const {
  Batch batch;
  const size_t jobs = std::min(jobs_.size(), kAtOnce);
  batch.jobs.assign(jobs_.begin(), jobs_.begin() + static_cast<std::ptrdiff_t>(jobs));
  batch.errors.assign(errors_.begin(), errors_.end());
  return batch;
}

bool History::Done(const Batch& batch, bool written) {
  // Some of them may have gone since they were taken.
  if (!batch.jobs.empty()) {
    while (!jobs_.empty() && jobs_.front().number <= batch.jobs.back().number) jobs_.pop_front();
  }
  if (!batch.errors.empty()) {
    while (!errors_.empty() && errors_.front().number <= batch.errors.back().number) errors_.pop_front();
  }
  if (!written) {
    lost_total_ += batch.jobs.size();
    return !std::exchange(losing_, true);
  }
  // The report of a loss is an error by itself, which may well be written.
  if (!batch.jobs.empty()) losing_ = false;
  return false;
}

std::vector<store::EndedJob> History::List(const store::HistoryFilter& filter, std::optional<store::HistoryPlace> after,
                                           size_t most) const {
  std::vector<const store::EndedJob*> admitted;
  for (const store::EndedJob& job : jobs_) {
    if (filter.Admits(job) && (!after || after->IsBefore(job))) admitted.push_back(&job);
  }
  const auto end = admitted.begin() + static_cast<std::ptrdiff_t>(std::min(most, admitted.size()));
  std::partial_sort(admitted.begin(), end, admitted.end(),
                    [](const auto* x, const auto* y) { return store::IsListedBefore(*x, *y); });
  std::vector<store::EndedJob> found;
  std::for_each(admitted.begin(), end, [&](const auto* job) { found.push_back(*job); });
  return found;
}

std::optional<store::EndedJob> History::Find(const std::string& id) const {
  const auto job = std::find_if(jobs_.rbegin(), jobs_.rend(), [&](const auto& ended) { return ended.id == id; });
  return job == jobs_.rend() ? std::nullopt : std::optional(*job);
}

store::EndedJob FactsOf(const Job& job, TimePoint now, int64_t wall_ms) {
  store::EndedJob facts{.row = job.row,
                        .id = job.id,
                        .kind = job.facts.kind,
                        .registered_proof = job.facts.proof == nullptr ? 0 : job.facts.proof->number,
                        .priority = static_cast<uint8_t>(job.priority),
                        .subject = job.subject,
                        .circuit = job.circuit,
                        .device = DevicesOf(job),
                        .partitions = job.partitions_total,
                        .losses = job.losses,
                        .stage = std::string(StageName(job.last_stage)),
                        .times = job.spent};
  const Duration age = std::max(now - job.submitted, Duration::zero());
  facts.submitted_ms = wall_ms - static_cast<int64_t>(Milliseconds(age));
  facts.times.queued_ms = job.started ? job.timings.queue_wait_ms : Milliseconds(age);
  facts.times.loading_ms = job.timings.srs_load_ms;
  facts.times.synthesis_ms = job.timings.synthesis_ms;
  facts.times.device_ms = job.timings.gpu_compute_ms;
  facts.times.total_ms = Milliseconds(age);
  return facts;
}

}  // namespace cuzk::engine
