#pragma once
// What the partitions of a card share: its compute region, the workspace that its holder uses, and the buffers that
// partitions hold from Start to Finish.

#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

#include "core/prover/device/device_claims.h"
#include "core/prover/device/device_lease.h"
#include "gpu/runtime/buffer.h"

namespace cuzk::gpu {

/// Thread-safe. The card is current where something is taken or freed; outlives its pieces.
class CardMemory {
 public:
  CardMemory(DeviceMemory& memory, const prover::DeviceClaims& claims) : memory_(memory), claims_(claims) {}

  prover::ComputeRegion& region() { return region_; }
  const prover::ComputeRegion& region() const { return region_; }

  /// A partition's buffer; goes back to be used again. Move-only.
  class Held {
   public:
    Held() = default;
    Held(Held&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)), buffer_(std::move(other.buffer_)) {}
    Held& operator=(Held&& other) noexcept {
      std::swap(owner_, other.owner_);
      std::swap(buffer_, other.buffer_);
      return *this;
    }
    ~Held() {
      if (owner_ != nullptr) owner_->Return(std::move(buffer_));
    }
    std::byte* data() const { return buffer_.data(); }

   private:
    friend class CardMemory;
    Held(CardMemory* owner, Buffer<std::byte> buffer) : owner_(owner), buffer_(std::move(buffer)) {}
    CardMemory* owner_ = nullptr;
    Buffer<std::byte> buffer_;
  };
  /// At least so many bytes. ResourceExhausted if the card has none left.
  StatusOr<Held> Hold(uint64_t bytes);

  /// The workspace, with `wanted` bytes if the card has them beside what its partitions may still hold, otherwise with
  /// what there is, at least `least`. For the holder of the region, until it leaves.
  StatusOr<std::span<std::byte>> Workspace(const prover::DeviceLease&, uint64_t wanted, uint64_t least);

  /// Frees the workspace and the buffers that no partition holds if fewer than `bytes` are free: the plan counted them
  /// as free. Cancelled by `stop` while the region is taken.
  Status MakeRoom(uint64_t bytes, const std::stop_token& stop);
  /// Bytes of the workspace and of all buffers, held and not.
  uint64_t bytes() const;
  /// Frees everything; nothing is held any more.
  void Clear();

 private:
  void Return(Buffer<std::byte> buffer);
  uint64_t BufferBytes() const;
  void SetWorkspace(Buffer<std::byte> workspace);

  DeviceMemory& memory_;
  const prover::DeviceClaims& claims_;
  prover::ComputeRegion region_;
  Buffer<std::byte> workspace_;  // guarded by the region
  mutable std::mutex mutex_;
  uint64_t workspace_bytes_ = 0;         // guarded by mutex_
  uint64_t held_bytes_ = 0;              // guarded by mutex_
  std::vector<Buffer<std::byte>> free_;  // guarded by mutex_
};

}  // namespace cuzk::gpu
