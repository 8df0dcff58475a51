#include "gpu/runtime/double_buffer.h"

#include "core/base/check.h"

namespace cuzk::gpu {

StatusOr<DoubleBuffer> DoubleBuffer::Create(std::byte* memory, uint64_t slot_bytes, StreamView copy,
                                            std::atomic<uint64_t>* copied) {
  DoubleBuffer r(memory, slot_bytes / 256 * 256, copy, copied);
  for (std::unique_ptr<Slot>& slot : r.slots_) {
    CUZK_ASSIGN_OR_RETURN(Event done, Event::Create());
    CUZK_ASSIGN_OR_RETURN(Event released, Event::Create());
    slot.reset(new Slot{std::move(done), std::move(released)});
  }
  return r;
}

StatusOr<std::byte*> DoubleBuffer::Fill(std::span<const Piece> pieces, StreamView reader) {
  Slot& slot = *slots_[next_];
  std::byte* to = memory_ + static_cast<uint64_t>(next_) * slot_bytes_;
  if (slot.in_use) CUZK_RETURN_IF_ERROR(slot.released.Wait(copy_));
  for (const Piece& piece : pieces) {
    if (piece.bytes == 0) continue;
    CUZK_CHECK(piece.at + piece.bytes <= slot_bytes_);
    CUZK_CUDA(cudaMemcpyAsync(to + piece.at, piece.from, piece.bytes, cudaMemcpyHostToDevice, copy_.get()));
    if (copied_ != nullptr) *copied_ += piece.bytes;
  }
  CUZK_RETURN_IF_ERROR(slot.copied.Record(copy_));
  CUZK_RETURN_IF_ERROR(slot.copied.Wait(reader));
  return to;
}

Status DoubleBuffer::Release(StreamView reader) {
  Slot& slot = *slots_[next_];
  CUZK_RETURN_IF_ERROR(slot.released.Record(reader));
  slot.in_use = true;
  next_ = 1 - next_;
  return absl::OkStatus();
}

}  // namespace cuzk::gpu
