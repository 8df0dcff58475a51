#pragma once
// Where ground truth is found. The repository's own vectors are always there; the full set is used where it exists.

#include <filesystem>
#include <optional>

namespace cuzk::testing_support {

/// tests/vectors of the repository.
std::filesystem::path Vectors();

/// The full set of ground truth: the environment's CUZK_FIXTURES, else the CMake variable of that name. Nothing where
/// it does not exist; then, with CUZK_REQUIRE_FIXTURES=1 in the environment, the calling test fails.
std::optional<std::filesystem::path> Fixtures();

}  // namespace cuzk::testing_support
