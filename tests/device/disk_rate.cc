#include "tests/device/disk_rate.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/base/file.h"

namespace cuzk::gpu::testing {
namespace {

constexpr uint64_t kPiece = uint64_t{8} << 20;

StatusOr<double> RateWith(int fd, uint64_t bytes, unsigned threads) {
  std::atomic<uint64_t> next{0};
  std::atomic<bool> failed{false};
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> readers;
    for (unsigned i = 0; i < threads; ++i) {
      readers.emplace_back([&] {
        void* memory = std::aligned_alloc(4096, kPiece);
        for (uint64_t at = next.fetch_add(kPiece); at + kPiece <= bytes; at = next.fetch_add(kPiece)) {
          if (pread(fd, memory, kPiece, static_cast<off_t>(at)) != static_cast<ssize_t>(kPiece)) failed = true;
        }
        std::free(memory);
      });
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (failed) return absl::InternalError("reading the file failed");
  return static_cast<double>(bytes / kPiece * kPiece) / 1e9 / seconds;
}

}  // namespace

StatusOr<double> DiskRate(const std::filesystem::path& path, ThreadPool&) {
  ForgetCached(path);
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECT);
  if (fd < 0) return ErrnoStatus(errno, "cannot open past the page cache", path);
  const uint64_t bytes = std::min<uint64_t>(std::filesystem::file_size(path), uint64_t{8} << 30);
  double best = 0;
  for (unsigned threads : {1u, 4u, 16u}) {
    auto rate = RateWith(fd, bytes, threads);
    if (!rate.ok()) {
      close(fd);
      return rate.status();
    }
    std::printf("  disk, %u readers: %.2f GB/s\n", threads, *rate);
    best = std::max(best, *rate);
  }
  close(fd);
  return best;
}

void ForgetCached(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDONLY);
  if (fd < 0) return;
  static_cast<void>(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
  close(fd);
}

}  // namespace cuzk::gpu::testing
