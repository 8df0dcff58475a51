#pragma once
// Limb primitives of prime fields for the host: N limbs of 64 bits, least significant first. The device has its own
// with the same names (gpu/), so that MontField is written once. Each primitive has a portable body, which the
// compiler also evaluates for constants, and on x86-64 with ADX one in assembly.

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/algebra/field/host_device.h"

#if defined(__x86_64__) && defined(__ADX__) && defined(__BMI2__) && !defined(__CUDA_ARCH__)
#define CUZK_ADX 1
/// r = a b / 2^64N mod p for N = 4, 6 (mont_mul_adx.cc); r may be a or b.
extern "C" void cuzk_mont_mul_4(uint64_t* r, const uint64_t* a, const uint64_t* b, const uint64_t* p, uint64_t inv);
extern "C" void cuzk_mont_mul_6(uint64_t* r, const uint64_t* a, const uint64_t* b, const uint64_t* p, uint64_t inv);
/// r = sum of n products a_i b_i / 2^256 mod p for the modulus of Fr and 0 < n <= 64 (mont_mul_adx.cc).
extern "C" void cuzk_fr_dot(uint64_t* r, const uint64_t* a, const uint64_t* b, const uint64_t* p, uint64_t inv,
                            uint64_t n);
/// r = a^2 / 2^384 mod p, and the product of c0 + c1 u with u^2 = -1, 12 words each (mont_wide_adx.cc).
extern "C" void cuzk_mont_square_6(uint64_t* r, const uint64_t* a, const uint64_t* p, uint64_t inv);
extern "C" void cuzk_fp2_mul_6(uint64_t* r, const uint64_t* a, const uint64_t* b, const uint64_t* p, uint64_t inv);
#endif

