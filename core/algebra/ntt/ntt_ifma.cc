// The transforms with eight elements at a time. Built with the flags of AVX-512 IFMA.

#include "core/algebra/field/fr_lanes.h"
#include "core/algebra/ntt/ntt_kernel.h"

namespace cuzk::algebra {
namespace {

/// Limbs uncarried, value in [0, 35 r). Split adds at most 2 r to either value, so that 16 levels on values below 2 r
/// need no reduction in between.
struct FrVector {
  FrWide wide;

  static FrVector Load(const Fr* p, size_t stride) { return {LoadFr(p, stride)}; }
  static void StoreLoose(const FrVector& v, Fr* p, size_t stride) { StoreFr(BelowTwice(v.wide), p, stride); }
  static void Store(const FrVector& v, Fr* p, size_t stride) { StoreFr(Reduced(BelowTwice(v.wide)), p, stride); }
  static void StoreScaled(const FrVector& v, const NttFactor& t, Fr* p, size_t stride) {
    StoreFr(Reduced(Carried(Product(v.wide, t))), p, stride);
  }

  static FrWide Product(const FrWide& a, const NttFactor& t) {
    return MontgomeryProduct<FrLaneParams>(Carried(a), BroadcastFactor{t.word});
  }
  static FrWide Product(const FrWide& a, const FrVector& t) {
    return MontgomeryProduct<FrLaneParams>(Carried(a), LaneFactor<5>{t.wide});
  }
  /// Carried, so that it can be a factor. Below 1.1 r if both are.
  template <class Factor>
  static FrVector Mul(const FrVector& a, const Factor& t) {
    return {Carried(Product(a.wide, t))};
  }
  template <class Factor>
  static void Split(FrVector& u, FrVector& v, const Factor& t) {
    FrWide product = Product(v.wide, t);
    v.wide = Sub(AddConstant(u.wide, kFrMultiple<2>), product);
    u.wide = Add(u.wide, product);
  }
  template <unsigned kBound, class Factor>
  static void Join(FrVector& u, FrVector& v, const Factor& t) {
    FrWide difference = AddConstant(Sub(u.wide, v.wide), kFrMultiple<kBound>);
    u.wide = Add(u.wide, v.wide);
    v.wide = Product(difference, t);
  }
  static void Settle(FrVector& v) { v.wide = BelowTwice(v.wide); }
};

}  // namespace

void IfmaToReversed(const NttTransform& t, ThreadPool& pool) { TransformToReversed<FrVector>(t, pool); }
void IfmaFromReversed(const NttTransform& t, ThreadPool& pool) { TransformFromReversed<FrVector>(t, pool); }

size_t IfmaMultiplyPoints(Fr* a, const Fr* b, size_t n) {
  size_t i = 0;
  for (; i + kNttLanes <= n; i += kNttLanes) {
    // Products divide by 2^260 where memory form wants 2^256: 2^4 more, below 17 r.
    FrWide product = MontgomeryProduct<FrLaneParams>(LoadFr(a + i, 1), LaneFactor<5>{LoadFr(b + i, 1)});
#pragma GCC unroll 8
    for (size_t k = 0; k < 5; ++k) product.limb[k] = _mm512_slli_epi64(product.limb[k], 4);
    StoreFr(Reduced(BelowTwice(product)), a + i, 1);
  }
  return i;
}

size_t IfmaSubtractAndScale(Fr* a, const Fr* b, size_t n, const NttFactor& scale) {
  size_t i = 0;
  for (; i + kNttLanes <= n; i += kNttLanes) {
    FrWide difference = Carried(AddConstant(Sub(LoadFr(a + i, 1), LoadFr(b + i, 1)), kFrMultiple<1>));
    StoreFr(Reduced(Carried(MontgomeryProduct<FrLaneParams>(difference, BroadcastFactor{scale.word}))), a + i, 1);
  }
  return i;
}

}  // namespace cuzk::algebra
