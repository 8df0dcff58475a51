#include "core/algebra/simd/cpu_arithmetic.h"

#include <cpuid.h>

#include <array>
#include <string>

namespace cuzk::algebra {
namespace {

struct Feature {
  std::string_view name;
  bool present;
};

/// General registers alone, so that nothing of the operating system's matters. Not every compiler's
/// __builtin_cpu_supports knows the name.
bool HasAdx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_ADX) != 0;
}

// __builtin_cpu_supports looks at the operating system's saved registers too; it takes literals only.
std::array<Feature, 4> BaseFeatures() {
  __builtin_cpu_init();
  return {{{"AVX2", __builtin_cpu_supports("avx2") != 0},
           {"FMA", __builtin_cpu_supports("fma") != 0},
           {"BMI2", __builtin_cpu_supports("bmi2") != 0},
           {"ADX", HasAdx()}}};
}
std::array<Feature, 5> IfmaFeatures() {
  __builtin_cpu_init();
  return {{{"AVX-512F", __builtin_cpu_supports("avx512f") != 0},
           {"AVX-512DQ", __builtin_cpu_supports("avx512dq") != 0},
           {"AVX-512BW", __builtin_cpu_supports("avx512bw") != 0},
           {"AVX-512VL", __builtin_cpu_supports("avx512vl") != 0},
           {"AVX-512IFMA", __builtin_cpu_supports("avx512ifma") != 0}}};
}

template <size_t N>
std::string Missing(const std::array<Feature, N>& features) {
  std::string text;
  for (const Feature& f : features) {
    if (!f.present) text += StrCat(text.empty() ? "" : ", ", f.name);
  }
  return text;
}

}  // namespace

std::string_view ArithmeticName(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::kScalar:
      return "scalar";
    case Arithmetic::kFma:
      return "fma";
    case Arithmetic::kIfma:
      return "ifma";
  }
  return "";
}

bool IsSupported(Arithmetic arithmetic) { return arithmetic != Arithmetic::kIfma || Missing(IfmaFeatures()).empty(); }

Arithmetic BestArithmetic() { return IsSupported(Arithmetic::kIfma) ? Arithmetic::kIfma : Arithmetic::kFma; }

StatusOr<Arithmetic> ResolveArithmetic(std::optional<std::string_view> choice) {
  if (!choice || choice->empty()) return BestArithmetic();
  for (Arithmetic arithmetic : {Arithmetic::kScalar, Arithmetic::kFma}) {
    if (*choice == ArithmeticName(arithmetic)) return arithmetic;
  }
  if (*choice != "ifma") {
    return absl::InvalidArgumentError(
        StrCat("CUZK_CPU_ARITHMETIC is \"", *choice, "\"; it can be \"scalar\", \"fma\" or \"ifma\""));
  }
  std::string missing = Missing(IfmaFeatures());
  if (missing.empty()) return Arithmetic::kIfma;
  return absl::FailedPreconditionError(
      StrCat("CUZK_CPU_ARITHMETIC is \"ifma\", but this processor lacks ", missing, "; use \"fma\""));
}

StatusOr<Arithmetic> ResolveArithmetic(const char* choice) {
  return ResolveArithmetic(choice == nullptr ? std::optional<std::string_view>() : choice);
}

Status CheckProcessor() {
  std::string missing = Missing(BaseFeatures());
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat("this processor lacks ", missing, ", which the program needs"));
}

}  // namespace cuzk::algebra
