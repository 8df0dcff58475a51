#pragma once
// The name that a mistyped word most likely means.

#include <span>
#include <string>
#include <string_view>

namespace cuzk {

/// The least number of single characters to insert, remove, replace or swap with their neighbour that turns one text
/// into the other.
size_t EditDistance(std::string_view a, std::string_view b);

/// The name with the least edit distance to the word, if at most a third of the word's characters (and at least one)
/// differ; the first of several. Empty if no name is that near.
std::string NearestName(std::string_view word, std::span<const std::string> names);

/// "; did you mean \"NAME\"?" for the nearest name; empty if there is none.
std::string DidYouMean(std::string_view word, std::span<const std::string> names);

}  // namespace cuzk
