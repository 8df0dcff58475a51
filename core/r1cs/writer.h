#pragma once
// The reading of a circuit that has values and no rows: it assigns variables and evaluates a, b and c in place.

#include <optional>

#include "core/base/check.h"
#include "core/r1cs/layout.h"
#include "core/r1cs/shape.h"
#include "core/r1cs/streams.h"
#include "core/r1cs/system.h"

namespace cuzk::r1cs {

/// The streams of a stretch of a witness.
struct WriterStreams {
  std::array<RowStream, kMatrixCount> rows;
  AuxStream aux;
  Fr* inputs = nullptr;

  /// At position `at` of the memory that `layout` = LeaseLayout::ForRange(shape, _, begin, _) describes.
  static WriterStreams At(const Shape& shape, const LeaseLayout& layout, const Position& begin, std::byte* memory,
                          const Position& at);
};

/// Zeroes the word of the narrow aux plane that holds variable `at`.aux, if two stretches share it: before either is
/// written. No effect in the plain layout.
void ClearSharedWord(const LeaseLayout& layout, const Position& begin, std::byte* memory, const Position& at);

/// Results that native bodies computed before their rows are written. Only the gadgets know their form.
class Prepared {
 public:
  virtual ~Prepared() = default;
};

/// Writes one stretch. Variables are their values. One thread; several writers may write different stretches of one
/// lease at once. `kNative`: whether gadgets take the bodies made for writing; the plain bodies evaluate every row as
/// the circuit's source says, and tests hold both equal.
template <bool kNative>
class BasicWitnessWriter {
 public:
  using Id = NoId;
  using Scalar = Fr;
  using Flag = bool;
  static constexpr bool kComputes = true;
  static constexpr bool kNativeBodies = kNative;
  using NumType = Num<BasicWitnessWriter>;
  using BitType = Bit<BasicWitnessWriter>;

  /// The value of a linear combination: integers of bits apart from field elements.
  class Lc {
   public:
    Lc& Add(const NumType& x, int64_t k = 1) {
      whole_ = true;
      if (k == 1) {
        sum_ += x.value;
      } else {
        sum_ += x.value * SmallInteger(k);
      }
      return *this;
    }
    Lc& Add(const NumType& x, const Fr& k) {
      whole_ = true;
      sum_ += x.value * k;
      return *this;
    }
    Lc& Add(const BitType& x, int64_t k = 1) {
      small_ += x.value ? k : 0;
      return *this;
    }
    Lc& AddShifted(const BitType& x, unsigned shift, bool negative = false) {
      if (shift > kSmallShift) {
        whole_ = true;
        if (x.value) negative ? sum_ -= kPowersOfTwo[shift] : sum_ += kPowersOfTwo[shift];
      } else if (x.value) {
        small_ += negative ? -(int64_t{1} << shift) : int64_t{1} << shift;
      }
      return *this;
    }
    Lc& AddOne(int64_t k = 1) {
      small_ += k;
      return *this;
    }
    Lc& AddOne(const Fr& k) {
      whole_ = true;
      sum_ += k;
      return *this;
    }
    Lc& AddOneShifted(unsigned shift) { return AddShifted(BitType{{}, true}, shift); }

   private:
    friend class BasicWitnessWriter;
    static constexpr unsigned kSmallShift = 40;
    Fr Value() const { return small_ == 0 ? sum_ : sum_ + SmallInteger(small_); }
    int64_t small_ = 0;
    Fr sum_ = Fr::Zero();
    bool whole_ = false;
  };

  /// Writes from `begin` on. `shape` and the memory must outlive the writer.
  BasicWitnessWriter(const Shape& shape, const WriterStreams& streams, const Position& begin)
      : shape_(shape), streams_(streams), begin_row_(begin.rows), begin_narrow_(streams.rows[0].narrow()) {}

  NumType AllocateNum(const Fr& value) {
    streams_.aux.PushWide(value);
    return {{}, value};
  }
  BitType AllocateBit(bool value) {
    streams_.aux.PushBit(value);
    return {{}, value};
  }
  NumType AllocateInput(const Fr& value) {
    *streams_.inputs++ = value;
    return {{}, value};
  }
  void Enforce(const Lc& a, const Lc& b, const Lc& c) {
    const uint64_t row = begin_row_ + static_cast<uint64_t>(streams_.rows[0].narrow() - begin_narrow_);
    PushRow(0, row, a);
    PushRow(1, row, b);
    PushRow(2, row, c);
  }
  NoScope Scope(const char*, int64_t = -1) { return {}; }
  void Broken(const Relation& relation) {
    if (!broken_) broken_ = relation;
  }

  /// The first relation that does not hold.
  const std::optional<Relation>& broken() const { return broken_; }
  /// Ends the stretch. `end` are the streams at its expected end: our own invariant.
  void Finish(const WriterStreams& end) {
    streams_.aux.Flush();
    _mm_sfence();
    for (size_t m = 0; m < kMatrixCount; ++m) {
      CUZK_CHECK(streams_.rows[m].narrow() == end.rows[m].narrow() && streams_.rows[m].wide() == end.rows[m].wide());
    }
    CUZK_CHECK(streams_.aux.bits() == end.aux.bits() && streams_.aux.fill() == end.aux.fill());
    CUZK_CHECK(streams_.aux.wide() == end.aux.wide() && streams_.inputs == end.inputs);
  }

  /// Not owned; may be null.
  void set_prepared(Prepared* prepared) { prepared_ = prepared; }
  Prepared* prepared() const { return prepared_; }

  /// For native bodies: they push the same values in the same order, as narrow or wide as the shape has them.
  RowStream& a() { return streams_.rows[0]; }
  RowStream& b() { return streams_.rows[1]; }
  RowStream& c() { return streams_.rows[2]; }
  AuxStream& aux() { return streams_.aux; }

 private:
  void PushRow(size_t m, uint64_t row, const Lc& lc) {
    if (begin_narrow_ != nullptr && !shape_.wide[m].Contains(row)) {
      CUZK_CHECK(!lc.whole_ && lc.small_ >= -128 && lc.small_ <= 127);
      streams_.rows[m].Push(static_cast<int8_t>(lc.small_));
    } else {
      streams_.rows[m].Push(lc.Value());
    }
  }

  const Shape& shape_;
  WriterStreams streams_;
  const uint64_t begin_row_;
  const int8_t* const begin_narrow_;  // null in the plain layout, which needs no row numbers
  Prepared* prepared_ = nullptr;
  std::optional<Relation> broken_;
};

using WitnessWriter = BasicWitnessWriter<true>;
using PlainBodyWriter = BasicWitnessWriter<false>;

}  // namespace cuzk::r1cs
