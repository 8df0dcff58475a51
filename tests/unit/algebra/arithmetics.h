#pragma once
// The arithmetics that a test runs through: the one that CUZK_CPU_ARITHMETIC names, else all that this processor has.

#include <cstdlib>
#include <vector>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/check.h"

namespace cuzk::algebra {

inline std::vector<Arithmetic> TestedArithmetics() {
  const char* forced = std::getenv("CUZK_CPU_ARITHMETIC");
  if (forced != nullptr && *forced != '\0') {
    auto arithmetic = ResolveArithmetic(forced);
    CUZK_CHECK(arithmetic.ok());
    return {*arithmetic};
  }
  std::vector<Arithmetic> all{Arithmetic::kScalar, Arithmetic::kFma};
  if (IsSupported(Arithmetic::kIfma)) all.push_back(Arithmetic::kIfma);
  return all;
}

}  // namespace cuzk::algebra
