#pragma once
// Limb primitives of prime fields for the host: N limbs of 64 bits, least significant first. The device has its own
// with the same names (gpu/), so that MontField is written once.

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/algebra/host_device.h"

namespace cuzk::algebra {

struct HostLimbs {
  using Word = uint64_t;

  /// r = a + b + carry; returns the carry out.
  static constexpr CUZK_HD uint64_t AddCarry(uint64_t a, uint64_t b, uint64_t carry, uint64_t& r) {
    unsigned __int128 t = static_cast<unsigned __int128>(a) + b + carry;
    r = static_cast<uint64_t>(t);
    return static_cast<uint64_t>(t >> 64);
  }
  /// r = a - b - borrow; returns the borrow out.
  static constexpr CUZK_HD uint64_t SubBorrow(uint64_t a, uint64_t b, uint64_t borrow, uint64_t& r) {
    unsigned __int128 t = static_cast<unsigned __int128>(a) - b - borrow;
    r = static_cast<uint64_t>(t);
    return static_cast<uint64_t>(t >> 64) & 1;
  }

  /// r = a - p if a >= p (a below 2p and below 2^64N), else a.
  template <size_t N>
  static constexpr CUZK_HD void Reduce(const uint64_t (&a)[N], const uint64_t (&p)[N], uint64_t (&r)[N]) {
    uint64_t t[N] = {};
    uint64_t borrow = 0;
    for (size_t i = 0; i < N; ++i) borrow = SubBorrow(a[i], p[i], borrow, t[i]);
    uint64_t keep = 0 - borrow;
    for (size_t i = 0; i < N; ++i) r[i] = (a[i] & keep) | (t[i] & ~keep);
  }

  /// r = a + b mod p, for moduli whose top bit is clear.
  template <size_t N>
  static constexpr CUZK_HD void AddMod(const uint64_t (&a)[N], const uint64_t (&b)[N], const uint64_t (&p)[N],
                                       uint64_t (&r)[N]) {
    uint64_t t[N] = {};
    uint64_t carry = 0;
    for (size_t i = 0; i < N; ++i) carry = AddCarry(a[i], b[i], carry, t[i]);
    Reduce(t, p, r);
  }

  /// r = a - b mod p.
  template <size_t N>
  static constexpr CUZK_HD void SubMod(const uint64_t (&a)[N], const uint64_t (&b)[N], const uint64_t (&p)[N],
                                       uint64_t (&r)[N]) {
    uint64_t t[N] = {};
    uint64_t borrow = 0, carry = 0;
    for (size_t i = 0; i < N; ++i) borrow = SubBorrow(a[i], b[i], borrow, t[i]);
    uint64_t mask = 0 - borrow;
    for (size_t i = 0; i < N; ++i) carry = AddCarry(t[i], p[i] & mask, carry, r[i]);
  }

  /// r = a * b / 2^64N mod p, operands below p, `inv` = -1/p mod 2^64. Coarsely integrated operand scanning without
  /// the extra word, which the clear top bit of p allows.
  template <size_t N>
  static constexpr CUZK_HD void MontMul(const uint64_t (&a)[N], const uint64_t (&b)[N], const uint64_t (&p)[N],
                                        uint64_t inv, uint64_t (&r)[N]) {
    uint64_t t[N] = {};
    for (size_t i = 0; i < N; ++i) {
      unsigned __int128 acc = static_cast<unsigned __int128>(a[0]) * b[i] + t[0];
      uint64_t high_product = static_cast<uint64_t>(acc >> 64);
      uint64_t m = static_cast<uint64_t>(acc) * inv;
      unsigned __int128 red = static_cast<unsigned __int128>(m) * p[0] + static_cast<uint64_t>(acc);
      uint64_t high_reduction = static_cast<uint64_t>(red >> 64);
      for (size_t j = 1; j < N; ++j) {
        acc = static_cast<unsigned __int128>(a[j]) * b[i] + t[j] + high_product;
        high_product = static_cast<uint64_t>(acc >> 64);
        red = static_cast<unsigned __int128>(m) * p[j] + static_cast<uint64_t>(acc) + high_reduction;
        high_reduction = static_cast<uint64_t>(red >> 64);
        t[j - 1] = static_cast<uint64_t>(red);
      }
      t[N - 1] = high_product + high_reduction;
    }
    Reduce(t, p, r);
  }
};

}  // namespace cuzk::algebra
