#pragma once
// How fast a file comes from its disk when nothing else is asked of it.

#include <filesystem>

#include "core/base/status.h"
#include "core/base/thread_pool.h"

namespace cuzk::gpu::testing {

/// GB/s of reading the file once past the page cache (O_DIRECT), by several threads in large pieces, whichever of 1, 4
/// and 16 at a time is quickest on its first 8 GB.
StatusOr<double> DiskRate(const std::filesystem::path& path, ThreadPool& pool);

/// Drops the file's clean pages from the page cache.
void ForgetCached(const std::filesystem::path& path);

}  // namespace cuzk::gpu::testing
