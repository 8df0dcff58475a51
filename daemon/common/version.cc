#include "daemon/common/version.h"

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/text.h"
#include "core/filecoin/types/registry.h"

#if !defined(CUZK_VERSION) || !defined(CUZK_REVISION) || !defined(CUZK_BUILD) || !defined(CUZK_CUDA_VERSION) || \
    !defined(CUZK_CUDA_ARCHITECTURES)
#error "the build gives CUZK_VERSION, CUZK_REVISION, CUZK_BUILD, CUZK_CUDA_VERSION and CUZK_CUDA_ARCHITECTURES"
#endif

namespace cuzk::daemon {

BuildInfo Build() {
  return {.version = CUZK_VERSION,
          .revision = CUZK_REVISION,
          .cuda = CUZK_CUDA_VERSION,
          .architectures = CUZK_CUDA_ARCHITECTURES,
          .compiler = __VERSION__,
          .build = CUZK_BUILD};
}

std::string VersionText(std::string_view program) {
  const BuildInfo build = Build();
  std::string capabilities;
  for (const filecoin::KindRow& kind : filecoin::Kinds()) capabilities += StrCat(kind.name, " ");
  capabilities += StrCat("on cpu (", algebra::ArithmeticName(algebra::Arithmetic::kScalar), ", ",
                         algebra::ArithmeticName(algebra::Arithmetic::kFma), ", ",
                         algebra::ArithmeticName(algebra::Arithmetic::kIfma), ")");
  if (build.cuda != "none") capabilities += ", cuda";
  return StrCat(program, " ", build.version, "\nrevision:     ", build.revision, "\nbuild:        ", build.build,
                ", compiler ", build.compiler, "\ncapabilities: ", capabilities, "\ncuda:         ", build.cuda,
                ", architectures ", build.architectures);
}

}  // namespace cuzk::daemon
