#pragma once
// Where the variables of a circuit are in its queries: how many points, terms and whole values lie before a variable,
// so that a query can be summed in pieces.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/groth16/parameter_file.h"
#include "core/r1cs/shape.h"

namespace cuzk::prover {

/// The queries over variables; b_g1 and b_g2 share theirs.
enum class Terms { kL, kA, kB };
inline constexpr size_t kTerms = 3;
/// `query` is not kH.
Terms TermsOf(groth16::Query query);

/// Members below 64 w, for every word w.
std::vector<uint32_t> WordRanks(const std::vector<uint64_t>& words);

/// Immutable; any number of threads. Positions are aux: "before aux" counts the query's inputs too, which come first.
/// A term is a variable of the query whose scalar is a whole field element; inputs are terms.
class QueryIndex {
 public:
  explicit QueryIndex(std::shared_ptr<const r1cs::Shape> shape);

  /// Points of the query's section before `aux`; aux <= the number of aux.
  uint64_t PointsBefore(Terms terms, uint64_t aux) const;
  uint64_t TermsBefore(Terms terms, uint64_t aux) const;
  /// Aux before `aux` that are not boolean.
  uint64_t WholeBefore(uint64_t aux) const { return aux - shape_->boolean_aux.Rank(aux); }

  /// The largest end <= the number of aux, a multiple of 64 or that number, such that of [begin, end) there are at most
  /// `points` points of the query and `whole` whole values. At least one word of 64 is taken: points >= 64 plus the
  /// query's inputs, whole >= 64.
  uint64_t EndOfPiece(Terms terms, uint64_t begin, uint64_t points) const;
  uint64_t EndOfWholePiece(uint64_t begin, uint64_t whole) const;

  /// The query's aux; null for kL, which has all.
  const r1cs::IndexSet* members(Terms terms) const;
  /// Terms among aux before 64 w, without inputs; empty for kL.
  const std::vector<uint32_t>& term_ranks(Terms terms) const { return term_ranks_[static_cast<size_t>(terms)]; }
  /// The query's inputs, ascending.
  const std::vector<uint32_t>& inputs(Terms terms) const { return inputs_[static_cast<size_t>(terms)]; }

 private:
  std::shared_ptr<const r1cs::Shape> shape_;
  std::array<std::vector<uint32_t>, kTerms> term_ranks_;
  std::array<std::vector<uint32_t>, kTerms> inputs_;
};

}  // namespace cuzk::prover
