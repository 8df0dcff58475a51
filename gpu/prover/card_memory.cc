#include "gpu/prover/card_memory.h"

#include <algorithm>

#include "gpu/prover/placement.h"

namespace cuzk::gpu {

StatusOr<CardMemory::Held> CardMemory::Hold(uint64_t bytes) {
  bytes = std::max<uint64_t>(bytes, 256);
  std::vector<Buffer<std::byte>> dropped;  // freed before the next allocation, without the lock
  {
    std::lock_guard lock(mutex_);
    // The smallest that will do; a much larger one waits for those that need it.
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->size() < bytes || it->size() > 2 * bytes) continue;
      if (best == free_.end() || it->size() < best->size()) best = it;
    }
    if (best != free_.end()) {
      Held held(this, std::move(*best));
      free_.erase(best);
      held_bytes_ += held.buffer_.size();
      return held;
    }
    // Partitions share what was planned for: as long as none needs more at once, unused buffers make room.
    uint64_t unused = 0;
    for (const auto& buffer : free_) unused += buffer.size();
    if (held_bytes_ + unused + bytes > claims_.Most().witness) dropped.swap(free_);
  }
  dropped.clear();
  auto buffer = Buffer<std::byte>::Allocate(memory_, bytes);
  if (absl::IsResourceExhausted(buffer.status())) {
    {
      std::lock_guard lock(mutex_);
      dropped.swap(free_);
    }
    dropped.clear();
    buffer = Buffer<std::byte>::Allocate(memory_, bytes);
  }
  if (!buffer.ok()) return buffer.status();
  std::lock_guard lock(mutex_);
  held_bytes_ += buffer->size();
  return Held(this, *std::move(buffer));
}

void CardMemory::Return(Buffer<std::byte> buffer) {
  std::lock_guard lock(mutex_);
  held_bytes_ -= buffer.size();
  free_.push_back(std::move(buffer));
}

uint64_t CardMemory::BufferBytes() const {
  std::lock_guard lock(mutex_);
  uint64_t bytes = held_bytes_;
  for (const auto& buffer : free_) bytes += buffer.size();
  return bytes;
}

uint64_t CardMemory::bytes() const {
  const uint64_t buffers = BufferBytes();
  std::lock_guard lock(mutex_);
  return buffers + workspace_bytes_;
}

void CardMemory::SetWorkspace(Buffer<std::byte> workspace) {
  workspace_ = std::move(workspace);
  std::lock_guard lock(mutex_);
  workspace_bytes_ = workspace_.size();
}

StatusOr<std::span<std::byte>> CardMemory::Workspace(const prover::DeviceLease&, uint64_t wanted, uint64_t least) {
  const uint64_t has = workspace_.size();
  if (has >= wanted) return workspace_.span();
  CUZK_ASSIGN_OR_RETURN(uint64_t free, memory_.Available());
  const uint64_t claimed = claims_.Most().witness, buffers = BufferBytes();
  const uint64_t promised = (claimed > buffers ? claimed - buffers : 0) + ReservedBytes(free + has);
  const uint64_t room = free + has > promised ? free + has - promised : 0;
  const uint64_t size = std::max(least, std::min(wanted, room));
  // A little more is not worth an allocation.
  if (has >= least && size < has + has / 8 && size < wanted) return workspace_.span();
  workspace_.Reset();
  SetWorkspace({});
  auto made = Buffer<std::byte>::Allocate(memory_, size);
  if (absl::IsResourceExhausted(made.status()) && size > least) made = Buffer<std::byte>::Allocate(memory_, least);
  if (!made.ok()) return made.status();
  SetWorkspace(*std::move(made));
  return workspace_.span();
}

Status CardMemory::MakeRoom(uint64_t bytes, const std::stop_token& stop) {
  CUZK_ASSIGN_OR_RETURN(uint64_t free, memory_.Available());
  if (free >= bytes) return absl::OkStatus();
  CUZK_ASSIGN_OR_RETURN(prover::DeviceLease lease, region_.Enter(stop));
  workspace_.Reset();
  SetWorkspace({});
  std::vector<Buffer<std::byte>> dropped;
  std::lock_guard lock(mutex_);
  dropped.swap(free_);
  return absl::OkStatus();
}

void CardMemory::Clear() {
  workspace_.Reset();
  free_.clear();
}

}  // namespace cuzk::gpu
