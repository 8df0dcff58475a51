#pragma once
// From scalars to work: entries in the order of buckets; buckets cut into items of at most `item_limit` points; items
// ordered by length, longest first, so that those with more than j points are the first live[j]. Independent of the
// group.

#include <cstdint>

#include "gpu/msm/bucket_sort.h"

namespace cuzk::gpu {

inline constexpr uint32_t kItemLimit = 192;     ///< MsmPlan::item_limit is at most this
inline constexpr uint32_t kXyzzItemLimit = 48;  ///< where a thread sums an item alone
inline constexpr uint32_t kHeavyItems = 16;     ///< buckets with more items than this are summed by a block each
inline constexpr uint32_t kMaxHeavy = 1u << 20;

/// Scratch in device memory; sizes by the plan: N = batch * terms, B = BatchBuckets(), Q = MaxItems().
struct ItemScratch {
  SortScratch sort;
  SortedEntries sorted;     // N + 1, B, B
  uint32_t* item_base;      // B + 1: first item of a bucket
  uint32_t* item_begin;     // Q: first entry
  uint32_t* item_place;     // Q: place of an item in the order
  uint8_t* item_size;       // Q
  uint32_t* ordered_begin;  // Q
  uint8_t* ordered_size;    // Q
  uint32_t* live;           // kItemLimit + 2
  uint32_t* cursor;         // kItemLimit + 2
  uint32_t* heavy;          // 1 + kMaxHeavy: count, buckets
  void* scan_scratch;
  size_t scan_bytes;
};

/// More bytes than CUB wants for its scan: a state of 16 bytes for every tile, which has more than 256 buckets.
inline size_t ScanScratchBytes(const MsmPlan& plan) { return (plan.BatchBuckets() + 1ull) / 16 + (64 << 10); }

/// Windows [first, first + count) of split scalars: everything up to `ordered_*`, `live`, `heavy`. Enqueues.
Status MakeItems(const MsmPlan& plan, int first, int count, const IndexMap& map, const ItemScratch& scratch,
                 StreamView stream);

/// The columns and rows of squares of side^2 buckets as items of `side` entries, which are buckets: of each square
/// first its columns, then its rows. Overwrites `sorted.entries` (2 * buckets), `ordered_begin` and `live` (kItemLimit
/// + 2).
Status MakeTileItems(uint32_t buckets, uint32_t side_log2, const ItemScratch& scratch, uint32_t* live,
                     StreamView stream);

}  // namespace cuzk::gpu
