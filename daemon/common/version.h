#pragma once

#include <string>
#include <string_view>

namespace cuzk::daemon {

struct BuildInfo {
  std::string_view version, revision, cuda, architectures, compiler;  ///< "none" or "unknown" where there is none
};
BuildInfo Build();

/// "cuzkd 0.1.0 (revision 1a2b3c4d5e6f, cuda 12.4, architectures 80 90, compiler 12.2.0)" for the program's name.
std::string VersionText(std::string_view program);

}  // namespace cuzk::daemon
