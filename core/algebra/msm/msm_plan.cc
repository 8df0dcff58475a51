#include "core/algebra/msm/msm_plan.h"

#include <algorithm>
#include <cmath>

#include "core/algebra/msm/msm_buckets.h"

namespace cuzk::algebra {
namespace {

/// Additions that one shared inversion takes as long as.
constexpr double kInversion = 10;
/// Additions that gathering one segment of buckets takes as long as.
constexpr double kGather = 5;

double TaskCost(const MsmPlan& plan, size_t terms) {
  using Pass = BucketPass<Fp>;
  const double range = std::ceil(static_cast<double>(terms) / plan.ranges);
  const double additions = plan.group * range, buckets = plan.shape.Buckets();
  const double segments = std::min<double>(buckets, Pass::kSegments), steps = buckets / segments;
  const double chunks = std::ceil(additions / Pass::kChunk);
  const double levels = 2 + std::ceil(std::log2(1 + additions / chunks / (plan.group * buckets)));
  return additions + plan.group * (2 * buckets + kGather * segments) + kInversion * (chunks * levels + steps);
}

}  // namespace

MsmPlan MsmPlan::For(size_t terms, unsigned magnitude_bits, size_t threads, size_t point_bytes) {
  MsmPlan best{WindowShape::For(2, magnitude_bits), 1, 1};
  double best_cost = HUGE_VAL;
  for (unsigned bits = 2;; ++bits) {
    const WindowShape shape = WindowShape::For(bits, magnitude_bits);
    if (shape.Buckets() * point_bytes > kMsmBucketBytes) break;
    for (unsigned group = 1; group <= shape.windows; ++group) {
      if (group > 1 && group * shape.Buckets() * point_bytes > kMsmBucketBytes / 4) break;
      for (unsigned ranges = 1; ranges <= kRangesPerThread * threads; ranges *= 2) {
        MsmPlan plan{shape, group, ranges};
        double rounds = std::ceil(static_cast<double>(plan.Tasks()) / static_cast<double>(threads));
        double cost = rounds * TaskCost(plan, terms);
        if (cost < best_cost) {
          best_cost = cost;
          best = plan;
        }
        if (threads == 1) break;
      }
    }
  }
  return best;
}

}  // namespace cuzk::algebra
