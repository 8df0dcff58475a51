#pragma once
// Inversion in Fp on one thread: D. J. Bernstein and B.-Y. Yang, "Fast constant-time gcd computation and modular
// inversion" (eprint 2019/266). At most (49 * 381 + 57) / 17 = 1101 division steps clear g for operands below 2^381,
// about 800 on average; they are done in batches of 30, each batch one 2x2 matrix applied to f, g and to the cofactors
// d, e. Within a batch the number of turns depends on the value: one thread of a block does it, and nothing here is
// secret from the machine.

#include "gpu/field/device_field.cuh"

namespace cuzk::gpu::detail {

/// 13 words of 30 bits, the top one signed.
struct Signed30 {
  static constexpr int kWords = 13;
  int32_t v[kWords];
};
inline constexpr int kMostBatches = 37;
inline constexpr int32_t kMask30 = (1 << 30) - 1;

template <class Params>
constexpr Signed30 ModulusSigned30() {
  Signed30 r{};
  for (int i = 0; i < Signed30::kWords; ++i) {
    int bit = 30 * i, limb = bit / 64, shift = bit % 64;
    uint64_t x = Params::kModulus[limb] >> shift;
    if (shift > 34 && limb + 1 < static_cast<int>(Params::kLimbs)) x |= Params::kModulus[limb + 1] << (64 - shift);
    r.v[i] = static_cast<int32_t>(x & kMask30);
  }
  return r;
}

struct StepMatrix {
  int32_t u, v, q, r;
};

/// 30 division steps on the low words, as many at a time as the trailing zeros of g and up to 6 bits of its quotient by
/// f allow; eta = -delta.
CUZK_DEVICE int32_t DivisionSteps(int32_t eta, uint32_t f, uint32_t g, StepMatrix& t) {
  uint32_t u = 1, v = 0, q = 0, r = 1;
  int left = 30;
  while (true) {
    int zeros = __ffs(static_cast<int>(g | (~0u << left))) - 1;
    g >>= zeros;
    u <<= zeros;
    v <<= zeros;
    eta -= zeros;
    left -= zeros;
    if (left == 0) break;
    if (eta < 0) {
      uint32_t old = f;
      f = g, g = 0 - old;
      old = u, u = q, q = 0 - old;
      old = v, v = r, r = 0 - old;
      eta = -eta;
    }
    // g + w f has `bits` zeros more; 1/f = f (2 - f^2) mod 2^6.
    int bits = min(min(eta + 1, left), 6);
    uint32_t w = g * f * (f * f - 2) & ((1u << bits) - 1);
    g += w * f;
    q += w * u;
    r += w * v;
  }
  t = {static_cast<int32_t>(u), static_cast<int32_t>(v), static_cast<int32_t>(q), static_cast<int32_t>(r)};
  return eta;
}

/// (f, g) = t (f, g) / 2^30, exactly.
CUZK_DEVICE void ApplyToOperands(const StepMatrix& t, Signed30& f, Signed30& g) {
  int64_t a = static_cast<int64_t>(t.u) * f.v[0] + static_cast<int64_t>(t.v) * g.v[0];
  int64_t b = static_cast<int64_t>(t.q) * f.v[0] + static_cast<int64_t>(t.r) * g.v[0];
  a >>= 30;
  b >>= 30;
#pragma unroll
  for (int i = 1; i < Signed30::kWords; ++i) {
    a += static_cast<int64_t>(t.u) * f.v[i] + static_cast<int64_t>(t.v) * g.v[i];
    b += static_cast<int64_t>(t.q) * f.v[i] + static_cast<int64_t>(t.r) * g.v[i];
    f.v[i - 1] = static_cast<int32_t>(a) & kMask30;
    g.v[i - 1] = static_cast<int32_t>(b) & kMask30;
    a >>= 30;
    b >>= 30;
  }
  f.v[Signed30::kWords - 1] = static_cast<int32_t>(a);
  g.v[Signed30::kWords - 1] = static_cast<int32_t>(b);
}

/// (d, e) = t (d, e) / 2^30 mod p; both stay in (-2p, p).
CUZK_DEVICE void ApplyToCofactors(const StepMatrix& t, Signed30& d, Signed30& e, const Signed30& p,
                                  uint32_t p_inverse) {
  constexpr int kTop = Signed30::kWords - 1;
  int32_t sd = d.v[kTop] >> 31, se = e.v[kTop] >> 31;
  int32_t md = (t.u & sd) + (t.v & se);
  int32_t me = (t.q & sd) + (t.r & se);
  int64_t a = static_cast<int64_t>(t.u) * d.v[0] + static_cast<int64_t>(t.v) * e.v[0];
  int64_t b = static_cast<int64_t>(t.q) * d.v[0] + static_cast<int64_t>(t.r) * e.v[0];
  md -= static_cast<int32_t>((p_inverse * static_cast<uint32_t>(a) + static_cast<uint32_t>(md)) & kMask30);
  me -= static_cast<int32_t>((p_inverse * static_cast<uint32_t>(b) + static_cast<uint32_t>(me)) & kMask30);
  a = (a + static_cast<int64_t>(p.v[0]) * md) >> 30;
  b = (b + static_cast<int64_t>(p.v[0]) * me) >> 30;
#pragma unroll
  for (int i = 1; i <= kTop; ++i) {
    a += static_cast<int64_t>(t.u) * d.v[i] + static_cast<int64_t>(t.v) * e.v[i] + static_cast<int64_t>(p.v[i]) * md;
    b += static_cast<int64_t>(t.q) * d.v[i] + static_cast<int64_t>(t.r) * e.v[i] + static_cast<int64_t>(p.v[i]) * me;
    d.v[i - 1] = static_cast<int32_t>(a) & kMask30;
    e.v[i - 1] = static_cast<int32_t>(b) & kMask30;
    a >>= 30;
    b >>= 30;
  }
  d.v[kTop] = static_cast<int32_t>(a);
  e.v[kTop] = static_cast<int32_t>(b);
}

/// x times 2^k mod p with x's words of 32 bits, k = 3 * 384: what turns 1/(xR) into R/x by one Montgomery product.
template <class Params>
constexpr Words<2 * Params::kLimbs> CubeOfR() {
  return Split<2 * static_cast<int>(Params::kLimbs)>(
      algebra::FieldConstants<Params>::PowerOfTwo(3 * 64 * Params::kLimbs).v);
}

}  // namespace cuzk::gpu::detail

