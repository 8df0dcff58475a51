#pragma once
// Booleans: bits, their negations and constants, and the rows of operations on them.

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "core/circuit/values/values.h"
#include "core/r1cs/system.h"

namespace cuzk::circuit {

using r1cs::Bit;
using r1cs::Choose;
using r1cs::Given;
using r1cs::Num;

/// The empty combination, the constant 1, and single variables.
template <class Cs>
typename Cs::Lc Zero() {
  return {};
}
template <class Cs>
typename Cs::Lc One() {
  typename Cs::Lc lc;
  lc.AddOne();
  return lc;
}
template <class Cs>
typename Cs::Lc Just(const Num<Cs>& x) {
  typename Cs::Lc lc;
  lc.Add(x);
  return lc;
}
template <class Cs>
typename Cs::Lc Just(const Bit<Cs>& x) {
  typename Cs::Lc lc;
  lc.Add(x);
  return lc;
}
/// 1 - x.
template <class Cs>
typename Cs::Lc Complement(const Bit<Cs>& x) {
  typename Cs::Lc lc;
  lc.AddOne().Add(x, -1);
  return lc;
}

/// A bit, the negation of a bit, or a constant.
template <class Cs>
class Boolean {
 public:
  using Flag = typename Cs::Flag;
  enum class Form : uint8_t { kIs, kNot, kZero, kOne };

  Boolean() = default;
  static Boolean Is(const Bit<Cs>& bit) { return Boolean(Form::kIs, bit); }
  static Boolean Not(const Bit<Cs>& bit) { return Boolean(Form::kNot, bit); }
  static Boolean Constant(bool value) { return Boolean(value ? Form::kOne : Form::kZero, {}); }

  bool is_constant() const { return form_ == Form::kZero || form_ == Form::kOne; }
  bool IsConstant(bool value) const { return form_ == (value ? Form::kOne : Form::kZero); }
  bool is_not() const { return form_ == Form::kNot; }
  Form form() const { return form_; }
  const Bit<Cs>& bit() const { return bit_; }

  Boolean operator!() const {
    switch (form_) {
      case Form::kIs:
        return Not(bit_);
      case Form::kNot:
        return Is(bit_);
      default:
        return Constant(form_ == Form::kZero);
    }
  }
  /// The logical value.
  Flag value() const {
    if constexpr (Cs::kComputes) {
      return is_constant() ? form_ == Form::kOne : bit_.value != is_not();
    } else {
      return {};
    }
  }

  /// lc += k * this.
  void AddTo(typename Cs::Lc& lc, int64_t k = 1) const {
    switch (form_) {
      case Form::kIs:
        lc.Add(bit_, k);
        break;
      case Form::kNot:
        lc.AddOne(k).Add(bit_, -k);
        break;
      case Form::kOne:
        lc.AddOne(k);
        break;
      case Form::kZero:
        break;
    }
  }
  /// lc += 2^shift * this.
  void AddShiftedTo(typename Cs::Lc& lc, unsigned shift) const {
    switch (form_) {
      case Form::kIs:
        lc.AddShifted(bit_, shift);
        break;
      case Form::kNot:
        lc.AddOneShifted(shift).AddShifted(bit_, shift, true);
        break;
      case Form::kOne:
        lc.AddOneShifted(shift);
        break;
      case Form::kZero:
        break;
    }
  }
  typename Cs::Lc ToLc() const {
    typename Cs::Lc lc;
    AddTo(lc);
    return lc;
  }