namespace cuzk::algebra {

/// The portable bodies.
struct PortableLimbs {
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

/// What the host uses: assembly at run time where there is any, the portable bodies for constants and elsewhere.
struct HostLimbs : PortableLimbs {
  template <size_t N>
  static constexpr CUZK_HD void AddMod(const uint64_t (&a)[N], const uint64_t (&b)[N], const uint64_t (&p)[N],
                                       uint64_t (&r)[N]) {
#ifdef CUZK_ADX
    if constexpr (N == 4 || N == 6) {
      if (!std::is_constant_evaluated()) return AddModAdx(a, b, p, r);
    }
#endif
    PortableLimbs::AddMod(a, b, p, r);
  }
  template <size_t N>
  static constexpr CUZK_HD void SubMod(const uint64_t (&a)[N], const uint64_t (&b)[N], const uint64_t (&p)[N],
                                       uint64_t (&r)[N]) {
#ifdef CUZK_ADX
    if constexpr (N == 4 || N == 6) {
      if (!std::is_constant_evaluated()) return SubModAdx(a, b, p, r);
    }
#endif
    PortableLimbs::SubMod(a, b, p, r);
  }
  template <size_t N>
  static constexpr CUZK_HD void MontMul(const uint64_t (&a)[N], const uint64_t (&b)[N], const uint64_t (&p)[N],
                                        uint64_t inv, uint64_t (&r)[N]) {
#ifdef CUZK_ADX
    if (!std::is_constant_evaluated()) {
      if constexpr (N == 4) return cuzk_mont_mul_4(r, a, b, p, inv);
      if constexpr (N == 6) return cuzk_mont_mul_6(r, a, b, p, inv);
    }
#endif
    PortableLimbs::MontMul(a, b, p, inv, r);
  }
  template <size_t N>
  static constexpr CUZK_HD void MontSquare(const uint64_t (&a)[N], const uint64_t (&p)[N], uint64_t inv,
                                           uint64_t (&r)[N]) {
#ifdef CUZK_ADX
    if constexpr (N == 6) {
      if (!std::is_constant_evaluated()) return cuzk_mont_square_6(r, a, p, inv);
    }
#endif
    MontMul(a, a, p, inv, r);
  }

#ifdef CUZK_ADX
 private:
  static void AddModAdx(const uint64_t (&a)[6], const uint64_t (&b)[6], const uint64_t (&p)[6], uint64_t (&r)[6]) {
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5];
    asm("addq %6, %0\n\tadcq %7, %1\n\tadcq %8, %2\n\tadcq %9, %3\n\tadcq %10, %4\n\tadcq %11, %5"
        : "+&r"(t0), "+&r"(t1), "+&r"(t2), "+&r"(t3), "+&r"(t4), "+&r"(t5)
        : "m"(b[0]), "m"(b[1]), "m"(b[2]), "m"(b[3]), "m"(b[4]), "m"(b[5])
        : "cc");
    uint64_t u0 = t0, u1 = t1, u2 = t2, u3 = t3, u4 = t4, u5 = t5;
    asm("subq %6, %0\n\tsbbq %7, %1\n\tsbbq %8, %2\n\tsbbq %9, %3\n\tsbbq %10, %4\n\tsbbq %11, %5\n\t"
        "cmovcq %12, %0\n\tcmovcq %13, %1\n\tcmovcq %14, %2\n\tcmovcq %15, %3\n\tcmovcq %16, %4\n\tcmovcq %17, %5"
        : "+&r"(u0), "+&r"(u1), "+&r"(u2), "+&r"(u3), "+&r"(u4), "+&r"(u5)
        : "m"(p[0]), "m"(p[1]), "m"(p[2]), "m"(p[3]), "m"(p[4]), "m"(p[5]), "rm"(t0), "rm"(t1), "rm"(t2), "rm"(t3),
          "rm"(t4), "rm"(t5)
        : "cc");
    r[0] = u0, r[1] = u1, r[2] = u2, r[3] = u3, r[4] = u4, r[5] = u5;
  }
  static void AddModAdx(const uint64_t (&a)[4], const uint64_t (&b)[4], const uint64_t (&p)[4], uint64_t (&r)[4]) {
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3];
    asm("addq %4, %0\n\tadcq %5, %1\n\tadcq %6, %2\n\tadcq %7, %3"
        : "+&r"(t0), "+&r"(t1), "+&r"(t2), "+&r"(t3)
        : "m"(b[0]), "m"(b[1]), "m"(b[2]), "m"(b[3])
        : "cc");
    uint64_t u0 = t0, u1 = t1, u2 = t2, u3 = t3;
    asm("subq %4, %0\n\tsbbq %5, %1\n\tsbbq %6, %2\n\tsbbq %7, %3\n\t"
        "cmovcq %8, %0\n\tcmovcq %9, %1\n\tcmovcq %10, %2\n\tcmovcq %11, %3"
        : "+&r"(u0), "+&r"(u1), "+&r"(u2), "+&r"(u3)
        : "m"(p[0]), "m"(p[1]), "m"(p[2]), "m"(p[3]), "rm"(t0), "rm"(t1), "rm"(t2), "rm"(t3)
        : "cc");
    r[0] = u0, r[1] = u1, r[2] = u2, r[3] = u3;
  }
  static void SubModAdx(const uint64_t (&a)[6], const uint64_t (&b)[6], const uint64_t (&p)[6], uint64_t (&r)[6]) {
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5], mask;
    asm("subq %7, %0\n\tsbbq %8, %1\n\tsbbq %9, %2\n\tsbbq %10, %3\n\tsbbq %11, %4\n\tsbbq %12, %5\n\tsbbq %6, %6"
        : "+&r"(t0), "+&r"(t1), "+&r"(t2), "+&r"(t3), "+&r"(t4), "+&r"(t5), "=&r"(mask)
        : "m"(b[0]), "m"(b[1]), "m"(b[2]), "m"(b[3]), "m"(b[4]), "m"(b[5])
        : "cc");
    asm("addq %6, %0\n\tadcq %7, %1\n\tadcq %8, %2\n\tadcq %9, %3\n\tadcq %10, %4\n\tadcq %11, %5"
        : "+&r"(t0), "+&r"(t1), "+&r"(t2), "+&r"(t3), "+&r"(t4), "+&r"(t5)
        : "rm"(p[0] & mask), "rm"(p[1] & mask), "rm"(p[2] & mask), "rm"(p[3] & mask), "rm"(p[4] & mask),
          "rm"(p[5] & mask)
        : "cc");
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3, r[4] = t4, r[5] = t5;
  }
  static void SubModAdx(const uint64_t (&a)[4], const uint64_t (&b)[4], const uint64_t (&p)[4], uint64_t (&r)[4]) {
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], mask;
    asm("subq %5, %0\n\tsbbq %6, %1\n\tsbbq %7, %2\n\tsbbq %8, %3\n\tsbbq %4, %4"
        : "+&r"(t0), "+&r"(t1), "+&r"(t2), "+&r"(t3), "=&r"(mask)
        : "m"(b[0]), "m"(b[1]), "m"(b[2]), "m"(b[3])
        : "cc");
    asm("addq %4, %0\n\tadcq %5, %1\n\tadcq %6, %2\n\tadcq %7, %3"
        : "+&r"(t0), "+&r"(t1), "+&r"(t2), "+&r"(t3)
        : "rm"(p[0] & mask), "rm"(p[1] & mask), "rm"(p[2] & mask), "rm"(p[3] & mask)
        : "cc");
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3;
  }
#endif
};

}  // namespace cuzk::algebra
