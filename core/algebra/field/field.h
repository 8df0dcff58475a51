#pragma once
// Prime fields in Montgomery form. MontField is the contract of every element type of the project: the vector lanes
// and the device bring other limb primitives, never other formulas.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "core/algebra/field/host_device.h"
#include "core/algebra/field/inverse.h"
#include "core/algebra/field/limbs_host.h"

namespace cuzk::algebra {

/// Everything that follows from a modulus, computed by the compiler. `Params` gives
/// `static constexpr size_t kLimbs` and `static constexpr uint64_t kModulus[kLimbs]` (top bit clear, odd).
template <class Params>
struct FieldConstants {
  static constexpr size_t N = Params::kLimbs;
  struct Limbs {
    uint64_t v[N];
  };

  /// -1/p mod 2^64 by Newton's iteration.
  static constexpr uint64_t NegInverse() {
    uint64_t x = 1;
    for (int i = 0; i < 6; ++i) x *= 2 - Params::kModulus[0] * x;
    return 0 - x;
  }
  /// 2^k mod p by doubling.
  static constexpr Limbs PowerOfTwo(unsigned k) {
    Limbs x{};
    x.v[0] = 1;
    for (unsigned i = 0; i < k; ++i) {
      Limbs y{};
      HostLimbs::AddMod(x.v, x.v, Params::kModulus, y.v);
      x = y;
    }
    return x;
  }

  static constexpr uint64_t kNegInverse = NegInverse();
  static constexpr Limbs kOne = PowerOfTwo(64 * N);        // R mod p
  static constexpr Limbs kRSquared = PowerOfTwo(128 * N);  // R^2 mod p
};

/// An element of the field of `Params`, always reduced. Memory: kLimbs words of 64 bits, least significant first,
/// holding x * 2^(64 kLimbs) mod p. Trivially copyable; all bits zero is zero. Not constant time.
template <class Params, class Limbs = HostLimbs>
struct MontField {
  using Constants = FieldConstants<Params>;
  static constexpr size_t kLimbs = Params::kLimbs;
  static constexpr size_t kBytes = 8 * kLimbs;
  using Canonical = std::array<uint64_t, kLimbs>;
  using Bytes = std::array<uint8_t, kBytes>;

  uint64_t limb[kLimbs];

  static constexpr CUZK_HD MontField Zero() { return MontField{}; }
  static constexpr CUZK_HD MontField One() { return FromMontgomery(Constants::kOne.v); }
  static constexpr CUZK_HD MontField FromMontgomery(const uint64_t (&words)[kLimbs]) {
    MontField r{};
    for (size_t i = 0; i < kLimbs; ++i) r.limb[i] = words[i];
    return r;
  }
  static constexpr CUZK_HD MontField FromU64(uint64_t x) {
    MontField r{};
    r.limb[0] = x;
    return r.ToMontgomery();
  }
  /// x as an element; negative values count down from p.
  static constexpr CUZK_HD MontField FromI64(int64_t x) {
    return x < 0 ? -FromU64(0 - static_cast<uint64_t>(x)) : FromU64(static_cast<uint64_t>(x));
  }
  /// From the canonical value, which must be below p.
  static constexpr MontField FromCanonical(const Canonical& value) {
    MontField r{};
    for (size_t i = 0; i < kLimbs; ++i) r.limb[i] = value[i];
    return r.ToMontgomery();
  }
  /// From canonical little-endian bytes; nothing if the value is p or more.
  static constexpr std::optional<MontField> FromBytesLe(std::span<const uint8_t, kBytes> bytes) {
    Canonical value{};
    for (size_t i = 0; i < kBytes; ++i) value[i / 8] |= static_cast<uint64_t>(bytes[i]) << (8 * (i % 8));
    if (!IsCanonical(value)) return std::nullopt;
    return FromCanonical(value);
  }
  static constexpr bool IsCanonical(const Canonical& value) {
    uint64_t borrow = 0, ignored = 0;
    for (size_t i = 0; i < kLimbs; ++i) borrow = HostLimbs::SubBorrow(value[i], Params::kModulus[i], borrow, ignored);
    return borrow == 1;
  }

