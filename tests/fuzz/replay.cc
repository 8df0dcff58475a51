// Runs a fuzz target over files without libFuzzer: each whole, then cut and changed at places spread over it.

#include <cstdio>
#include <string>

#include "core/base/file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void Run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

void RunChanged(const std::string& input) {
  constexpr size_t kPlaces = 61;
  for (size_t i = 0; i < kPlaces && !input.empty(); ++i) {
    size_t at = input.size() * i / kPlaces;
    Run(input.substr(0, at));
    Run(input.substr(at));
    std::string changed = input;
    changed[at] = static_cast<char>(changed[at] ^ 1 << i % 8);
    Run(changed);
    Run(input.substr(0, at) + input.substr(at / 2));
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    auto input = cuzk::ReadFile(argv[i]);
    if (!input.ok()) {
      std::fprintf(stderr, "%s\n", std::string(input.status().message()).c_str());
      return 1;
    }
    Run(*input);
    RunChanged(*input);
  }
  std::printf("%d files\n", argc - 1);
  return argc > 1 ? 0 : 1;
}
