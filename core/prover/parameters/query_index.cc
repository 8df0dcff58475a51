#include "core/prover/parameters/query_index.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/base/check.h"

namespace cuzk::prover {
namespace {

/// The largest end as of QueryIndex::EndOfPiece, where `before(x)` is what lies before aux x.
template <class Before>
uint64_t LargestEnd(uint64_t begin, uint64_t aux, uint64_t most, Before before) {
  const uint64_t start = begin == 0 ? 0 : before(begin);
  uint64_t low = begin / 64 + 1, high = (aux + 63) / 64;  // in words; `low` is taken in any case
  if (low >= high) return aux;
  while (low < high) {
    const uint64_t middle = (low + high + 1) / 2;
    if (before(std::min(middle * 64, aux)) - start <= most) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return std::min(low * 64, aux);
}

}  // namespace

Terms TermsOf(groth16::Query query) {
  CUZK_CHECK(query != groth16::Query::kH);
  if (query == groth16::Query::kL) return Terms::kL;
  return query == groth16::Query::kA ? Terms::kA : Terms::kB;
}

std::vector<uint32_t> WordRanks(const std::vector<uint64_t>& words) {
  std::vector<uint32_t> ranks(words.size());
  uint32_t before = 0;
  for (size_t w = 0; w < words.size(); ++w) {
    ranks[w] = before;
    before += static_cast<uint32_t>(std::popcount(words[w]));
  }
  return ranks;
}

QueryIndex::QueryIndex(std::shared_ptr<const r1cs::Shape> shape) : shape_(std::move(shape)) {
  for (Terms t : {Terms::kA, Terms::kB}) {
    const size_t k = static_cast<size_t>(t);
    std::vector<uint64_t> whole = members(t)->words();
    for (size_t w = 0; w < whole.size(); ++w) whole[w] &= ~shape_->boolean_aux.words()[w];
    term_ranks_[k] = WordRanks(whole);
  }
  inputs_[static_cast<size_t>(Terms::kA)].resize(shape_->counts.inputs);
  std::iota(inputs_[static_cast<size_t>(Terms::kA)].begin(), inputs_[static_cast<size_t>(Terms::kA)].end(), 0u);
  inputs_[static_cast<size_t>(Terms::kB)] = shape_->b_input.ToList();
}

const r1cs::IndexSet* QueryIndex::members(Terms terms) const {
  if (terms == Terms::kL) return nullptr;
  return terms == Terms::kA ? &shape_->a_aux : &shape_->b_aux;
}

uint64_t QueryIndex::PointsBefore(Terms terms, uint64_t aux) const {
  return terms == Terms::kL ? aux : inputs(terms).size() + members(terms)->Rank(aux);
}

uint64_t QueryIndex::TermsBefore(Terms terms, uint64_t aux) const {
  if (terms == Terms::kL) return WholeBefore(aux);
  const std::vector<uint32_t>& ranks = term_ranks(terms);
  if (ranks.empty()) return inputs(terms).size();
  // The last word answers for the end as well.
  const uint64_t w = std::min<uint64_t>(aux / 64, ranks.size() - 1), rest = aux - 64 * w;
  const uint64_t below = rest == 64 ? ~uint64_t{0} : (uint64_t{1} << rest) - 1;
  const uint64_t whole = members(terms)->words()[w] & ~shape_->boolean_aux.words()[w] & below;
  return inputs(terms).size() + ranks[w] + static_cast<uint64_t>(std::popcount(whole));
}

uint64_t QueryIndex::EndOfPiece(Terms terms, uint64_t begin, uint64_t points) const {
  return LargestEnd(begin, shape_->counts.aux, points, [&](uint64_t aux) { return PointsBefore(terms, aux); });
}

uint64_t QueryIndex::EndOfWholePiece(uint64_t begin, uint64_t whole) const {
  return LargestEnd(begin, shape_->counts.aux, whole, [&](uint64_t aux) { return WholeBefore(aux); });
}

}  // namespace cuzk::prover
