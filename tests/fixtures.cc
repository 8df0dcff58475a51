#include "tests/fixtures.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace cuzk::testing_support {

std::filesystem::path Vectors() { return CUZK_VECTORS; }

std::optional<std::filesystem::path> Fixtures() {
  const char* named = std::getenv("CUZK_FIXTURES");
  std::filesystem::path path = named ? named : CUZK_FIXTURES_DEFAULT;
  if (std::filesystem::is_directory(path)) return path;
  const char* required = std::getenv("CUZK_REQUIRE_FIXTURES");
  if (required && std::string_view(required) == "1") ADD_FAILURE() << "no ground truth at " << path;
  return std::nullopt;
}

}  // namespace cuzk::testing_support
