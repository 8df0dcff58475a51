#pragma once
// A large array whose allocation may fail without throwing.

#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "core/base/status.h"
#include "core/memory/host_allocator.h"

namespace cuzk::memory {

/// `size` elements of a trivial type from a HostAllocator, uninitialised. Move-only; the allocator must outlive it. An
/// empty array has no elements.
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && alignof(T) <= 64);

 public:
  /// RESOURCE_EXHAUSTED, naming `what` and the bytes, if the allocator has none.
  static StatusOr<Array> Allocate(HostAllocator& allocator, size_t size, std::string_view what) {
    Array out;
    if (size == 0) return out;
    if (size > std::numeric_limits<size_t>::max() / sizeof(T))
      return absl::ResourceExhaustedError(StrCat(what, ": size overflows"));
    StatusOr<std::byte*> data = allocator.Allocate(size * sizeof(T));
    if (!data.ok()) return Annotate(data.status(), StrCat(what, " (", size * sizeof(T), " bytes)"));
    out.allocator_ = &allocator;
    out.data_ = reinterpret_cast<T*>(*data);
    out.size_ = size;
    return out;
  }

  Array() = default;
  Array(Array&& other) noexcept { Swap(other); }
  Array& operator=(Array&& other) noexcept {
    Array old(std::move(*this));
    Swap(other);
    return *this;
  }
  ~Array() {
    if (data_) allocator_->Free(reinterpret_cast<std::byte*>(data_), size_ * sizeof(T));
  }

  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  void Swap(Array& other) noexcept {
    std::swap(allocator_, other.allocator_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  HostAllocator* allocator_ = nullptr;
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace cuzk::memory
