#pragma once
// Prime fields on the device: MontField with 32-bit limb primitives. Same memory, same values, same functions as on the
// host, so that every formula of core/algebra runs here unchanged. In host code of .cu files it computes as the host
// does.
//
// Product: Montgomery, one word of b at a time. Products of even words of a and of odd words of a go to two
// accumulators, one word apart, so that every product is one IMAD.WIDE on an aligned pair. N words: 2 N^2 / 2
// multiply-adds and N low products. Where the modulus is r, whose two low words are 1 and 2^32 - 1, two of the N/2 +
// N/2 products of a reduction row are additions, and the low product is a negation.

#include "core/algebra/field/field.h"
#include "core/algebra/field/fp.h"
#include "core/algebra/field/fp2.h"
#include "core/algebra/field/fr.h"
#include "gpu/field/words.cuh"

namespace cuzk::gpu {

/// Names the limb primitives of this folder. kCalled: products are calls, not copies of the code. Wherever products
/// come by the dozen (Fp2, and points over it) that keeps kernels within the instruction cache and within reason to
/// compile; operands pass through the stack, a few per cent of a product's time.
template <bool kCalled>
struct PtxLimbsOf {};
using PtxLimbs = PtxLimbsOf<false>;
using PtxLimbsCalled = PtxLimbsOf<true>;

namespace detail {

template <int N>
struct Words {
  uint32_t v[N];
};
template <int N, size_t M>
constexpr Words<N> Split(const uint64_t (&limbs)[M]) {
  Words<N> r{};
  for (int i = 0; i < N; ++i) r.v[i] = static_cast<uint32_t>(limbs[i / 2] >> (32 * (i % 2)));
  return r;
}

/// The words of the constants of a field; compile-time, so that they become immediates.
template <class Params>
struct Words32 {
  static constexpr int N = 2 * Params::kLimbs;
  using Constants = algebra::FieldConstants<Params>;
  static constexpr uint32_t kNegInverse = static_cast<uint32_t>(Constants::kNegInverse);
  static constexpr bool kLowWordsOneAndMax = Params::kModulus[0] == 0xffffffff00000001ull;

