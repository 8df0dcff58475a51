#pragma once
// Two slots of device memory that a copy stream fills in turn, ahead of the kernels that read them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "gpu/runtime/stream.h"

namespace cuzk::gpu {

/// One thread. Nothing here blocks: streams wait for each other. The owner of the memory keeps it until both streams
/// are done.
class DoubleBuffer {
 public:
  /// Two slots of `slot_bytes` each from `memory` on, which is aligned to 256 bytes. `copied`, if not null, is
  /// increased by every byte that crosses the bus, and outlives this.
  static StatusOr<DoubleBuffer> Create(std::byte* memory, uint64_t slot_bytes, StreamView copy,
                                       std::atomic<uint64_t>* copied);

  uint64_t slot_bytes() const { return slot_bytes_; }

  struct Piece {
    const void* from;  ///< host memory, page-locked for speed; stays until the copy stream is done
    uint64_t bytes;
    uint64_t at;  ///< within the slot
  };
  /// Enqueues the copies into the next slot, behind those that read its last contents; `reader` waits for them.
  StatusOr<std::byte*> Fill(std::span<const Piece> pieces, StreamView reader);
  /// What is on `reader` now is all that reads the slot filled last.
  Status Release(StreamView reader);

 private:
  struct Slot {
    Event copied, released;
    bool in_use = false;  // `released` was recorded
  };
  DoubleBuffer(std::byte* memory, uint64_t slot_bytes, StreamView copy, std::atomic<uint64_t>* copied)
      : memory_(memory), slot_bytes_(slot_bytes), copy_(copy), copied_(copied) {}

  std::byte* memory_;
  uint64_t slot_bytes_;
  StreamView copy_;
  std::atomic<uint64_t>* copied_;
  std::unique_ptr<Slot> slots_[2];
  int next_ = 0;
};

}  // namespace cuzk::gpu
