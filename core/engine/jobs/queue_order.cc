#include "core/engine/jobs/queue_order.h"

#include <algorithm>
#include <utility>

#include "core/engine/jobs/progress.h"

namespace cuzk::engine {

bool Waits(const Job& job) {
  return !Over(job) && StageOf(job) == Stage::kQueued &&
         std::none_of(job.partitions.begin(), job.partitions.end(),
                      [](const auto& partition) { return partition.proof.has_value(); });
}

ServicePlace PlaceOf(const Job& job) { return {.waits = Waits(job), .priority = job.priority, .key = job.key}; }

std::vector<std::shared_ptr<Job>> InOrderOfService(const JobTable& jobs) {
  std::vector<std::pair<ServicePlace, std::shared_ptr<Job>>> entries;
  for (const auto& [key, job] : jobs.jobs()) {
    if (!HasEnded(job->life.now())) entries.emplace_back(PlaceOf(*job), job);
  }
  std::sort(entries.begin(), entries.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<std::shared_ptr<Job>> ordered;
  for (auto& [place, job] : entries) ordered.push_back(std::move(job));
  return ordered;
}

std::map<uint64_t, uint32_t> PlacesOf(const JobTable& jobs) {
  std::map<uint64_t, uint32_t> places;
  for (const auto& job : InOrderOfService(jobs)) {
    if (Waits(*job)) places.emplace(job->key, static_cast<uint32_t>(places.size()) + 1);
  }
  return places;
}

uint32_t PlaceIn(const std::map<uint64_t, uint32_t>& places, const Job& job) {
  const auto place = places.find(job.key);
  return place == places.end() ? 0 : place->second;
}

}  // namespace cuzk::engine
