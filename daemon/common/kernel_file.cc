#include "daemon/common/kernel_file.h"

#include <fstream>
#include <sstream>

namespace cuzk::daemon {

std::string KernelFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace cuzk::daemon
