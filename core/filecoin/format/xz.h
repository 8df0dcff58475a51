#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/status.h"

namespace cuzk::filecoin {

/// The content of `path` or, if only `path`.xz exists, of that file decompressed. NotFound names `path`;
/// InvalidArgument if it has more than `most_bytes`, compressed or not.
StatusOr<std::string> ReadFileOrXz(const std::filesystem::path& path, uint64_t most_bytes);

}  // namespace cuzk::filecoin
