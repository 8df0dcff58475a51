#pragma once
// How one MSM is cut into tasks: width of windows, windows per task, ranges of terms.

#include <cstddef>
#include <cstdint>

#include "core/algebra/msm/msm_scalars.h"

namespace cuzk::algebra {

struct MsmPlan {
  /// No plan has more windows, or more ranges of terms for each thread.
  static constexpr unsigned kMostWindows = SignedScalar::kBits / 2 + 1, kRangesPerThread = 8;

  WindowShape shape;
  unsigned group;   // windows of one task
  unsigned ranges;  // pieces of the terms

  size_t Groups() const { return (shape.windows + group - 1) / group; }
  size_t Tasks() const { return Groups() * ranges; }

  /// The cheapest by a count of additions: each task costs one for every term and window, two for every bucket, and
  /// about ten for every shared inversion; the slowest thread counts. `point_bytes` bounds the buckets of a task.
  static MsmPlan For(size_t terms, unsigned magnitude_bits, size_t threads, size_t point_bytes);
};

/// Terms of one pass; longer MSMs are sums of passes, which bounds their memory.
inline constexpr size_t kMsmSlab = size_t{1} << 20;
/// Buckets of one task, in bytes.
inline constexpr size_t kMsmBucketBytes = size_t{4} << 20;

}  // namespace cuzk::algebra
