#pragma once
// Linear combinations as lists of terms, for the systems that know rows, and the names of what is being made.

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/r1cs/small.h"
#include "core/r1cs/system.h"
#include "core/r1cs/variable.h"

namespace cuzk::r1cs {

/// Terms in any order, variables may repeat; bounds of the value over all assignments.
class TermList {
 public:
  void Append(Variable variable, const Fr& coefficient) { terms_.push_back({variable, coefficient}); }
  /// A term whose value lies in k * {0, 1}.
  void BoundBit(int64_t k) { (k < 0 ? low_ : high_) += k; }
  void BoundOne(int64_t k) { low_ += k, high_ += k; }
  /// A term without bounds.
  void BoundWhole() { whole_ = true; }

  /// Whether every value fits in a signed byte.
  bool IsNarrow() const { return !whole_ && low_ >= -128 && high_ <= 127; }

  /// Sorts by variable, merges equal variables, drops zero coefficients.
  std::span<const Term> Normalize();

 private:
  void SortLong();
  absl::InlinedVector<Term, 6> terms_;
  int64_t low_ = 0, high_ = 0;
  bool whole_ = false;
};

/// The linear combination of ShapeRecorder and Checker.
template <class Cs>
class TermLc {
 public:
  /// Bounds are followed for coefficients up to this size; a larger one makes the combination wide.
  static constexpr unsigned kBoundedShift = 16;

  TermLc& Add(const Num<Cs>& x, int64_t k = 1) {
    list_.Append(x.id, SmallInteger(k));
    list_.BoundWhole();
    return *this;
  }
  TermLc& Add(const Num<Cs>& x, const Fr& k) {
    list_.Append(x.id, k);
    list_.BoundWhole();
    return *this;
  }
  TermLc& Add(const Bit<Cs>& x, int64_t k = 1) {
    list_.Append(x.id, SmallInteger(k));
    list_.BoundBit(k);
    return *this;
  }
  /// + 2^shift * x, or minus that.
  TermLc& AddShifted(const Bit<Cs>& x, unsigned shift, bool negative = false) {
    list_.Append(x.id, negative ? -kPowersOfTwo[shift] : kPowersOfTwo[shift]);
    if (shift > kBoundedShift) {
      list_.BoundWhole();
    } else {
      list_.BoundBit(negative ? -(int64_t{1} << shift) : int64_t{1} << shift);
    }
    return *this;
  }
  TermLc& AddOne(int64_t k = 1) {
    list_.Append(kOne, SmallInteger(k));
    list_.BoundOne(k);
    return *this;
  }
  TermLc& AddOne(const Fr& k) {
    list_.Append(kOne, k);
    list_.BoundWhole();
    return *this;
  }
  TermLc& AddOneShifted(unsigned shift) {
    list_.Append(kOne, kPowersOfTwo[shift]);
    if (shift > kBoundedShift) {
      list_.BoundWhole();
    } else {
      list_.BoundOne(int64_t{1} << shift);
    }
    return *this;
  }

  TermList& list() { return list_; }

 private:
  TermList list_;
};

/// The namespace of a system that knows names: a stack of name and index.
class NamePath {
 public:
  class Guard {
   public:
    explicit Guard(NamePath& path) : path_(path) {}
    ~Guard() { path_.frames_.pop_back(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    NamePath& path_;
  };
  [[nodiscard]] Guard Enter(const char* name, int64_t index) {
    frames_.push_back({name, index});
    return Guard(*this);
  }
  /// "challenge 0/comm_d path/level 3".
  std::string Text() const;

 private:
  struct Frame {
    const char* name;
    int64_t index;  // -1: none
  };
  std::vector<Frame> frames_;
};

}  // namespace cuzk::r1cs
