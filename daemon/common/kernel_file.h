#pragma once

#include <filesystem>
#include <string>

namespace cuzk::daemon {

/// The text of a file of /proc or /sys, whose length the system does not tell; empty if it cannot be read.
std::string KernelFile(const std::filesystem::path& path);

}  // namespace cuzk::daemon
