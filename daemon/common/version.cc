#include "daemon/common/version.h"

#include "core/base/text.h"

#if !defined(CUZK_VERSION) || !defined(CUZK_REVISION) || !defined(CUZK_CUDA_ARCHITECTURES)
#error "the build gives CUZK_VERSION, CUZK_REVISION and CUZK_CUDA_ARCHITECTURES"
#endif

namespace cuzk::daemon {

BuildInfo Build() { return {CUZK_VERSION, CUZK_REVISION, CUZK_CUDA_VERSION, CUZK_CUDA_ARCHITECTURES, __VERSION__}; }

std::string VersionText(std::string_view program) {
  const BuildInfo build = Build();
  return StrCat(program, " ", build.version, " (revision ", build.revision, ", cuda ", build.cuda, ", architectures ",
                build.architectures, ", compiler ", build.compiler, ")");
}

}  // namespace cuzk::daemon
