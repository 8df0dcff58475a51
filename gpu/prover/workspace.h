#pragma once
// How a partition divides the card's workspace.

#include <algorithm>
#include <cstddef>
#include <span>

#include "gpu/msm/msm.h"
#include "gpu/prover/placement.h"

namespace cuzk::gpu {

/// From the beginning: the assignment of a plain witness made narrow, if it is on the card as a whole; then what the
/// parts use; then, at the end, the slots of streamed points or the side's memory. All offsets are multiples of 256.
class Workspace {
 public:
  static constexpr uint64_t Align(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

  /// `narrowed_bytes`: the plain assignment's, 0 where there is none. The side's memory is there if the workspace has
  /// all that the plan wants.
  Workspace(std::span<std::byte> memory, const CircuitPlan& plan, uint64_t narrowed_bytes)
      : memory_(memory), begin_(Align(narrowed_bytes)), slot_bytes_(plan.point_slot_bytes / 256 * 256) {
    const uint64_t unplanned = plan.plain_leases ? 0 : begin_;
    const bool has_side = plan.side_bytes > 0 && memory.size() >= plan.workspace_bytes + unplanned;
    const uint64_t tail = 2 * slot_bytes_ + (has_side ? plan.side_bytes : 0);
    end_ = memory.size() > tail ? (memory.size() - tail) / 256 * 256 : 0;
    if (has_side) side_ = memory.subspan(end_);
  }

  Arena narrowed() const { return {memory_.data(), begin_}; }
  /// Everything between, from `skip` bytes on.
  Arena main(uint64_t skip = 0) const {
    const uint64_t from = std::min(begin_ + skip, end_);
    return {memory_.data() + from, end_ - from};
  }
  /// The same with the slots of points at its end, for a part that streams none, or not yet.
  Arena with_slots(uint64_t skip = 0) const {
    const uint64_t end = end_ + 2 * slot_bytes_, from = std::min(begin_ + skip, end);
    return {memory_.data() + from, end - from};
  }
  bool has_side() const { return !side_.empty(); }
  Arena side() const { return {side_.data(), side_.size()}; }
  /// Of two slots.
  std::byte* point_slots() const { return memory_.data() + end_; }
  uint64_t slot_bytes() const { return slot_bytes_; }

 private:
  std::span<std::byte> memory_, side_;
  uint64_t begin_, end_ = 0;
  uint64_t slot_bytes_;
};

}  // namespace cuzk::gpu
