#pragma once
// A search by all threads that finds what one thread would find.

#include <atomic>
#include <cstdint>

#include "core/base/thread_pool.h"

namespace cuzk {

/// The least index below `size` for which `is(index)` holds; `size` if there is none. `is` is called from the pool's
/// threads, for pieces of at least `grain` indices.
template <class Is>
uint64_t FirstWhere(uint64_t size, size_t grain, ThreadPool& pool, Is is) {
  std::atomic<uint64_t> first{size};
  pool.ParallelFor(size, grain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (!is(i)) continue;
      uint64_t least = first.load();
      while (i < least && !first.compare_exchange_weak(least, i)) {
      }
      return;
    }
  });
  return first.load();
}

}  // namespace cuzk
