#pragma once
// The stacked graph of PoRep: which nodes are the parents of a node.

#include <array>
#include <cstdint>

#include "core/base/bytes.h"
#include "core/filecoin/types/registry.h"

namespace cuzk::filecoin {

struct Parents {
  std::array<uint64_t, kDrgParents> drg;  // in the order that labels and public inputs have
  std::array<uint64_t, kExpanderParents> expander;
};

/// The graph of one seal proof: depth-robust parents sampled with ChaCha8, expander parents through a Feistel
/// permutation of the 8 N edges. Immutable.
class Graph {
 public:
  /// The graph of a registered seal proof.
  explicit Graph(const RegisteredProof& seal);
  Graph(const Bytes32& porep_id, uint64_t nodes, ApiVersion version);

  uint64_t nodes() const { return nodes_; }
  /// `node` is below nodes().
  Parents ParentsOf(uint64_t node) const;

 private:
  std::array<uint64_t, kDrgParents> DrgParents(uint64_t node) const;
  uint64_t Permute(uint64_t edge) const;

  uint64_t nodes_;
  ApiVersion version_;
  Bytes32 drg_seed_;  // its last four bytes are the node's number
  std::array<uint64_t, 3> feistel_keys_;
  unsigned half_bits_;  // of a Feistel block
};

}  // namespace cuzk::filecoin
