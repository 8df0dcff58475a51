#pragma once
// The laws of the transforms, for every implementation of them: the processor's arithmetics and the devices. A law
// returns the name of what is broken, or nothing, so that the suite itself can be tried on a broken double.

#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/algebra/ntt/ntt.h"
#include "core/base/text.h"

namespace cuzk::algebra {

/// The transforms of one size, in place; one that is empty is not offered and not tried.
struct NttOperations {
  using Transform = std::function<void(std::span<Fr>)>;
  Transform ntt, inverse, coset, inverse_coset;
  Transform ntt_to_reversed, inverse_to_reversed, coset_to_reversed;
  Transform ntt_from_reversed, inverse_from_reversed, inverse_coset_from_reversed;
  std::function<void(std::span<Fr>, std::span<Fr>, std::span<Fr>)> quotient;
};

inline NttOperations ProcessorNtt(const Domain& d, ThreadPool& pool) {
  auto bind = [d, &pool](auto* f) { return [d, &pool, f](std::span<Fr> x) { f(x, d, pool); }; };
  NttOperations r;
  r.ntt = bind(Ntt), r.inverse = bind(InverseNtt), r.coset = bind(CosetNtt), r.inverse_coset = bind(InverseCosetNtt);
  r.ntt_to_reversed = bind(NttToReversed), r.inverse_to_reversed = bind(InverseNttToReversed);
  r.coset_to_reversed = bind(CosetNttToReversed), r.ntt_from_reversed = bind(NttFromReversed);
  r.inverse_from_reversed = bind(InverseNttFromReversed);
  r.inverse_coset_from_reversed = bind(InverseCosetNttFromReversed);
  r.quotient = [d, &pool](std::span<Fr> a, std::span<Fr> b, std::span<Fr> c) { Quotient(a, b, c, d, pool); };
  return r;
}

/// Pseudo-random elements, with zero, one and -1 among them.
inline std::vector<Fr> NttElements(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Fr> x(n);
  for (Fr& e : x) {
    e = Fr::FromMontgomery({random(), random(), random(), random() >> 2});  // below 2^254, so below r
    switch (random() % 16) {
      case 0:
        e = Fr::Zero();
        break;
      case 1:
        e = Fr::One();
        break;
      case 2:
        e = -Fr::One();
        break;
      default:
        break;
    }
  }
  return x;
}

inline size_t NttReversed(size_t i, unsigned bits) {
  size_t r = 0;
  for (unsigned k = 0; k < bits; ++k) r = r << 1 | (i >> k & 1);
  return r;
}
inline std::vector<Fr> NttInReversedOrder(const std::vector<Fr>& x, unsigned bits) {
  std::vector<Fr> r(x.size());
  for (size_t i = 0; i < x.size(); ++i) r[NttReversed(i, bits)] = x[i];
  return r;
}
inline std::vector<Fr> NttApply(const NttOperations::Transform& f, std::vector<Fr> x) {
  f(x);
  return x;
}

/// Forward transforms are evaluations at `shift` w^i: all of them in small sizes, some in large ones.
inline bool NttEvaluates(const NttOperations::Transform& f, const std::vector<Fr>& x, const Fr& shift, unsigned bits) {
  size_t n = x.size();
  std::vector<Fr> values = NttApply(f, x);
  std::vector<size_t> places;
  if (n <= 512) {
    for (size_t i = 0; i < n; ++i) places.push_back(i);
  } else {
    places = {0, 1, 2, n / 2, n - 1, n / 3, n / 5 * 2, n / 7 * 5};
  }
  Fr w = FrRootOfUnity(bits);
  for (size_t i : places) {
    if (values[i] != NaiveEvaluate(x, shift * w.Pow(i))) return false;
  }
  return true;
}

/// h of a satisfied system divides: a(x) b(x) - c(x) = h(x) (x^n - 1) at a random x, and its last coefficient is zero;
/// an unsatisfied row shows in the last coefficient.
inline std::string BrokenQuotientLaw(const NttOperations& ops, unsigned bits) {
  size_t n = size_t{1} << bits;
  std::vector<Fr> a = NttElements(n, 11), b = NttElements(n, 12), c(n);
  for (size_t i = 0; i < n; ++i) c[i] = a[i] * b[i];
  std::vector<Fr> h = a, b_work = b, c_work = c;
  ops.quotient(h, b_work, c_work);
  if (!h[n - 1].IsZero()) return "the last coefficient of the quotient is zero";
  Fr x = Fr::FromU64(0x123456789abcdef).Pow(5);
  Fr ax = NaiveEvaluate(NttApply(ops.inverse, a), x), bx = NaiveEvaluate(NttApply(ops.inverse, b), x);
  Fr cx = NaiveEvaluate(NttApply(ops.inverse, c), x);
  if (ax * bx - cx != NaiveEvaluate(h, x) * (x.Pow(n) - Fr::One())) return "the quotient divides by x^n - 1";
  h = a, b_work = b, c_work = c;
  c_work[n / 2] += Fr::One();
  ops.quotient(h, b_work, c_work);
  if (h[n - 1].IsZero()) return "an unsatisfied row leaves a last coefficient";
  return "";
}

/// The first law of size 2^bits that does not hold, or "".
inline std::string BrokenNttLaw(const NttOperations& ops, unsigned bits) {
  size_t n = size_t{1} << bits;
  Fr g = Fr::FromU64(kFrGenerator);
  std::vector<Fr> x = NttElements(n, bits + 1);
  auto reversed = [&](const std::vector<Fr>& v) { return NttInReversedOrder(v, bits); };

  if (!NttEvaluates(ops.ntt, x, Fr::One(), bits)) return "ntt evaluates at the powers of the root";
  if (!NttEvaluates(ops.coset, x, g, bits)) return "coset ntt evaluates at 7 times the powers of the root";
  std::vector<Fr> values = NttApply(ops.ntt, x), coset_values = NttApply(ops.coset, x);
  if (NttApply(ops.inverse, values) != x) return "inverse after ntt";
  if (NttApply(ops.ntt, NttApply(ops.inverse, x)) != x) return "ntt after inverse";
  if (NttApply(ops.inverse_coset, coset_values) != x) return "inverse coset after coset";
  if (NttApply(ops.coset, NttApply(ops.inverse_coset, x)) != x) return "coset after inverse coset";

  auto agrees = [&](const NttOperations::Transform& f, const std::vector<Fr>& in, const std::vector<Fr>& out) {
    return !f || NttApply(f, in) == out;
  };
  if (!agrees(ops.ntt_to_reversed, x, reversed(values))) return "ntt to reversed order";
  if (!agrees(ops.coset_to_reversed, x, reversed(coset_values))) return "coset ntt to reversed order";
  if (!agrees(ops.inverse_to_reversed, values, reversed(x))) return "inverse to reversed order";
  if (!agrees(ops.ntt_from_reversed, reversed(x), values)) return "ntt from reversed order";
  if (!agrees(ops.inverse_from_reversed, reversed(values), x)) return "inverse from reversed order";
  if (!agrees(ops.inverse_coset_from_reversed, reversed(coset_values), x)) return "inverse coset from reversed order";
  return ops.quotient ? BrokenQuotientLaw(ops, bits) : "";
}

}  // namespace cuzk::algebra
