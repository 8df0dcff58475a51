#pragma once
// From scalars to work: digits, sorted by bucket; buckets cut into items of at most `item_limit` points; items ordered
// by length, longest first, so that those with more than j points are the first live[j]. Independent of the group.

#include <cstdint>

#include "core/algebra/fr.h"
#include "gpu/msm/windows.h"
#include "gpu/runtime/stream.h"

namespace cuzk::gpu {

inline constexpr uint32_t kItemLimit = 48;   ///< MsmPlan::item_limit is at most this
inline constexpr uint32_t kHeavyItems = 16;  ///< buckets with more items than this are summed by a block each
inline constexpr uint32_t kMaxHeavy = 1u << 20;

/// Which point belongs to term i.
struct IndexMap {
  /// kList: list[i]. kReversed: the `log2_size` bits of i read backwards.
  enum class Kind : int { kIdentity, kList, kReversed } kind = Kind::kIdentity;
  const uint32_t* list = nullptr;
  int log2_size = 0;
};

/// Scratch in device memory; sizes by the plan: N = batch * terms, B = BatchBuckets(), Q = MaxItems().
struct ItemScratch {
  uint32_t* split;          // 8 * terms: scalars in offset form, word by word
  uint32_t* keys[2];        // S each, S = sorted at a time
  uint32_t* values[2];      // S each
  uint32_t* entries;        // N: points of all buckets, sign in bit 31
  uint32_t* begin;          // B
  uint32_t* end;            // B
  uint32_t* item_base;      // B + 1: first item of a bucket
  uint32_t* item_begin;     // Q: first entry; then by order
  uint32_t* item_place;     // Q: place of an item in the order
  uint8_t* item_size;       // Q
  uint32_t* ordered_begin;  // Q
  uint8_t* ordered_size;    // Q
  uint32_t* live;           // kItemLimit + 2
  uint32_t* cursor;         // kItemLimit + 2
  uint32_t* heavy;          // 1 + kMaxHeavy: count, buckets
  void* sort_scratch;
  size_t sort_bytes;
};

/// Digits of one sort: all windows of a batch in one go where there are few, else window by window.
bool SortsWholeBatch(const MsmPlan& plan);
uint64_t SortedAtATime(const MsmPlan& plan);
/// Bytes that CUB wants for sorting and scanning.
StatusOr<size_t> SortScratchBytes(const MsmPlan& plan);

/// Scalars (Montgomery) to `split`. Once for all batches. Enqueues, as do the others.
Status SplitScalars(const MsmPlan& plan, const algebra::Fr* scalars, const ItemScratch& scratch, StreamView stream);
/// Windows [first, first + count): everything up to `ordered_*`, `live`, `heavy`.
Status MakeItems(const MsmPlan& plan, int first, int count, const IndexMap& map, const ItemScratch& scratch,
                 StreamView stream);

}  // namespace cuzk::gpu