  static CUZK_DEVICE void Modulus(uint32_t (&r)[N]) {
    constexpr Words<N> w = Split<N>(Params::kModulus);
#pragma unroll
    for (int i = 0; i < N; ++i) r[i] = w.v[i];
  }
  static CUZK_DEVICE void One(uint32_t (&r)[N]) {
    constexpr Words<N> w = Split<N>(Constants::kOne.v);
#pragma unroll
    for (int i = 0; i < N; ++i) r[i] = w.v[i];
  }
};

/// r in constant memory: with immediate operands ptxas splits each multiply-add of a reduction row in two.
static __constant__ Words<8> kFrModulus = Split<8>(algebra::FrParams::kModulus);

/// What rows multiply by.
template <class Params, int N>
CUZK_DEVICE void Multiplicand(uint32_t (&p)[N]) {
  if constexpr (Words32<Params>::kLowWordsOneAndMax) {
#pragma unroll
    for (int i = 0; i < N; ++i) p[i] = kFrModulus.v[i];
  } else {
    Words32<Params>::Modulus(p);
  }
}

/// One row of the product: with e and o one word apart (o is the higher), o's words shifted down by two since the last
/// row, adds a times b.
template <int N>
CUZK_DEVICE void ProductRow(uint32_t (&e)[N], uint32_t (&o)[N], const uint32_t (&a)[N], uint32_t b) {
  e[0] = AddCc(e[0], o[1]);
#pragma unroll
  for (int j = 0; j < N - 2; j += 2) MadcWideCc(o[j], o[j + 1], a[j + 1], b, o[j + 2], o[j + 3]);
  MadcWideCc(o[N - 2], o[N - 1], a[N - 1], b, 0, 0);
  MadWideCc(e[0], e[1], a[0], b, e[0], e[1]);
#pragma unroll
  for (int j = 2; j < N; j += 2) MadcWideCc(e[j], e[j + 1], a[j], b, e[j], e[j + 1]);
  o[N - 1] = Addc(o[N - 1], 0);
}

/// One row of the reduction: adds the multiple of the modulus that clears e[0].
template <class Params, int N>
CUZK_DEVICE void ReductionRow(uint32_t (&e)[N], uint32_t (&o)[N], const uint32_t (&p)[N]) {
  if constexpr (Words32<Params>::kLowWordsOneAndMax) {
    // m = -e0; m (2^32 - 1) = (m - [e0 > 0]) 2^32 + e0; m + e0 = [e0 > 0] 2^32.
    uint32_t e0 = e[0];
    uint32_t m = SubCc(0, e0);
    uint32_t high = Subc(m, 0);
    o[0] = AddCc(o[0], e0);
    o[1] = AddcCc(o[1], high);
#pragma unroll
    for (int j = 2; j < N - 2; j += 2) MadcWideCc(o[j], o[j + 1], m, p[j + 1], o[j], o[j + 1]);
    MadcWideCc(o[N - 2], o[N - 1], m, p[N - 1], o[N - 2], o[N - 1]);
    e[0] = AddCc(e0, m);
    e[1] = AddcCc(e[1], 0);
#pragma unroll
    for (int j = 2; j < N; j += 2) MadcWideCc(e[j], e[j + 1], m, p[j], e[j], e[j + 1]);
    o[N - 1] = Addc(o[N - 1], 0);
  } else {
    uint32_t m = e[0] * Words32<Params>::kNegInverse;
    MadWideCc(o[0], o[1], m, p[1], o[0], o[1]);
#pragma unroll
    for (int j = 2; j < N; j += 2) MadcWideCc(o[j], o[j + 1], m, p[j + 1], o[j], o[j + 1]);
    MadWideCc(e[0], e[1], m, p[0], e[0], e[1]);
#pragma unroll
    for (int j = 2; j < N; j += 2) MadcWideCc(e[j], e[j + 1], m, p[j], e[j], e[j + 1]);
    o[N - 1] = Addc(o[N - 1], 0);
  }
}

/// r = a b / 2^(32 N) mod p, not below p but below p + a b / 2^(32 N).
template <class Params, int N>
CUZK_DEVICE void MontMulLazy(const uint32_t (&a)[N], const uint32_t (&b)[N], uint32_t (&r)[N]) {
  uint32_t p[N], x[N], y[N];
  Multiplicand<Params>(p);
#pragma unroll
  for (int j = 0; j < N; j += 2) {
    MulWide(x[j], x[j + 1], a[j], b[0]);
    MulWide(y[j], y[j + 1], a[j + 1], b[0]);
  }
  ReductionRow<Params>(x, y, p);
#pragma unroll
  for (int i = 1; i < N; i += 2) {
    ProductRow(y, x, a, b[i]);
    ReductionRow<Params>(y, x, p);
    if (i + 1 < N) {
      ProductRow(x, y, a, b[i + 1]);
      ReductionRow<Params>(x, y, p);
    }
  }
  // N is even: the last row had y as the lower accumulator; its word 0 is clear.
  r[0] = AddCc(x[0], y[1]);
#pragma unroll
  for (int j = 1; j < N - 1; ++j) r[j] = AddcCc(x[j], y[j + 1]);
  r[N - 1] = Addc(x[N - 1], 0);
}

/// a - p if a >= p.
template <class Params, int N>
CUZK_DEVICE void ReduceOnce(uint32_t (&a)[N]) {
  uint32_t p[N], less[N];
  Words32<Params>::Modulus(p);
  uint32_t borrow = Sub(a, p, less);
  Choose(borrow, a, less, a);
}

}  // namespace detail
}  // namespace cuzk::gpu

namespace cuzk::algebra {

/// The same element as MontField<Params>, bit for bit.
template <class Params, bool kCalled>
struct alignas(16) MontField<Params, gpu::PtxLimbsOf<kCalled>> {
  using Host = MontField<Params, HostLimbs>;
  static constexpr int N = 2 * Params::kLimbs;
  static constexpr size_t kLimbs = Params::kLimbs;
  static constexpr size_t kBytes = 8 * kLimbs;

  uint32_t w[N];

  MontField() = default;
  /// From the host's element, and back.
  explicit MontField(const Host& h) { std::memcpy(w, h.limb, sizeof(w)); }
  Host ToHost() const {
    Host h;
    std::memcpy(h.limb, w, sizeof(w));
    return h;
  }

  static CUZK_DEVICE MontField Zero() {
    MontField r;
#pragma unroll
    for (int i = 0; i < N; ++i) r.w[i] = 0;
    return r;
  }
  static CUZK_DEVICE MontField One() {
    MontField r;
    gpu::detail::Words32<Params>::One(r.w);
    return r;
  }

