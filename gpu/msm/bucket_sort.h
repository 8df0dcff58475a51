#pragma once
// Scalars to entries in the order of buckets. Two passes put every entry where its bucket is, in no particular order
// within the bucket, since sums do not depend on it. A window's buckets are cut into bins of consecutive ones.
//   count    entries of each bin
//   scatter  each entry to its bin. A tile of terms is put in the order of bins in shared memory and written from there
//            in runs: stores of less than a sector each run at a fifth of the rate
//   order    a block per bin puts its entries in the order of buckets in shared memory
// Digits of value zero leave no entry.

#include <cstdint>

#include "core/algebra/field/fr.h"
#include "gpu/msm/windows.h"
#include "gpu/runtime/stream.h"

namespace cuzk::gpu {

/// Which point belongs to term i.
struct IndexMap {
  /// kList: list[i]. kReversed: the `log2_size` bits of i read backwards.
  enum class Kind : int { kIdentity, kList, kReversed } kind = Kind::kIdentity;
  const uint32_t* list = nullptr;
  int log2_size = 0;
};

/// An entry between the passes: a point with its sign in bit 31, and which bucket of its bin it belongs to.
struct BinnedEntry {
  uint32_t point, fine;
};

/// How the windows of a plan are sorted.
struct SortPlan {
  int group = 1;          ///< windows sorted at a time
  int bins_log2 = 0;      ///< bins of every window; at most 12
  uint32_t tile = 0;      ///< terms of one block of the scatter, by the device's shared memory
  uint32_t capacity = 0;  ///< entries of a bin that a block orders in shared memory

  static SortPlan For(const MsmPlan& plan);
  uint32_t MaxBins() const { return static_cast<uint32_t>(group) << bins_log2; }
  /// Shared memory of a block that scatters, and of one that orders.
  size_t ScatterBytes() const { return kScatterFixed + tile * sizeof(uint32_t); }
  size_t OrderBytes() const { return kOrderFixed + capacity * sizeof(uint32_t); }
  static constexpr size_t kScatterFixed = 32 << 10, kOrderFixed = 16 << 10;
};

/// Scratch in device memory.
struct SortScratch {
  uint32_t* split;      // 8 * terms: scalars in offset form, word by word
  uint32_t* signs;      // ceil(terms / 32): bit i says that the scalar was negated
  BinnedEntry* binned;  // group * terms
  uint32_t* bin_begin;  // MaxBins() + 1
  uint32_t* bin_end;    // MaxBins()
};

/// Where the sorted entries of one batch go: `entries` have their sign in bit 31; those of bucket b are
/// entries[begin[b]] to entries[end[b] - 1]. Buckets count from the batch's first.
struct SortedEntries {
  uint32_t* entries;
  uint32_t* begin;
  uint32_t* end;
};

/// Scalars (Montgomery) to `split` and `signs`. Once for all batches. Enqueues, as does the next.
Status SplitScalars(const MsmPlan& plan, const algebra::Fr* scalars, const SortScratch& scratch, StreamView stream);
/// Sorts windows [first, first + count). Window w has its entries from (w - first) * terms on.
Status SortIntoBuckets(const MsmPlan& plan, int first, int count, const IndexMap& map, const SortScratch& scratch,
                       const SortedEntries& sorted, StreamView stream);

}  // namespace cuzk::gpu
