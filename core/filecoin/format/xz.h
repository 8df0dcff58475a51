#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/status.h"

namespace cuzk::filecoin {

/// The whole file at `path`, or, where only `path`.xz exists, that file decompressed. NotFound names `path`;
/// InvalidArgument for more than `most_bytes`, packed or unpacked.
StatusOr<std::string> ReadFileOrXz(const std::filesystem::path& path, uint64_t most_bytes);

}  // namespace cuzk::filecoin
