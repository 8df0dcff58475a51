#pragma once
// Poseidon hashes worked out several at a time, before the rows that need them are written. Paths to different leaves
// do not depend on each other, so their levels are hashed side by side, in lanes where the processor has them.

#include <deque>
#include <span>
#include <vector>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/circuit/poseidon/poseidon_many.h"
#include "core/circuit/values/path.h"
#include "core/r1cs/writer.h"

namespace cuzk::circuit {

/// What a path starts from.
struct PathStart {
  Fr leaf;
  const PathInputs* path;
};

/// A queue in the order in which the hashes will be asked for. A hash that was not foreseen is computed when it is
/// asked for, so that what is prepared decides the speed and never the result.
class PreparedHashes final : public r1cs::Prepared {
 public:
  explicit PreparedHashes(algebra::Arithmetic arithmetic) : arithmetic_(arithmetic) {}

  /// Hashes of preimages (`arity` elements each) with the tag of Merkle trees; returns the number of this batch.
  size_t Compute(std::vector<Fr> preimages, uint32_t arity);
  const Fr& digest(size_t batch, size_t i) const { return batches_[batch].traces.digest(i); }
  /// Hash i of a batch will be asked for after those expected so far.
  void Expect(size_t batch, size_t i) { queue_.push_back({batch, i}); }

  /// Hashes all paths of a Poseidon tree level by level; gives the batch of each level, whose entry i belongs to
  /// starts[i].
  std::vector<size_t> ComputePaths(const TreeShape& shape, std::span<const PathStart> starts);

  /// If the next expected hash is that of `preimage`, shows its values to the trace and takes it from the queue.
  template <class Trace>
  bool Replay(std::span<const Fr> preimage, Trace& trace, Fr* digest) {
    if (queue_.empty()) return false;
    const auto [number, i] = queue_.front();
    const Batch& batch = batches_[number];
    if (!batch.Has(i, preimage)) return false;
    queue_.pop_front();
    batch.traces.Replay(i, trace);
    *digest = batch.traces.digest(i);
    return true;
  }

 private:
  struct Batch {
    std::vector<Fr> preimages;
    uint32_t arity;
    PoseidonTraces traces;
    bool Has(size_t i, std::span<const Fr> preimage) const;
  };
  struct Place {
    size_t batch, index;
  };
  const algebra::Arithmetic arithmetic_;
  std::deque<Batch> batches_;
  std::deque<Place> queue_;
};

}  // namespace cuzk::circuit
