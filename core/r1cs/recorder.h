#pragma once
// The reading of a circuit that has rows and no values.

#include <array>
#include <cstdint>
#include <vector>

#include "core/r1cs/shape.h"
#include "core/r1cs/system.h"
#include "core/r1cs/terms.h"

namespace cuzk::r1cs {

/// A bitmap that grows.
class BitList {
 public:
  uint64_t size() const { return size_; }
  const std::vector<uint64_t>& words() const { return words_; }
  void Push(bool bit) {
    if (size_ % 64 == 0) words_.push_back(0);
    words_.back() |= static_cast<uint64_t>(bit) << (size_ % 64);
    ++size_;
  }
  void Set(uint64_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  /// Puts all of `other` behind this.
  void Append(const BitList& other);
  /// This |= other, for bits below other.size(); other must not be longer.
  void Merge(const BitList& other);

 private:
  uint64_t size_ = 0;
  std::vector<uint64_t> words_;
};

/// What one recorder recorded: a stretch of a circuit from `begin` to `end`. Bit i of a list stands for item begin + i.
struct Stretch {
  Position begin, end;
  std::array<uint64_t, kMatrixCount> nnz{};
  BitList a_aux, b_aux, b_input, boolean_aux;
  std::array<BitList, kMatrixCount> wide;
  /// The same densities for the head's variables, which every block may use.
  BitList head_a_aux, head_b_aux, head_b_input;
};

/// Records from a position on. One thread. Rows go to the sink, if there is one, as they are made.
class ShapeRecorder {
 public:
  using Id = Variable;
  using Scalar = NoScalar;
  using Flag = NoFlag;
  using Lc = TermLc<ShapeRecorder>;
  static constexpr bool kComputes = false;
  static constexpr bool kNativeBodies = false;

  /// Records a circuit from its beginning.
  ShapeRecorder() : ShapeRecorder(Position{1, 0, 0}, Position{1, 0, 0}) {}
  /// Records an independent block that begins at `begin` and uses variables below `head` besides its own.
  ShapeRecorder(const Position& head, const Position& begin);

  void set_sink(RowSink* sink) { sink_ = sink; }
  const Position& position() const { return stretch_.end; }
  const NamePath& names() const { return names_; }
  /// What was recorded; the recorder is spent.
  Stretch Take() && { return std::move(stretch_); }

  Num<ShapeRecorder> AllocateNum(NoScalar) { return {AllocateAux(false), {}}; }
  Bit<ShapeRecorder> AllocateBit(NoFlag) { return {AllocateAux(true), {}}; }
  Num<ShapeRecorder> AllocateInput(NoScalar);
  void Enforce(Lc&& a, Lc&& b, Lc&& c);
  [[nodiscard]] NamePath::Guard Scope(const char* name, int64_t index = -1) { return names_.Enter(name, index); }
  void Broken(const Relation&) {}

 private:
  Variable AllocateAux(bool boolean);
  void MarkA(std::span<const Term> terms);
  void MarkB(std::span<const Term> terms);

  const Position head_;
  Stretch stretch_;
  RowSink* sink_ = nullptr;
  NamePath names_;
};

/// Puts stretches together, in order: the head, then the blocks.
class ShapeBuilder {
 public:
  /// `stretch` begins where the previous one ended. It is appended `times` times, for blocks that differ only by a
  /// shift of their own variables.
  void Append(const Stretch& stretch, uint64_t times = 1);
  /// Adds the input rows.
  Shape Finish() &&;

 private:
  Stretch all_;
  std::vector<Position> blocks_;
};

}  // namespace cuzk::r1cs
