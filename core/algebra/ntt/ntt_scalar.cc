// The transforms with scalar arithmetic: eight elements at a time only for the sake of cache lines.

#include "core/algebra/ntt/ntt_kernel.h"

namespace cuzk::algebra {
namespace {

Fr FactorValue(const NttFactor& t) { return {{t.word[0], t.word[1], t.word[2], t.word[3]}}; }

struct EightFr {
  Fr lane[kNttLanes];

  static EightFr Load(const Fr* p, size_t stride) {
    EightFr r;
    for (size_t i = 0; i < kNttLanes; ++i) r.lane[i] = p[i * stride];
    return r;
  }
  static void Store(const EightFr& v, Fr* p, size_t stride) {
    for (size_t i = 0; i < kNttLanes; ++i) p[i * stride] = v.lane[i];
  }
  static void StoreLoose(const EightFr& v, Fr* p, size_t stride) { Store(v, p, stride); }
  static void StoreScaled(const EightFr& v, const NttFactor& t, Fr* p, size_t stride) { Store(Mul(v, t), p, stride); }

  static Fr LaneOf(const EightFr& t, size_t i) { return t.lane[i]; }
  static Fr LaneOf(const NttFactor& t, size_t) { return FactorValue(t); }

  template <class Factor>
  static EightFr Mul(const EightFr& a, const Factor& t) {
    EightFr r;
    for (size_t i = 0; i < kNttLanes; ++i) r.lane[i] = a.lane[i] * LaneOf(t, i);
    return r;
  }
  template <class Factor>
  static void Split(EightFr& u, EightFr& v, const Factor& t) {
    for (size_t i = 0; i < kNttLanes; ++i) {
      Fr product = v.lane[i] * LaneOf(t, i);
      v.lane[i] = u.lane[i] - product;
      u.lane[i] += product;
    }
  }
  template <unsigned kBound, class Factor>
  static void Join(EightFr& u, EightFr& v, const Factor& t) {
    for (size_t i = 0; i < kNttLanes; ++i) {
      Fr difference = u.lane[i] - v.lane[i];
      u.lane[i] += v.lane[i];
      v.lane[i] = difference * LaneOf(t, i);
    }
  }
  static void Settle(EightFr&) {}
};

}  // namespace

void ScalarToReversed(const NttTransform& t, ThreadPool& pool) { TransformToReversed<EightFr>(t, pool); }
void ScalarFromReversed(const NttTransform& t, ThreadPool& pool) { TransformFromReversed<EightFr>(t, pool); }

}  // namespace cuzk::algebra
