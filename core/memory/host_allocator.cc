#include "core/memory/host_allocator.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "core/base/check.h"

namespace cuzk::memory {
namespace {

constexpr size_t kPage = 4096, kHugePage = size_t{2} << 20;

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

void Unmap(std::byte* begin, std::byte* end) {
  if (begin != end) CUZK_CHECK(munmap(begin, end - begin) == 0);
}

}  // namespace

StatusOr<std::byte*> AlignedAllocator::Allocate(size_t bytes) {
  CUZK_CHECK(bytes > 0);
  size_t length = RoundUp(bytes, kPage);
  size_t alignment = length >= kHugePage ? kHugePage : kPage;
  // Mapped with room to spare, then cut to the alignment.
  size_t mapped = length + alignment - kPage;
  if (mapped < bytes) return absl::ResourceExhaustedError(StrCat(bytes, " bytes cannot be mapped"));
  void* address = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    return absl::ResourceExhaustedError(StrCat("mapping ", bytes, " bytes: ", std::strerror(errno)));
  }
  auto* begin = static_cast<std::byte*>(address);
  const auto number = reinterpret_cast<uintptr_t>(begin);
  std::byte* data = begin + (RoundUp(number, alignment) - number);
  Unmap(begin, data);
  Unmap(data + length, begin + mapped);
  if (length >= kHugePage) madvise(data, length, MADV_HUGEPAGE);  // advice only: a refusal costs speed, not correctness
  return data;
}

void AlignedAllocator::Free(std::byte* data, size_t bytes) noexcept { Unmap(data, data + RoundUp(bytes, kPage)); }

}  // namespace cuzk::memory