namespace cuzk::gpu {

/// 1/x; zero gives zero. Out of line: it is called by one thread of a block, seldom.
static __device__ __noinline__ void InvertFp(const FpD& x, FpD& result) {
  using detail::Signed30;
  constexpr Signed30 kModulus = detail::ModulusSigned30<algebra::FpParams>();
  constexpr uint32_t kInverse = 0 - static_cast<uint32_t>(algebra::FieldConstants<algebra::FpParams>::kNegInverse);
  Signed30 p = kModulus, f = kModulus, g, d{}, e{};
  e.v[0] = 1;
#pragma unroll
  for (int i = 0; i < Signed30::kWords; ++i) {
    int word = 30 * i / 32, shift = 30 * i % 32;
    uint32_t low = x.w[word] >> shift;
    if (shift > 2 && word + 1 < FpD::N) low |= x.w[word + 1] << (32 - shift);
    g.v[i] = static_cast<int32_t>(low & detail::kMask30);
  }
  int32_t eta = -1;
  for (int batch = 0; batch < detail::kMostBatches; ++batch) {
    detail::StepMatrix t;
    eta = detail::DivisionSteps(eta, static_cast<uint32_t>(f.v[0]) | static_cast<uint32_t>(f.v[1]) << 30,
                                static_cast<uint32_t>(g.v[0]) | static_cast<uint32_t>(g.v[1]) << 30, t);
    detail::ApplyToCofactors(t, d, e, p, kInverse);
    detail::ApplyToOperands(t, f, g);
    int32_t any = 0;
#pragma unroll
    for (int i = 0; i < Signed30::kWords; ++i) any |= g.v[i];
    if (any == 0) break;
  }
  // f is 1 or -1 (p if x was zero, where d is 0); d in (-2p, p). The result is d or -d.
  int32_t negate = f.v[Signed30::kWords - 1] >> 31;
  int64_t carry = 0;
#pragma unroll
  for (int i = 0; i < Signed30::kWords; ++i) {
    // 2p + d or 2p - d: both in (0, 4p).
    carry += 2 * static_cast<int64_t>(p.v[i]) + ((d.v[i] ^ negate) - negate);
    d.v[i] = i + 1 < Signed30::kWords ? static_cast<int32_t>(carry) & detail::kMask30 : static_cast<int32_t>(carry);
    carry >>= 30;
  }
  FpD value;
#pragma unroll
  for (int i = 0; i < FpD::N; ++i) {
    int word = 32 * i / 30, shift = 32 * i % 30;
    uint32_t bits = static_cast<uint32_t>(d.v[word]) >> shift;
    if (word + 1 < Signed30::kWords) bits |= static_cast<uint32_t>(d.v[word + 1]) << (30 - shift);
    value.w[i] = bits;
  }
  uint32_t p32[FpD::N];
  detail::Words32<algebra::FpParams>::Modulus(p32);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    uint32_t borrow = Sub(value.w, p32, value.w);
    AddIf(borrow, value.w, p32);
  }
  constexpr auto kCube = detail::CubeOfR<algebra::FpParams>();
  FpD cube;
#pragma unroll
  for (int i = 0; i < FpD::N; ++i) cube.w[i] = kCube.v[i];
  result = value * cube;
}

}  // namespace cuzk::gpu

namespace cuzk::algebra {
template <class Params, bool kCalled>
__device__ inline MontField<Params, gpu::PtxLimbsOf<kCalled>> MontField<Params, gpu::PtxLimbsOf<kCalled>>::Inverse()
    const {
  static_assert(kLimbs == 6, "only Fp is inverted on the device");
  gpu::FpD x, y;
#pragma unroll
  for (int i = 0; i < N; ++i) x.w[i] = w[i];
  gpu::InvertFp(x, y);
  MontField r;
#pragma unroll
  for (int i = 0; i < N; ++i) r.w[i] = y.w[i];
  return r;
}
}  // namespace cuzk::algebra
