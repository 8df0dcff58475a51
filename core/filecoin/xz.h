#pragma once
#include <filesystem>
#include <string>

#include "core/base/status.h"

namespace cuzk::filecoin {

/// The whole file at `path`, or, where only `path`.xz exists, that file decompressed. NotFound names `path`.
StatusOr<std::string> ReadFileOrXz(const std::filesystem::path& path);

}  // namespace cuzk::filecoin
