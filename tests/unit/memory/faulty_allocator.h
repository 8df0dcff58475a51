#pragma once
// A HostAllocator that fails on demand and knows what is out.

#include <cstddef>
#include <mutex>
#include <set>
#include <utility>

#include "core/memory/host_allocator.h"

namespace cuzk::testing_support {

class FaultyAllocator final : public memory::HostAllocator {
 public:
  /// The calls numbered in [first, first + count) fail; the first call is 0.
  void Fail(size_t first, size_t count = 1) {
    std::lock_guard lock(mutex_);
    fail_from_ = first;
    fail_to_ = first + count;
  }
  void FailNever() { Fail(0, 0); }

  StatusOr<std::byte*> Allocate(size_t bytes) override {
    std::lock_guard lock(mutex_);
    size_t call = calls_++;
    if (call >= fail_from_ && call < fail_to_) return absl::ResourceExhaustedError("no memory (injected)");
    auto data = inner_.Allocate(bytes);
    if (data.ok()) {
      out_.insert({*data, bytes});
      bytes_out_ += bytes;
    }
    return data;
  }
  void Free(std::byte* data, size_t bytes) noexcept override {
    std::lock_guard lock(mutex_);
    if (out_.erase({data, bytes}) != 1) {
      wrong_frees_++;
      return;
    }
    bytes_out_ -= bytes;
    inner_.Free(data, bytes);
  }

  size_t calls() const { return Locked(calls_); }
  size_t bytes_out() const { return Locked(bytes_out_); }
  size_t wrong_frees() const { return Locked(wrong_frees_); }

 private:
  size_t Locked(const size_t& value) const {
    std::lock_guard lock(mutex_);
    return value;
  }
  memory::AlignedAllocator inner_;
  mutable std::mutex mutex_;
  size_t fail_from_ = 0, fail_to_ = 0;
  size_t calls_ = 0, bytes_out_ = 0, wrong_frees_ = 0;
  std::set<std::pair<std::byte*, size_t>> out_;
};

}  // namespace cuzk::testing_support
