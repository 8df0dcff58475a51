#pragma once
// Which arithmetic the processor's heavy loops use. Resolved once by the composition root (main.cc, a test's main) and
// passed down as a value; nothing below reads the environment.

#include <optional>
#include <string_view>

#include "core/base/status.h"

namespace cuzk::algebra {

enum class Arithmetic {
  kScalar,  // one element at a time, mulx/adcx/adox
  kFma,     // sums of points eight at a time in 49-bit limbs, AVX2 and FMA; all else as kScalar
  kIfma,    // eight elements at a time in 52-bit limbs, AVX-512 IFMA
};

/// "scalar", "fma" or "ifma", as in CUZK_CPU_ARITHMETIC.
std::string_view ArithmeticName(Arithmetic arithmetic);

/// Whether this processor and operating system run it.
bool IsSupported(Arithmetic arithmetic);

/// The best that is supported.
Arithmetic BestArithmetic();

/// `choice` by name, or the best if there is none or it is empty. InvalidArgument for an unknown name,
/// FailedPrecondition for one that this processor lacks, saying what is missing.
StatusOr<Arithmetic> ResolveArithmetic(std::optional<std::string_view> choice);
/// The same for a variable's value as std::getenv gives it; null: there is none.
StatusOr<Arithmetic> ResolveArithmetic(const char* choice);

/// OK if the processor has what the whole program is compiled for (AVX2, FMA, BMI2, ADX); FailedPrecondition names what
/// is missing. The programs call it first.
Status CheckProcessor();

}  // namespace cuzk::algebra