  /// The canonical value, limbs least significant first.
  constexpr Canonical ToCanonical() const {
    MontField one{}, t{};
    one.limb[0] = 1;
    Limbs::MontMul(limb, one.limb, Params::kModulus, Constants::kNegInverse, t.limb);
    Canonical r{};
    for (size_t i = 0; i < kLimbs; ++i) r[i] = t.limb[i];
    return r;
  }
  constexpr Bytes ToBytesLe() const {
    Canonical value = ToCanonical();
    Bytes r{};
    for (size_t i = 0; i < kBytes; ++i) r[i] = static_cast<uint8_t>(value[i / 8] >> (8 * (i % 8)));
    return r;
  }
  constexpr Bytes ToBytesBe() const {
    Bytes le = ToBytesLe(), r{};
    for (size_t i = 0; i < kBytes; ++i) r[i] = le[kBytes - 1 - i];
    return r;
  }

  friend constexpr CUZK_HD MontField operator+(const MontField& a, const MontField& b) {
    MontField r{};
    Limbs::AddMod(a.limb, b.limb, Params::kModulus, r.limb);
    return r;
  }
  friend constexpr CUZK_HD MontField operator-(const MontField& a, const MontField& b) {
    MontField r{};
    Limbs::SubMod(a.limb, b.limb, Params::kModulus, r.limb);
    return r;
  }
  friend constexpr CUZK_HD MontField operator*(const MontField& a, const MontField& b) {
    MontField r{};
    Limbs::MontMul(a.limb, b.limb, Params::kModulus, Constants::kNegInverse, r.limb);
    return r;
  }
  constexpr CUZK_HD MontField operator-() const { return Zero() - *this; }
  constexpr CUZK_HD MontField& operator+=(const MontField& b) { return *this = *this + b; }
  constexpr CUZK_HD MontField& operator-=(const MontField& b) { return *this = *this - b; }
  constexpr CUZK_HD MontField& operator*=(const MontField& b) { return *this = *this * b; }
  constexpr CUZK_HD MontField Double() const { return *this + *this; }
  constexpr CUZK_HD MontField Square() const {
    if constexpr (requires(MontField & r) {
                    Limbs::MontSquare(limb, Params::kModulus, Constants::kNegInverse, r.limb);
                  }) {
      MontField r{};
      Limbs::MontSquare(limb, Params::kModulus, Constants::kNegInverse, r.limb);
      return r;
    } else {
      return *this * *this;
    }
  }

  friend constexpr CUZK_HD bool operator==(const MontField& a, const MontField& b) {
    uint64_t difference = 0;
    for (size_t i = 0; i < kLimbs; ++i) difference |= a.limb[i] ^ b.limb[i];
    return difference == 0;
  }
  constexpr CUZK_HD bool IsZero() const { return *this == MontField{}; }
  constexpr CUZK_HD bool IsOne() const { return *this == One(); }

  /// this^e; e has its least significant limb first.
  constexpr MontField Pow(std::span<const uint64_t> e) const {
    MontField r = One();
    for (size_t i = e.size() * 64; i-- > 0;) {
      r = r.Square();
      if (e[i / 64] >> (i % 64) & 1) r *= *this;
    }
    return r;
  }
  constexpr MontField Pow(uint64_t e) const { return Pow(std::span<const uint64_t>(&e, 1)); }

  /// 1/this; zero gives zero. By Fermat in the compiler, by division steps when running.
  constexpr MontField Inverse() const {
    if (!std::is_constant_evaluated()) {
      MontField r{};
      InvertModulo(limb, Params::kModulus, Constants::kRSquared.v, r.limb);
      return r;
    }
    uint64_t e[kLimbs] = {};
    uint64_t two[kLimbs] = {2};
    uint64_t borrow = 0;
    for (size_t i = 0; i < kLimbs; ++i) borrow = HostLimbs::SubBorrow(Params::kModulus[i], two[i], borrow, e[i]);
    return Pow(std::span<const uint64_t>(e, kLimbs));
  }

 private:
  constexpr CUZK_HD MontField ToMontgomery() const {
    MontField r{};
    Limbs::MontMul(limb, Constants::kRSquared.v, Params::kModulus, Constants::kNegInverse, r.limb);
    return r;
  }
};

/// Inverts every element in place with one inversion (Montgomery's trick); zeros stay zero. `scratch` is as long.
template <class F>
void BatchInvert(std::span<F> values, std::span<F> scratch) {
  F product = F::One();
  for (size_t i = 0; i < values.size(); ++i) {
    scratch[i] = product;
    if (!values[i].IsZero()) product *= values[i];
  }
  F inverse = product.Inverse();
  for (size_t i = values.size(); i-- > 0;) {
    if (values[i].IsZero()) continue;
    F next = inverse * values[i];
    values[i] = inverse * scratch[i];
    inverse = next;
  }
}

}  // namespace cuzk::algebra
