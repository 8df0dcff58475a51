#include "core/filecoin/parameter_bytes.h"

#include "core/groth16/parameter_file.h"

namespace cuzk::filecoin {
namespace {

struct Row {
  std::string_view circuit;
  uint64_t bytes;
};
// They follow from the circuits' densities; a test counts those again.
// clang-format off
constexpr Row kRows[] = {
    {"porep-2k", 1114707768},
    {"porep-8m", 1429027896},
    {"porep-512m", 1988841144},
    {"porep-32g", 47373928632},
    {"porep-64g", 47624967288},
    {"wpost-2k", 11501496},
    {"wpost-8m", 30859704},
    {"wpost-512m", 45257400},
    {"wpost-32g", 60780374232},
    {"wpost-64g", 62556733560},
    {"winning-2k", 47299128},
    {"winning-8m", 113383224},
    {"winning-512m", 165299640},
    {"winning-32g", 192050232},
    {"winning-64g", 200014584},
    {"snap-2k", 655789464},
    {"snap-8m", 4268165208},
    {"snap-512m", 21741422712},
    {"snap-32g", 34453501368},
    {"snap-64g", 35507495352},
};
// clang-format on

}  // namespace

uint64_t ParameterBytes(const Circuit& circuit) {
  for (const Row& row : kRows) {
    if (row.circuit == circuit.id) return row.bytes;
  }
  return 0;
}

Status CheckParameterHead(const Circuit& circuit, const std::filesystem::path& file) {
  return groth16::CheckHead(file, ParameterBytes(circuit));
}

}  // namespace cuzk::filecoin
