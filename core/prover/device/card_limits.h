#pragma once
// What a card has, as values. Every plan takes them, so that it can be computed and tested where there is no card, and
// so that a card can be treated as a smaller one.

#include <cstdint>

namespace cuzk::prover {

struct CardLimits {
  uint64_t memory_bytes = 0;  ///< device memory
  uint32_t multiprocessors = 0;
  uint32_t multiprocessor_threads = 0;       ///< threads that a multiprocessor holds at a time
  uint32_t shared_multiprocessor_bytes = 0;  ///< shared memory of all blocks of a multiprocessor together
  uint32_t shared_block_bytes = 0;           ///< shared memory that one block can ask for
  uint32_t shared_reserve_bytes = 0;         ///< what the driver takes beside that for each block
  uint64_t bus_bytes_per_second = 0;         ///< from page-locked host memory to the card; 0: not known

  /// Blocks of `threads` > 0 threads and `shared_bytes` of shared memory each that fit on a multiprocessor at a time.
  /// Registers, which are the kernel's own matter, may allow fewer. 0 if not even one block fits.
  constexpr uint32_t BlocksOf(uint32_t threads, uint32_t shared_bytes) const {
    if (shared_bytes > shared_block_bytes) return 0;
    const uint32_t by_threads = multiprocessor_threads / threads, taken = shared_bytes + shared_reserve_bytes;
    const uint32_t by_shared = taken == 0 ? by_threads : shared_multiprocessor_bytes / taken;
    return by_threads < by_shared ? by_threads : by_shared;
  }

  friend bool operator==(const CardLimits&, const CardLimits&) = default;
};

}  // namespace cuzk::prover
