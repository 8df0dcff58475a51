#include "core/circuit/sha256/word_native.h"

#include <immintrin.h>

namespace cuzk::circuit {

using r1cs::ExpandMask;
using r1cs::WitnessWriter;
using NativeWord = Word<WitnessWriter>;

namespace {

__m256i Bytes(int8_t value) { return _mm256_set1_epi8(value); }
/// Bytes of 0 and 1.
__m256i Ones(uint32_t mask) { return _mm256_and_si256(ExpandMask(mask), Bytes(1)); }
/// 1 where `plus`, -1 where `minus`; the masks are disjoint.
__m256i Signed(uint32_t plus, uint32_t minus) { return _mm256_or_si256(Ones(plus), ExpandMask(minus)); }

/// Bit i of the low half to bit 2i, bit i of the high half to bit 2i + 1.
uint64_t Interleave(uint32_t even, uint32_t odd) {
  return _pdep_u64(even, 0x5555555555555555ull) | _pdep_u64(odd, 0xaaaaaaaaaaaaaaaaull);
}

/// Pushes 64 rows: 1 where the bit of an even row is set, `odd` where that of an odd row is.
void PushAlternating(r1cs::RowStream& stream, uint64_t mask, int8_t odd) {
  const __m256i pattern = _mm256_set1_epi16(static_cast<int16_t>(static_cast<uint8_t>(odd) << 8 | 1));
  stream.Push(_mm256_and_si256(ExpandMask(static_cast<uint32_t>(mask)), pattern), 32);
  stream.Push(_mm256_and_si256(ExpandMask(static_cast<uint32_t>(mask >> 32)), pattern), 32);
}

}  // namespace

void MultiEq<WitnessWriter>::Flush() {
  if (used_ == 0) return;
  const Fr value = Fr::FromCanonical(sum_);
  cs_.a().Push(value);
  cs_.b().Push(int8_t{1});
  cs_.c().Push(value);
  used_ = 0;
  sum_ = {};
}

NativeWord NativeWord::FromBigEndian(std::span<const Boolean<Cs>> bits) {
  Word word(0, 0, 0);
  for (unsigned i = 0; i < 32; ++i) word.Set(31 - i, bits[i]);
  return word;
}

void NativeWord::AppendBigEndian(Booleans<Cs>& out) const {
  for (unsigned i = 32; i-- > 0;) out.push_back(At(i));
}

Boolean<WitnessWriter> NativeWord::At(unsigned i) const {
  const bool value = value_ >> i & 1;
  if (constant_ >> i & 1) return Boolean<Cs>::Constant(value);
  if (inverted_ >> i & 1) return Boolean<Cs>::Not({{}, !value});
  return Boolean<Cs>::Is({{}, value});
}

void NativeWord::Set(unsigned i, const Boolean<Cs>& bit) {
  const uint32_t value = bit.value();
  value_ |= value << i;
  constant_ |= static_cast<uint32_t>(bit.is_constant()) << i;
  inverted_ |= (bit.is_constant() ? value : static_cast<uint32_t>(bit.is_not())) << i;
}

NativeWord NativeWord::Xor(Cs& cs, const Word& a, const Word& b) {
  const uint32_t rows = ~(a.constant_ | b.constant_);
  const uint32_t raw_a = a.raw(), raw_b = b.raw();
  // Side A holds the operand that is not a negation, if one is.
  const uint32_t swap = a.inverted_ & ~b.inverted_;
  uint32_t first = (raw_a & ~swap) | (raw_b & swap);
  uint32_t second = (raw_b & ~swap) | (raw_a & swap);
  uint32_t result = raw_a ^ raw_b;
  unsigned count = 32;
  if (rows != ~0u) {
    count = static_cast<unsigned>(std::popcount(rows));
    first = _pext_u32(first, rows);
    second = _pext_u32(second, rows);
    result = _pext_u32(result, rows);
  }
  if (count != 0) {
    const __m256i one = Ones(first), other = Ones(second);
    cs.a().Push(_mm256_add_epi8(one, one), count);
    cs.b().Push(other, count);
    cs.c().Push(_mm256_and_si256(_mm256_add_epi8(one, one), _mm256_add_epi8(other, other)), count);
    cs.aux().PushBits(result, count);
  }
  return Word(a.value_ ^ b.value_, a.constant_ & b.constant_, a.inverted_ ^ b.inverted_);
}

NativeWord NativeWord::Choice(Cs& cs, const Word& a, const Word& b, const Word& c) {
  if ((a.constant_ | b.constant_ | c.constant_) != 0) {
    Word word(0, 0, 0);
    for (unsigned i = 0; i < 32; ++i) word.Set(i, ShaChoice(cs, a.At(i), b.At(i), c.At(i)));
    return word;
  }
  const uint32_t plus = b.value_ & ~c.value_, minus = c.value_ & ~b.value_;
  const uint32_t choice = (a.value_ & b.value_) | (~a.value_ & c.value_);
  cs.a().Push(Signed(plus, minus), 32);
  cs.b().Push(Ones(a.value_), 32);
  cs.c().Push(Signed(a.value_ & plus, a.value_ & minus), 32);
  cs.aux().PushBits(choice, 32);
  return Word(choice, 0, 0);
}

NativeWord NativeWord::Majority(Cs& cs, const Word& a, const Word& b, const Word& c) {
  if ((a.constant_ | b.constant_ | c.constant_) != 0) {
    Word word(0, 0, 0);
    for (unsigned i = 0; i < 32; ++i) word.Set(i, ShaMajority(cs, a.At(i), b.At(i), c.At(i)));
    return word;
  }
  const uint32_t both = b.value_ & c.value_;
  const uint32_t majority = both | (a.value_ & (b.value_ ^ c.value_));
  // The product's side A holds the operand that is not a negation, if one is.
  const uint32_t swap = b.inverted_ & ~c.inverted_;
  const uint32_t first = (b.value_ & ~swap) | (c.value_ & swap);
  const uint32_t second = (c.value_ & ~swap) | (b.value_ & swap);
  PushAlternating(cs.a(), Interleave(first, b.value_ ^ c.value_), -1);
  PushAlternating(cs.b(), Interleave(second, a.value_), 1);
  PushAlternating(cs.c(), Interleave(both, majority & ~both), -1);
  cs.aux().PushBits(Interleave(majority, both), 64);
  return Word(majority, 0, 0);
}

NativeWord NativeWord::Sum(Cs& cs, MultiEq<Cs>& equations, std::span<const Word> operands) {
  uint64_t total = 0;
  uint32_t constant = ~0u;
  for (const Word& operand : operands) {
    total += operand.value_;
    constant &= operand.constant_;
  }
  if (constant == ~0u) return Constant(static_cast<uint32_t>(total));
  const auto width = static_cast<unsigned>(std::bit_width(operands.size() * 0xffffffffull));
  WriteBits(cs, {total, 0, 0, 0}, width);
  equations.Add(total, width);
  return Word(static_cast<uint32_t>(total), 0, 0);
}

}  // namespace cuzk::circuit
