#pragma once
// How scalars are cut into signed digits, and how the work is cut to the memory that is there.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/algebra/field/host_device.h"

namespace cuzk::gpu {

/// Scalars are taken as k or as -(r - k), whichever is below r/2 < 2^253.9, and cut into `windows` signed digits of
/// `width` bits, the lowest `wider` windows of one bit more: together exactly 255 bits, so that the highest digit needs
/// no carry as long as its window has at least 4 bits. A digit d of a window of b bits is in [-2^(b-1), 2^(b-1)); its
/// bucket is |d| - 1, of 2^(b-1).
struct Windows {
  int count = 0;
  int width = 0;
  int wider = 0;

  static constexpr int kBits = 255;
  static Windows OfCount(int count) { return {count, kBits / count, kBits % count}; }

  CUZK_HD int Bits(int w) const { return width + (w < wider ? 1 : 0); }
  CUZK_HD int Offset(int w) const { return w * width + (w < wider ? w : wider); }
  CUZK_HD uint32_t Buckets(int w) const { return 1u << (Bits(w) - 1); }
  /// Buckets of all windows below w; w <= count.
  CUZK_HD uint32_t BucketsBelow(int w) const {
    uint32_t narrow = 1u << (width - 1);
    return w < wider ? w * 2 * narrow : wider * 2 * narrow + (w - wider) * narrow;
  }
};

/// Sizes of one multi-exponentiation.
struct MsmPlan {
  Windows windows;
  uint32_t terms = 0;
  int batch = 0;            ///< windows worked on at a time
  uint32_t item_limit = 0;  ///< points of one item: buckets are cut to this size
  uint32_t segment = 0;     ///< buckets that the reduction sums together, with their weights within
  uint32_t side_log2 = 0;   ///< affine: segments are squares of buckets of this side
  bool affine = false;      ///< accumulate in affine coordinates with shared inversions
  size_t shared_bytes = 0;  ///< shared memory that a block of the card can have
  uint32_t processors = 0;  ///< multiprocessors of the card
  uint64_t bytes = 0;       ///< scratch on the device

  uint32_t BatchBuckets() const;  ///< most buckets of any batch
  uint64_t MaxItems() const;      ///< most items of any batch
};

/// Of x > 0, rounded down.
inline int Log2(uint64_t x) { return static_cast<int>(std::bit_width(x)) - 1; }

/// Which form of accumulation: kBest by size and device; the others for tests and benches.
enum class MsmForm { kBest, kXyzz, kAffine };

}  // namespace cuzk::gpu
