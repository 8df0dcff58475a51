#pragma once

#include <string>
#include <string_view>

namespace cuzk::daemon {

struct BuildInfo {
  std::string_view version, revision, cuda, architectures, compiler;  ///< "none" or "unknown" where there is none
  std::string_view build;  ///< "Release, libraries linked in": how it is compiled and linked
};
BuildInfo Build();

/// What --version prints of `program`, one fact a line: the program with its version, revision, build, capabilities
/// (the proof kinds and what they are proved on), cuda.
std::string VersionText(std::string_view program);

}  // namespace cuzk::daemon