  friend CUZK_DEVICE MontField operator+(const MontField& a, const MontField& b) {
    MontField r;
    gpu::Add(a.w, b.w, r.w);
    gpu::detail::ReduceOnce<Params>(r.w);
    return r;
  }
  friend CUZK_DEVICE MontField operator-(const MontField& a, const MontField& b) {
    MontField r;
    uint32_t p[N];
    gpu::detail::Words32<Params>::Modulus(p);
    uint32_t borrow = gpu::Sub(a.w, b.w, r.w);
    gpu::AddIf(borrow, r.w, p);
    return r;
  }
  friend CUZK_DEVICE MontField operator*(const MontField& a, const MontField& b) {
    if constexpr (kCalled) {
      return ProductCalled(a, b);
    } else {
      return Product(a, b);
    }
  }
  static CUZK_DEVICE MontField Product(const MontField& a, const MontField& b) {
    MontField r;
    gpu::detail::MontMulLazy<Params>(a.w, b.w, r.w);
    gpu::detail::ReduceOnce<Params>(r.w);
    return r;
  }
  /// a b for any a below 2^256 (2^384) and a canonical b; below 2p, which the caller has to know what to do with.
  static CUZK_DEVICE MontField ProductLazy(const MontField& a, const MontField& b) {
    MontField r;
    // The words of a are scanned and b is multiplied: between rows the sum stays below b + p, which fits.
    gpu::detail::MontMulLazy<Params>(b.w, a.w, r.w);
    return r;
  }
  /// What is below 2p, reduced.
  CUZK_DEVICE MontField Reduced() const {
    MontField r = *this;
    gpu::detail::ReduceOnce<Params>(r.w);
    return r;
  }
  static __device__ __noinline__ MontField ProductCalled(MontField a, MontField b) { return Product(a, b); }
  CUZK_DEVICE MontField operator-() const { return Zero() - *this; }
  CUZK_DEVICE MontField& operator+=(const MontField& b) { return *this = *this + b; }
  CUZK_DEVICE MontField& operator-=(const MontField& b) { return *this = *this - b; }
  CUZK_DEVICE MontField& operator*=(const MontField& b) { return *this = *this * b; }
  CUZK_DEVICE MontField Double() const { return *this + *this; }
  CUZK_DEVICE MontField Square() const { return *this * *this; }
  CUZK_DEVICE bool IsZero() const {
    uint32_t any = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) any |= w[i];
    return any == 0;
  }
  friend CUZK_DEVICE bool operator==(const MontField& a, const MontField& b) {
    uint32_t any = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) any |= a.w[i] ^ b.w[i];
    return any == 0;
  }
  CUZK_DEVICE bool IsOne() const { return *this == One(); }
  /// The canonical value.
  CUZK_DEVICE void ToCanonical(uint32_t (&r)[N]) const {
    uint32_t one[N] = {1};
    gpu::detail::MontMulLazy<Params>(w, one, r);
    gpu::detail::ReduceOnce<Params>(r);
  }
  /// 1/this; zero gives zero. gpu/field/inverse.cuh; Fp only.
  __device__ MontField Inverse() const;
};

}  // namespace cuzk::algebra

namespace cuzk::gpu {

/// The fields as kernels see them.
using FrD = algebra::MontField<algebra::FrParams, PtxLimbs>;
using FpD = algebra::MontField<algebra::FpParams, PtxLimbs>;
using FpCalledD = algebra::MontField<algebra::FpParams, PtxLimbsCalled>;
using Fp2D = algebra::Fp2Of<FpCalledD>;
static_assert(sizeof(FrD) == sizeof(algebra::Fr) && sizeof(FpD) == sizeof(algebra::Fp));
static_assert(sizeof(Fp2D) == sizeof(algebra::Fp2));

/// Elements move in pieces of 16 bytes.
template <class F>
CUZK_DEVICE F Load(const F* from) {
  F r;
  const uint4* source = reinterpret_cast<const uint4*>(from);
  uint4* target = reinterpret_cast<uint4*>(&r);
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(F) / 16); ++i) target[i] = source[i];
  return r;
}
/// For data that no kernel writes meanwhile.
template <class F>
CUZK_DEVICE F LoadConst(const F* from) {
  F r;
  const uint4* source = reinterpret_cast<const uint4*>(from);
  uint4* target = reinterpret_cast<uint4*>(&r);
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(F) / 16); ++i) target[i] = __ldg(source + i);
  return r;
}
template <class F>
CUZK_DEVICE void Store(F* to, const F& value) {
  uint4* target = reinterpret_cast<uint4*>(to);
  const uint4* source = reinterpret_cast<const uint4*>(&value);
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(F) / 16); ++i) target[i] = source[i];
}

}  // namespace cuzk::gpu
