#include "gpu/msm/windows.h"

#include <algorithm>

namespace cuzk::gpu {

uint32_t MsmPlan::BatchBuckets() const {
  uint32_t most = 0;
  for (int first = 0; first < windows.count; first += batch) {
    int last = std::min(first + batch, windows.count);
    most = std::max(most, windows.BucketsBelow(last) - windows.BucketsBelow(first));
  }
  return most;
}

uint64_t MsmPlan::MaxItems() const {
  uint64_t entries = static_cast<uint64_t>(batch) * terms;
  return std::min<uint64_t>(entries, BatchBuckets() + entries / item_limit);
}

}  // namespace cuzk::gpu
