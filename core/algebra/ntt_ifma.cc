// The transforms with eight elements at a time. Built with the flags of AVX-512 IFMA.

#include "core/algebra/fr_lanes.h"
#include "core/algebra/ntt_kernel.h"

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

void IfmaQuotientPoints(Fr* a, const Fr* b, const Fr* c, size_t n, const NttFactor& scale_c, const NttFactor& scale) {
  for (size_t i = 0; i + kNttLanes <= n; i += kNttLanes) {
    // a b + (r - c) scale_c: both are multiples of 2^512 in memory form, and share one reduction. The second is not
    // negative since c is reduced.
    FrWide minus_c = Carried(Sub(AddConstant(FrWide{}, kFrMultiple<1>), LoadFr(c + i, 1)));
    Long<5> ab = LongProduct(LoadFr(a + i, 1), LaneFactor<5>{LoadFr(b + i, 1)});
    Long<5> cs = LongProduct(minus_c, BroadcastFactor{scale_c.word});
#pragma GCC unroll 16
    for (size_t k = 0; k < 10; ++k) ab.limb[k] = _mm512_add_epi64(ab.limb[k], cs.limb[k]);
    FrWide difference = Carried(MontgomeryReduce<FrLaneParams>(ab));
    StoreFr(Reduced(Carried(MontgomeryProduct<FrLaneParams>(difference, BroadcastFactor{scale.word}))), a + i, 1);
  }
}

}  // namespace cuzk::algebra
