#pragma once
// What a device keeps of a circuit's shape: which rows are wide, which variables each query has, and where its terms
// with whole scalars are. Everything is a bit set with ranks: a word and a rank for 64 rows or variables.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/groth16/parameter_file.h"
#include "core/prover/parameters/query_index.h"
#include "core/r1cs/shape.h"
#include "gpu/prover/witness_kernels.h"
#include "gpu/runtime/buffer.h"
#include "gpu/runtime/stream.h"

namespace cuzk::gpu {

using prover::Terms;

class CircuitTables {
 public:
  /// Copies to the current card and waits.
  static StatusOr<CircuitTables> Make(std::shared_ptr<const r1cs::Shape> shape, DeviceMemory& memory,
                                      StreamView stream);

  RankedBits wide_rows(r1cs::Matrix m) const { return wide_rows_[static_cast<size_t>(m)].view(); }
  RankedBits boolean() const { return boolean_.view(); }
  TermTables terms(Terms t) const;
  /// The same on the host: how much of each query lies before a variable.
  const prover::QueryIndex& index() const { return *index_; }

 private:
  struct Set {
    Buffer<uint64_t> words;
    Buffer<uint32_t> ranks;
    RankedBits view() const { return {words.data(), ranks.data()}; }
  };
  static StatusOr<Set> UploadSet(const r1cs::IndexSet& set, DeviceMemory& memory, StreamView stream);

  std::array<Set, r1cs::kMatrixCount> wide_rows_;
  Set boolean_;
  std::array<Set, prover::kTerms> members_;
  std::array<Buffer<uint32_t>, prover::kTerms> term_ranks_;
  std::array<Buffer<uint32_t>, prover::kTerms> input_lists_;
  std::unique_ptr<const prover::QueryIndex> index_;
};

}  // namespace cuzk::gpu
