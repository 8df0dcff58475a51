#include "gpu/prover/circuit_tables.h"

#include <bit>

namespace cuzk::gpu {
namespace {

template <class T>
StatusOr<Buffer<T>> Upload(const std::vector<T>& values, DeviceMemory& memory, StreamView stream) {
  CUZK_ASSIGN_OR_RETURN(auto buffer, Buffer<T>::Allocate(memory, values.size()));
  CUZK_CUDA(cudaMemcpyAsync(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice, stream.get()));
  CUZK_RETURN_IF_ERROR(stream.Synchronize());
  return buffer;
}

/// Members below 64 w, for every word.
std::vector<uint32_t> WordRanks(const std::vector<uint64_t>& words) {
  std::vector<uint32_t> ranks(words.size());
  uint32_t before = 0;
  for (size_t w = 0; w < words.size(); ++w) {
    ranks[w] = before;
    before += static_cast<uint32_t>(std::popcount(words[w]));
  }
  return ranks;
}

/// Calls visit(aux, number of the wide aux) for every aux that is not boolean.
template <class Visit>
void ForEachWideAux(const r1cs::Shape& shape, Visit visit) {
  const auto& boolean = shape.boolean_aux.words();
  uint32_t number = 0;
  for (uint64_t w = 0; w * 64 < shape.counts.aux; ++w) {
    uint64_t rest = ~boolean[w];
    if (shape.counts.aux - w * 64 < 64) rest &= (uint64_t{1} << (shape.counts.aux - w * 64)) - 1;
    for (; rest != 0; rest &= rest - 1) {
      visit(static_cast<uint32_t>(w * 64 + static_cast<unsigned>(std::countr_zero(rest))), number++);
    }
  }
}

struct TermLists {
  std::vector<uint32_t> source, point;
  void Add(uint32_t s, uint32_t p) {
    source.push_back(s);
    point.push_back(p);
  }
};

TermLists ListsOf(const r1cs::Shape& shape, Terms t, const std::vector<uint32_t>& ranks) {
  TermLists r;
  uint32_t inputs = shape.counts.inputs, point = 0;
  if (t != Terms::kL) {
    for (uint32_t i = 0; i < inputs; ++i) {
      if (t == Terms::kA || shape.b_input.Contains(i)) r.Add(i, point++);
    }
  }
  const r1cs::IndexSet* members = t == Terms::kA ? &shape.a_aux : t == Terms::kB ? &shape.b_aux : nullptr;
  ForEachWideAux(shape, [&](uint32_t aux, uint32_t number) {
    if (members == nullptr) {
      r.Add(inputs + number, aux);
    } else if (members->Contains(aux)) {
      uint64_t below = members->words()[aux / 64] & ((uint64_t{1} << (aux % 64)) - 1);
      r.Add(inputs + number, point + ranks[aux / 64] + static_cast<uint32_t>(std::popcount(below)));
    }
  });
  return r;
}

}  // namespace

StatusOr<CircuitTables> CircuitTables::Make(const r1cs::Shape& shape, DeviceMemory& memory, StreamView stream) {
  CircuitTables tables;
  for (size_t m = 0; m < r1cs::kMatrixCount; ++m) {
    CUZK_ASSIGN_OR_RETURN(tables.wide_rows_[m], Upload(shape.wide[m].ToList(), memory, stream));
  }
  CUZK_ASSIGN_OR_RETURN(tables.boolean_, Upload(shape.boolean_aux.words(), memory, stream));
  CUZK_ASSIGN_OR_RETURN(tables.boolean_ranks_, Upload(WordRanks(shape.boolean_aux.words()), memory, stream));
  for (Terms t : {Terms::kL, Terms::kA, Terms::kB}) {
    size_t k = static_cast<size_t>(t);
    std::vector<uint32_t> ranks;
    if (t != Terms::kL) {
      const r1cs::IndexSet& members = t == Terms::kA ? shape.a_aux : shape.b_aux;
      ranks = WordRanks(members.words());
      CUZK_ASSIGN_OR_RETURN(tables.members_[k], Upload(members.words(), memory, stream));
      CUZK_ASSIGN_OR_RETURN(tables.ranks_[k], Upload(ranks, memory, stream));
      tables.input_points_[k] = t == Terms::kA ? shape.counts.inputs : shape.b_input.count();
    }
    TermLists lists = ListsOf(shape, t, ranks);
    CUZK_ASSIGN_OR_RETURN(tables.wide_[k].source, Upload(lists.source, memory, stream));
    CUZK_ASSIGN_OR_RETURN(tables.wide_[k].point, Upload(lists.point, memory, stream));
    tables.wide_[k].points = std::move(lists.point);
  }
  return tables;
}

uint64_t CircuitTables::Bytes(const r1cs::Shape& shape) {
  uint64_t words = (shape.counts.aux + 63) / 64, wide = shape.wide_aux_count() + shape.counts.inputs, rows = 0;
  for (const auto& set : shape.wide) rows += set.count();
  return 4 * rows + 3 * words * 12 + kTerms * wide * 8;
}

}  // namespace cuzk::gpu
