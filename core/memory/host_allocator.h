#pragma once
// Where witness memory comes from. A device supplies its own: page-locked memory on a GPU, plain memory on the CPU.

#include <cstddef>

#include "core/base/status.h"

namespace cuzk::memory {

/// Thread-safe.
class HostAllocator {
 public:
  virtual ~HostAllocator() = default;
  /// `bytes` > 0 of uninitialised memory, aligned to at least 64 bytes. RESOURCE_EXHAUSTED, with the system's reason,
  /// if there is none.
  virtual StatusOr<std::byte*> Allocate(size_t bytes) = 0;
  /// Frees what Allocate(bytes) returned. Must not fail; the device logs its own failures.
  virtual void Free(std::byte* data, size_t bytes) noexcept = 0;
};

/// Anonymous memory of the system, aligned to 2 MiB from that size on, with advice to use huge pages. Pages cost
/// nothing until they are written.
class AlignedAllocator final : public HostAllocator {
 public:
  StatusOr<std::byte*> Allocate(size_t bytes) override;
  void Free(std::byte* data, size_t bytes) noexcept override;
};

}  // namespace cuzk::memory
