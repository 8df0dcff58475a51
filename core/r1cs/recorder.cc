#include "core/r1cs/recorder.h"

#include "core/base/check.h"

namespace cuzk::r1cs {

void BitList::Append(const BitList& other) {
  const unsigned shift = size_ % 64;
  if (shift == 0) {
    words_.insert(words_.end(), other.words_.begin(), other.words_.end());
  } else {
    for (uint64_t word : other.words_) {
      words_.back() |= word << shift;
      words_.push_back(word >> (64 - shift));
    }
  }
  size_ += other.size_;
  words_.resize((size_ + 63) / 64);
}

void BitList::Merge(const BitList& other) {
  CUZK_CHECK(other.size_ <= size_);
  for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
}

ShapeRecorder::ShapeRecorder(const Position& head, const Position& begin) : head_(head) {
  stretch_.begin = stretch_.end = begin;
  for (uint32_t i = 0; i < head.aux; ++i) {
    stretch_.head_a_aux.Push(false);
    stretch_.head_b_aux.Push(false);
  }
  for (uint32_t i = 0; i < head.inputs; ++i) stretch_.head_b_input.Push(false);
}

Variable ShapeRecorder::AllocateAux(bool boolean) {
  stretch_.a_aux.Push(false);
  stretch_.b_aux.Push(false);
  stretch_.boolean_aux.Push(boolean);
  return Variable::Aux(stretch_.end.aux++);
}

Num<ShapeRecorder> ShapeRecorder::AllocateInput(NoScalar) {
  stretch_.b_input.Push(false);
  return {Variable::Input(stretch_.end.inputs++), {}};
}

void ShapeRecorder::MarkA(std::span<const Term> terms) {
  for (const Term& term : terms) {
    if (!term.variable.is_aux()) continue;
    const uint32_t i = term.variable.index();
    if (i >= stretch_.begin.aux) {
      stretch_.a_aux.Set(i - stretch_.begin.aux);
    } else {
      CUZK_CHECK(i < head_.aux);
      stretch_.head_a_aux.Set(i);
    }
  }
}

void ShapeRecorder::MarkB(std::span<const Term> terms) {
  for (const Term& term : terms) {
    const uint32_t i = term.variable.index();
    const bool aux = term.variable.is_aux();
    const uint32_t begin = aux ? stretch_.begin.aux : stretch_.begin.inputs;
    if (i >= begin) {
      (aux ? stretch_.b_aux : stretch_.b_input).Set(i - begin);
    } else {
      CUZK_CHECK(i < (aux ? head_.aux : head_.inputs));
      (aux ? stretch_.head_b_aux : stretch_.head_b_input).Set(i);
    }
  }
}

void ShapeRecorder::Enforce(Lc&& a, Lc&& b, Lc&& c) {
  const std::array<TermList*, kMatrixCount> lists{&a.list(), &b.list(), &c.list()};
  Row row{stretch_.end.rows, {}};
  for (size_t m = 0; m < kMatrixCount; ++m) {
    row.sides[m] = lists[m]->Normalize();
    stretch_.nnz[m] += row.sides[m].size();
    stretch_.wide[m].Push(!lists[m]->IsNarrow());
  }
  MarkA(row.sides[0]);
  MarkB(row.sides[1]);
  if (sink_ != nullptr) sink_->OnRow(row);
  ++stretch_.end.rows;
}

namespace {

Position Plus(const Position& p, const Position& begin, const Position& end, uint64_t times) {
  return {static_cast<uint32_t>(p.inputs + times * (end.inputs - begin.inputs)),
          static_cast<uint32_t>(p.aux + times * (end.aux - begin.aux)), p.rows + times * (end.rows - begin.rows)};
}

}  // namespace

void ShapeBuilder::Append(const Stretch& s, uint64_t times) {
  if (blocks_.empty()) {
    // The head; ONE comes before it.
    all_.end = s.begin;
    for (uint32_t i = 0; i < s.begin.inputs; ++i) all_.b_input.Push(false);
  }
  CUZK_CHECK(s.begin == all_.end);
  for (uint64_t i = 0; i < times; ++i) {
    all_.a_aux.Append(s.a_aux);
    all_.b_aux.Append(s.b_aux);
    all_.b_input.Append(s.b_input);
    all_.boolean_aux.Append(s.boolean_aux);
    for (size_t m = 0; m < kMatrixCount; ++m) {
      all_.wide[m].Append(s.wide[m]);
      all_.nnz[m] += s.nnz[m];
    }
    all_.end = Plus(s.begin, s.begin, s.end, i + 1);
    blocks_.push_back(all_.end);
  }
  all_.a_aux.Merge(s.head_a_aux);
  all_.b_aux.Merge(s.head_b_aux);
  all_.b_input.Merge(s.head_b_input);
}

Shape ShapeBuilder::Finish() && {
  Shape shape;
  const Position end = all_.end;
  shape.counts = {end.inputs, end.aux, end.rows, all_.nnz};
  // Input rows: A is the input, which is 1 for ONE and anything for the others; B and C are empty.
  for (uint32_t i = 0; i < end.inputs; ++i) {
    all_.wide[0].Push(i != 0);
    all_.wide[1].Push(false);
    all_.wide[2].Push(false);
  }
  auto set = [](BitList& list) {
    const uint64_t size = list.size();
    std::vector<uint64_t> words = list.words();
    list = BitList();
    return IndexSet(size, std::move(words));
  };
  shape.a_aux = set(all_.a_aux);
  shape.b_aux = set(all_.b_aux);
  shape.b_input = set(all_.b_input);
  shape.boolean_aux = set(all_.boolean_aux);
  for (size_t m = 0; m < kMatrixCount; ++m) shape.wide[m] = set(all_.wide[m]);
  shape.blocks = std::move(blocks_);
  return shape;
}

}  // namespace cuzk::r1cs
