#pragma once
// 32-bit words on the device: single instructions with a carry, and the chains built from them.
//
// The carry flag lives between consecutive instructions of PTX. Nothing but the functions below writes it, and volatile
// statements keep their order, so a chain is a sequence of calls. ptxas fuses each pair (mad.lo.cc, madc.hi.cc) on an
// aligned register pair into one IMAD.WIDE.U32 with carry.

#include <cstdint>

namespace cuzk::gpu {

#define CUZK_DEVICE __device__ __forceinline__

CUZK_DEVICE uint32_t AddCc(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
CUZK_DEVICE uint32_t AddcCc(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
CUZK_DEVICE uint32_t Addc(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
CUZK_DEVICE uint32_t SubCc(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
CUZK_DEVICE uint32_t SubcCc(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
CUZK_DEVICE uint32_t Subc(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("subc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

/// (lo, hi) = a b + (lo_in, hi_in), starting a chain of carries.
CUZK_DEVICE void MadWideCc(uint32_t& lo, uint32_t& hi, uint32_t a, uint32_t b, uint32_t lo_in, uint32_t hi_in) {
  asm volatile("mad.lo.cc.u32 %0, %2, %3, %4;\n\tmadc.hi.cc.u32 %1, %2, %3, %5;"
               : "=&r"(lo), "=&r"(hi)
               : "r"(a), "r"(b), "r"(lo_in), "r"(hi_in));
}
/// The same inside a chain.
CUZK_DEVICE void MadcWideCc(uint32_t& lo, uint32_t& hi, uint32_t a, uint32_t b, uint32_t lo_in, uint32_t hi_in) {
  asm volatile("madc.lo.cc.u32 %0, %2, %3, %4;\n\tmadc.hi.cc.u32 %1, %2, %3, %5;"
               : "=&r"(lo), "=&r"(hi)
               : "r"(a), "r"(b), "r"(lo_in), "r"(hi_in));
}
/// (lo, hi) = a b.
CUZK_DEVICE void MulWide(uint32_t& lo, uint32_t& hi, uint32_t a, uint32_t b) {
  asm volatile("mul.lo.u32 %0, %2, %3;\n\tmul.hi.u32 %1, %2, %3;" : "=&r"(lo), "=&r"(hi) : "r"(a), "r"(b));
}

/// The low word of a b + c.
CUZK_DEVICE uint32_t MadLow(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r;
  asm volatile("mad.lo.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}

/// r = a + b; no carry leaves.
template <int N>
CUZK_DEVICE void Add(const uint32_t (&a)[N], const uint32_t (&b)[N], uint32_t (&r)[N]) {
  r[0] = AddCc(a[0], b[0]);
#pragma unroll
  for (int i = 1; i < N - 1; ++i) r[i] = AddcCc(a[i], b[i]);
  r[N - 1] = Addc(a[N - 1], b[N - 1]);
}

/// r = a - b; returns all ones if a < b, else zero.
template <int N>
CUZK_DEVICE uint32_t Sub(const uint32_t (&a)[N], const uint32_t (&b)[N], uint32_t (&r)[N]) {
  r[0] = SubCc(a[0], b[0]);
#pragma unroll
  for (int i = 1; i < N; ++i) r[i] = SubcCc(a[i], b[i]);
  return Subc(0, 0);
}

/// r = a + b; returns what is carried out.
template <int N>
CUZK_DEVICE uint32_t AddWithCarry(const uint32_t (&a)[N], const uint32_t (&b)[N], uint32_t (&r)[N]) {
  r[0] = AddCc(a[0], b[0]);
#pragma unroll
  for (int i = 1; i < N; ++i) r[i] = AddcCc(a[i], b[i]);
  return Addc(0, 0);
}
/// r = (top, a) - b without its top word; returns all ones if (top, a) < b, zero if it is less than 2^(32 N) above b.
template <int N>
CUZK_DEVICE uint32_t SubWithBorrow(const uint32_t (&a)[N], uint32_t top, const uint32_t (&b)[N], uint32_t (&r)[N]) {
  r[0] = SubCc(a[0], b[0]);
#pragma unroll
  for (int i = 1; i < N; ++i) r[i] = SubcCc(a[i], b[i]);
  return Subc(top, 0);
}

/// r += p & mask. Masks, not predicates: ptxas turns a chain of predicated additions into a ladder of branches.
template <int N>
CUZK_DEVICE void AddIf(uint32_t mask, uint32_t (&r)[N], const uint32_t (&p)[N]) {
  r[0] = AddCc(r[0], p[0] & mask);
#pragma unroll
  for (int i = 1; i < N - 1; ++i) r[i] = AddcCc(r[i], p[i] & mask);
  r[N - 1] = Addc(r[N - 1], p[N - 1] & mask);
}

/// r = yes where `mask` is all ones, no where it is zero.
template <int N>
CUZK_DEVICE void Choose(uint32_t mask, const uint32_t (&yes)[N], const uint32_t (&no)[N], uint32_t (&r)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) r[i] = (yes[i] & mask) | (no[i] & ~mask);
}

}  // namespace cuzk::gpu