 private:
  Boolean(Form form, const Bit<Cs>& bit) : form_(form), bit_(bit) {}
  Form form_ = Form::kZero;
  [[no_unique_address]] Bit<Cs> bit_{};
};

template <class Cs>
using Booleans = std::vector<Boolean<Cs>>;

/// A new bit with its boolean row: [1 - a] * [a] = [0].
template <class Cs>
Bit<Cs> AllocateBit(Cs& cs, typename Cs::Flag value) {
  Bit<Cs> bit = cs.AllocateBit(value);
  cs.Enforce(Complement<Cs>(bit), Just<Cs>(bit), Zero<Cs>());
  return bit;
}

/// c = a xor b: [2a] * [b] = [a + b - c].
template <class Cs>
Bit<Cs> BitXor(Cs& cs, const Bit<Cs>& a, const Bit<Cs>& b) {
  Bit<Cs> c = cs.AllocateBit(a.value ^ b.value);
  typename Cs::Lc twice, sum;
  twice.Add(a, 2);
  sum.Add(a).Add(b).Add(c, -1);
  cs.Enforce(std::move(twice), Just<Cs>(b), std::move(sum));
  return c;
}
/// c = a and b.
template <class Cs>
Bit<Cs> BitAnd(Cs& cs, const Bit<Cs>& a, const Bit<Cs>& b) {
  Bit<Cs> c = cs.AllocateBit(a.value & b.value);
  cs.Enforce(Just<Cs>(a), Just<Cs>(b), Just<Cs>(c));
  return c;
}
/// c = a and not b.
template <class Cs>
Bit<Cs> BitAndNot(Cs& cs, const Bit<Cs>& a, const Bit<Cs>& b) {
  Bit<Cs> c = cs.AllocateBit(a.value & (!b.value));
  cs.Enforce(Just<Cs>(a), Complement<Cs>(b), Just<Cs>(c));
  return c;
}
/// c = neither a nor b.
template <class Cs>
Bit<Cs> BitNor(Cs& cs, const Bit<Cs>& a, const Bit<Cs>& b) {
  Bit<Cs> c = cs.AllocateBit((!a.value) & (!b.value));
  cs.Enforce(Complement<Cs>(a), Complement<Cs>(b), Just<Cs>(c));
  return c;
}

/// At most one row; none if an operand is constant.
template <class Cs>
Boolean<Cs> Xor(Cs& cs, const Boolean<Cs>& a, const Boolean<Cs>& b) {
  if (a.IsConstant(false)) return b;
  if (b.IsConstant(false)) return a;
  if (a.IsConstant(true)) return !b;
  if (b.IsConstant(true)) return !a;
  if (a.is_not() != b.is_not()) {
    // The plain operand goes to side A, whichever it is.
    const Bit<Cs>& plain = a.is_not() ? b.bit() : a.bit();
    const Bit<Cs>& negated = a.is_not() ? a.bit() : b.bit();
    return Boolean<Cs>::Not(BitXor(cs, plain, negated));
  }
  return Boolean<Cs>::Is(BitXor(cs, a.bit(), b.bit()));
}

/// At most one row; none if an operand is constant.
template <class Cs>
Boolean<Cs> And(Cs& cs, const Boolean<Cs>& a, const Boolean<Cs>& b) {
  if (a.IsConstant(false) || b.IsConstant(false)) return Boolean<Cs>::Constant(false);
  if (a.IsConstant(true)) return b;
  if (b.IsConstant(true)) return a;
  if (a.is_not() && b.is_not()) return Boolean<Cs>::Is(BitNor(cs, a.bit(), b.bit()));
  if (a.is_not()) return Boolean<Cs>::Is(BitAndNot(cs, b.bit(), a.bit()));
  if (b.is_not()) return Boolean<Cs>::Is(BitAndNot(cs, a.bit(), b.bit()));
  return Boolean<Cs>::Is(BitAnd(cs, a.bit(), b.bit()));
}

/// SHA-256's choice, a ? b : c. At most one row.
template <class Cs>
Boolean<Cs> ShaChoice(Cs& cs, const Boolean<Cs>& a, const Boolean<Cs>& b, const Boolean<Cs>& c) {
  if (a.is_constant() && b.is_constant() && c.is_constant()) {
    return a.IsConstant(true) ? b : c;
  }
  if (a.IsConstant(false)) return c;
  if (b.IsConstant(false)) return And(cs, !a, c);
  if (c.IsConstant(false)) return And(cs, a, b);
  if (c.IsConstant(true)) return !And(cs, a, !b);
  if (b.IsConstant(true)) return !And(cs, !a, !c);
  const typename Cs::Flag x = a.value(), y = b.value(), z = c.value();
  Bit<Cs> choice = cs.AllocateBit((x & y) ^ ((!x) & z));
  typename Cs::Lc difference, rest;
  b.AddTo(difference);
  c.AddTo(difference, -1);
  rest.Add(choice);
  c.AddTo(rest, -1);
  cs.Enforce(std::move(difference), a.ToLc(), std::move(rest));
  return Boolean<Cs>::Is(choice);
}

/// SHA-256's majority. At most two rows.
template <class Cs>
Boolean<Cs> ShaMajority(Cs& cs, const Boolean<Cs>& a, const Boolean<Cs>& b, const Boolean<Cs>& c) {
  if (a.is_constant() && b.is_constant() && c.is_constant()) {
    const int ones = a.IsConstant(true) + b.IsConstant(true) + c.IsConstant(true);
    return Boolean<Cs>::Constant(ones >= 2);
  }
  if (a.IsConstant(false)) return And(cs, b, c);
  if (b.IsConstant(false)) return And(cs, a, c);
  if (c.IsConstant(false)) return And(cs, a, b);
  if (c.IsConstant(true)) return !And(cs, !a, !b);
  if (b.IsConstant(true)) return !And(cs, !a, !c);
  if (a.IsConstant(true)) return !And(cs, !b, !c);
  const typename Cs::Flag x = a.value(), y = b.value(), z = c.value();
  Bit<Cs> majority = cs.AllocateBit((x & y) ^ (x & z) ^ (y & z));
  Boolean<Cs> both = And(cs, b, c);
  typename Cs::Lc left, right;
  both.AddTo(left, 2);
  b.AddTo(left, -1);
  c.AddTo(left, -1);
  both.AddTo(right);
  right.Add(majority, -1);
  cs.Enforce(std::move(left), a.ToLc(), std::move(right));
  return Boolean<Cs>::Is(majority);
}

/// Bits of a native integer, least significant first, each with its row.
template <class Cs>
std::vector<Bit<Cs>> AllocateBits(Cs& cs, const typename Values<Cs>::Word& value, unsigned count) {
  std::vector<Bit<Cs>> bits;
  bits.reserve(count);
  if constexpr (Cs::kNativeBodies) {
    WriteBits(cs, value, count);
    for (unsigned i = 0; i < count; ++i) bits.push_back({{}, Values<Cs>::BitOf(value, i)});
  } else {
    for (unsigned i = 0; i < count; ++i) {
      [[maybe_unused]] auto scope = cs.Scope("bit", i);
      bits.push_back(AllocateBit(cs, Values<Cs>::BitOf(value, i)));
    }
  }
  return bits;
}

/// 255 bits of x, least significant first, and [0] * [0] = [sum 2^i b_i - x]. The bits are not forced below the
/// modulus.
template <class Cs>
Booleans<Cs> ToBits(Cs& cs, const Num<Cs>& x) {
  [[maybe_unused]] auto scope = cs.Scope("to bits");
  const std::vector<Bit<Cs>> bits = AllocateBits(cs, Values<Cs>::Canonical(x.value), 255);
  if constexpr (Cs::kNativeBodies) {
    WriteZeroRow(cs);
  } else {
    typename Cs::Lc sum;
    for (unsigned i = 0; i < 255; ++i) sum.AddShifted(bits[i], i);
    sum.Add(x, -1);
    cs.Enforce(Zero<Cs>(), Zero<Cs>(), std::move(sum));
  }
  Booleans<Cs> booleans;
  booleans.reserve(256);
  for (const Bit<Cs>& bit : bits) booleans.push_back(Boolean<Cs>::Is(bit));
  return booleans;
}

/// Fills up with zeros to whole bytes and reverses the bits of each byte: the order in which SHA-256 reads a number's
/// bits.
template <class Cs>
Booleans<Cs> ReverseBytes(Booleans<Cs> bits) {
  while (bits.size() % 8 != 0) bits.push_back(Boolean<Cs>::Constant(false));
  for (size_t i = 0; i < bits.size(); i += 8) std::reverse(bits.begin() + i, bits.begin() + i + 8);
  return bits;
}

/// Numbers hold at most this many packed bits.
inline constexpr size_t kPackedBits = 254;

/// [sum 2^i b_i] * [1] = [packed].
template <class Cs>
void EnforcePacked(Cs& cs, std::span<const Boolean<Cs>> bits, const Num<Cs>& packed) {
  typename Cs::Lc sum;
  for (unsigned i = 0; i < bits.size(); ++i) bits[i].AddShiftedTo(sum, i);
  cs.Enforce(std::move(sum), One<Cs>(), Just<Cs>(packed));
}

/// The number with these bits, least significant first: [sum 2^i b_i] * [1] = [p]. Only the first 254 are used.
template <class Cs>
Num<Cs> PackBits(Cs& cs, std::span<const Boolean<Cs>> bits) {
  bits = bits.first(std::min(bits.size(), kPackedBits));
  Num<Cs> packed = cs.AllocateNum(Values<Cs>::Pack(bits));
  EnforcePacked(cs, bits, packed);
  return packed;
}

/// The same as one public input per 254 bits.
template <class Cs>
void PackIntoInputs(Cs& cs, std::span<const Boolean<Cs>> bits) {
  for (size_t i = 0; i < bits.size(); i += kPackedBits) {
    auto part = bits.subspan(i, std::min(kPackedBits, bits.size() - i));
    Num<Cs> packed = cs.AllocateInput(Values<Cs>::Pack(part));
    EnforcePacked(cs, part, packed);
  }
}

}  // namespace cuzk::circuit
