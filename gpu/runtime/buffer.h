#pragma once
// Device memory: one owner, typed views. Every allocation goes through a DeviceMemory, which counts, caps and can be
// told to fail.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "gpu/runtime/status.h"

namespace cuzk::gpu {

/// Where buffers come from: cudaMalloc within a cap. Thread-safe. Outlives its buffers.
class DeviceMemory {
 public:
  /// `cap` in bytes; 0 means the card's memory.
  explicit DeviceMemory(uint64_t cap = 0) : cap_(cap) {}
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// At least one byte. ResourceExhausted, with the numbers, beyond the cap or where the card has none left.
  StatusOr<void*> Allocate(size_t bytes);
  void Free(void* data, size_t bytes) noexcept;

  uint64_t cap() const { return cap_; }
  uint64_t used() const { return used_.load(); }
  /// Free bytes of the card, within the cap.
  StatusOr<uint64_t> Available() const;

  /// The seam for tests: the allocation after `n` more ones fails, once. Negative: none.
  void FailAfter(int64_t n) { fail_after_.store(n); }
  /// Allocations before the one that fails; negative once it has, or if none does.
  int64_t before_failure() const { return fail_after_.load(); }

 private:
  const uint64_t cap_;
  std::atomic<uint64_t> used_{0};
  std::atomic<int64_t> fail_after_{-1};
};

/// Owns `size` elements of uninitialised device memory. Move-only. The owner sees to it that no stream still uses the
/// memory when it goes.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  static StatusOr<Buffer> Allocate(DeviceMemory& memory, size_t size) {
    CUZK_ASSIGN_OR_RETURN(void* data, memory.Allocate(size * sizeof(T)));
    return Buffer(&memory, static_cast<T*>(data), size);
  }
  Buffer(Buffer&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer() { Reset(); }
  void Reset() {
    if (memory_ != nullptr) memory_->Free(data_, size_ * sizeof(T));
    memory_ = nullptr;
    data_ = nullptr;
    size_ = 0;
  }
  T* data() const { return data_; }
  size_t size() const { return size_; }
  size_t bytes() const { return size_ * sizeof(T); }
  /// A view; the host must not read through it.
  std::span<T> span() const { return {data_, size_}; }

 private:
  Buffer(DeviceMemory* memory, T* data, size_t size) : memory_(memory), data_(data), size_(size) {}
  DeviceMemory* memory_ = nullptr;
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace cuzk::gpu
