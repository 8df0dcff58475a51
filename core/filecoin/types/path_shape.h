#pragma once
// Where the levels of a Merkle path stand in the flat list of its siblings.

#include <vector>

#include "core/circuit/values/path.h"

namespace cuzk::filecoin {

/// Derived once per tree shape; used by the readers and by native checks.
class PathShape {
 public:
  explicit PathShape(const circuit::TreeShape& tree);

  struct Level {
    uint32_t arity;
    uint32_t first_sibling;  // index in PathInputs::siblings
    uint64_t weight;         // of the level's digit in the leaf's index
  };
  const std::vector<Level>& levels() const { return levels_; }
  /// The levels of a path come in up to three sections: base, sub and top. Ends of the sections among the levels.
  const std::vector<size_t>& sections() const { return sections_; }
  size_t siblings() const { return siblings_; }

  /// The variant names and their numbers in JSON and bincode follow the number of sections.
  static constexpr const char* kVariants[] = {"Single", "Sub", "Top"};
  const char* variant() const { return kVariants[sections_.size() - 1]; }

 private:
  std::vector<Level> levels_;
  std::vector<size_t> sections_;
  size_t siblings_ = 0;
};

}  // namespace cuzk::filecoin
