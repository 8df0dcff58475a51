#pragma once
// The destinations of a writer's values: one stream for each matrix and one for the assignment, in either layout. A
// stream writes every byte of its planes exactly once, and no other byte.

#include <immintrin.h>

#include <cstdint>
#include <cstring>
#include <iterator>

#include "core/r1cs/small.h"
#include "core/r1cs/variable.h"

namespace cuzk::r1cs {

/// Byte i is 0xff where bit i of `mask` is set, else 0.
inline __m256i ExpandMask(uint32_t mask) {
  const __m256i pick =
      _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
  const __m256i bit = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201ull));
  const __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(mask)), pick);
  return _mm256_cmpeq_epi8(_mm256_and_si256(spread, bit), bit);
}

/// Stores past the caches: nothing reads a lease before it is written as a whole, it is larger than any cache, and an
/// ordinary store would read from memory what it overwrites. Ordered only by a fence, which Finish() of a writer is.
inline void StorePast(Fr* to, const Fr& value) {
  for (size_t i = 0; i < std::size(value.limb); ++i) {
    _mm_stream_si64(reinterpret_cast<long long*>(&to->limb[i]), static_cast<long long>(value.limb[i]));
  }
}

/// The values of one side of the rows, in order.
class RowStream {
 public:
  RowStream() = default;
  /// `narrow` is null in the plain layout.
  RowStream(int8_t* narrow, Fr* wide) : narrow_(narrow), wide_(wide) {}

  /// A row that the shape calls narrow.
  void Push(int8_t value) {
    if (narrow_ != nullptr) {
      *narrow_++ = value;
    } else {
      StorePast(wide_++, kSmallIntegers[static_cast<size_t>(value + 128)]);
    }
  }
  /// A row that the shape calls wide.
  void Push(const Fr& value) {
    if (narrow_ != nullptr) *narrow_++ = 0;
    StorePast(wide_++, value);
  }
  /// `count` <= 32 narrow rows, the bytes of `values` from the lowest.
  void Push(__m256i values, unsigned count) {
    if (narrow_ != nullptr && count == 32) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(narrow_), values);
      narrow_ += 32;
      return;
    }
    alignas(32) int8_t bytes[32];
    _mm256_store_si256(reinterpret_cast<__m256i*>(bytes), values);
    if (narrow_ != nullptr) {
      for (unsigned i = 0; i < count; ++i) narrow_[i] = bytes[i];
      narrow_ += count;
    } else {
      for (unsigned i = 0; i < count; ++i) StorePast(wide_++, kSmallIntegers[static_cast<size_t>(bytes[i] + 128)]);
    }
  }

  const int8_t* narrow() const { return narrow_; }
  const Fr* wide() const { return wide_; }

 private:
  int8_t* narrow_ = nullptr;
  Fr* wide_ = nullptr;
};

/// The assignment, in order. Two streams may share a 64-bit word of the narrow plane, which is zero before either
/// begins.
class AuxStream {
 public:
  AuxStream() = default;
  /// `bits` is null in the plain layout; the stream begins at bit `first_bit` of *bits.
  AuxStream(uint64_t* bits, unsigned first_bit, Fr* wide)
      : bits_(bits), fill_(first_bit), wide_(wide), shared_(first_bit != 0) {}

  void PushBit(bool bit) { PushBits(bit, 1); }
  /// `count` <= 64 boolean variables, lowest bit first; bits from `count` on are zero.
  void PushBits(uint64_t bits, unsigned count) {
    if (bits_ == nullptr) {
      for (unsigned i = 0; i < count; ++i) StorePast(wide_++, kSmallIntegers[128 + (bits >> i & 1)]);
      return;
    }
    word_ |= bits << fill_;
    if (fill_ + count < 64) {
      fill_ += count;
      return;
    }
    Store();
    const unsigned taken = 64 - fill_;
    word_ = taken < 64 ? bits >> taken : 0;
    fill_ = fill_ + count - 64;
  }
  void PushWide(const Fr& value) {
    if (bits_ != nullptr) PushBits(0, 1);
    StorePast(wide_++, value);
  }
  /// Writes the last, unfinished word.
  void Flush() {
    if (bits_ == nullptr || fill_ == 0) return;
    __atomic_fetch_or(bits_, word_, __ATOMIC_RELAXED);
  }

  const uint64_t* bits() const { return bits_; }
  unsigned fill() const { return fill_; }
  const Fr* wide() const { return wide_; }

 private:
  void Store() {
    if (shared_) {
      __atomic_fetch_or(bits_, word_, __ATOMIC_RELAXED);
      shared_ = false;
    } else {
      *bits_ = word_;
    }
    ++bits_;
  }
  uint64_t* bits_ = nullptr;
  uint64_t word_ = 0;
  unsigned fill_ = 0;  // bits of *bits_ that are taken
  Fr* wide_ = nullptr;
  bool shared_ = false;  // whether *bits_ has bits of the stream before
};

}  // namespace cuzk::r1cs
