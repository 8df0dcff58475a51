#pragma once
// Multi-scalar multiplication against sums that are known without one, for every implementation: the processor's
// arithmetics and the devices. A law returns the name of what is broken, or nothing.

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/algebra/msm/msm.h"
#include "core/base/text.h"
#include "tests/unit/algebra/group_laws.h"

namespace cuzk::algebra {

/// One that is empty is not offered and not tried.
template <class F>
struct MsmOperations {
  std::function<JacobianPoint<F>(std::span<const AffinePoint<F>>, std::span<const Fr>)> msm;
  std::function<JacobianPoint<F>(std::span<const AffinePoint<F>>, const ClassedScalars&)> classed;
};

template <class F>
MsmOperations<F> ProcessorMsm(ThreadPool& pool, Arithmetic arithmetic) {
  return {[&pool, arithmetic](std::span<const AffinePoint<F>> bases, std::span<const Fr> scalars) {
            return Msm(bases, scalars, pool, arithmetic);
          },
          [&pool, arithmetic](std::span<const AffinePoint<F>> bases, const ClassedScalars& scalars) {
            return Msm(bases, scalars, pool, arithmetic);
          }};
}

/// Bases whose logarithms are known, so that the sum is one multiplication of the generator. They are random multiples
/// of it, with infinity and repeated and opposite points among them if so asked.
template <class F>
struct KnownBases {
  std::vector<AffinePoint<F>> points;
  std::vector<Fr> logarithms;

  KnownBases(size_t n, bool with_special_cases, uint64_t seed) {
    std::mt19937_64 random(seed);
    // A walk of two random steps: every point is a sum of points before it, all affine at once at the end.
    std::vector<JacobianPoint<F>> walk;
    const Fr steps[2] = {Fr::FromU64(random()), Fr::FromU64(random() | 1) * Fr::FromU64(random())};
    const JacobianPoint<F> step_points[2] = {ScalarMul(Generator<F>(), steps[0]), ScalarMul(Generator<F>(), steps[1])};
    Fr logarithm = Fr::FromU64(random());
    JacobianPoint<F> at = ScalarMul(Generator<F>(), logarithm);
    for (size_t i = 0; i < n; ++i) {
      const bool second = random() & 1;
      logarithm += steps[second];
      at += step_points[second];
      walk.push_back(at);
      logarithms.push_back(logarithm);
    }
    points.resize(n);
    BatchToAffine(walk, points);
    for (size_t i = 1; with_special_cases && i < n; ++i) {
      switch (random() % 8) {
        case 0:
          Set(i, AffinePoint<F>::Infinity(), Fr::Zero());
          break;
        case 1:
          Set(i, points[i - 1], logarithms[i - 1]);
          break;
        case 2:
          Set(i, -points[i / 2], -logarithms[i / 2]);
          break;
        default:
          break;
      }
    }
  }
  void Set(size_t i, const AffinePoint<F>& p, const Fr& logarithm) { points[i] = p, logarithms[i] = logarithm; }
};

/// Kinds of scalars that a witness or an attacker brings.
inline std::vector<std::string> ScalarKinds() {
  return {"random", "all equal", "zeros and ones", "short", "mixed", "all zero", "largest", "powers of two"};
}
inline std::vector<Fr> ScalarsOfKind(size_t kind, size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto any = [&] { return Fr::FromMontgomery({random(), random(), random(), random() >> 2}); };
  const Fr same = any();
  std::vector<Fr> k(n);
  for (Fr& x : k) {
    switch (kind) {
      case 0:
        x = any();
        break;
      case 1:
        x = same;
        break;
      case 2:
        x = random() % 50 == 0 ? any() : random() % 2 ? Fr::One() : Fr::Zero();
        break;
      case 3:
        x = Fr::FromU64(random() >> (random() % 64));
        break;
      case 4:
        x = random() % 2 ? any() : Fr::FromI64(static_cast<int64_t>(random() % 2001) - 1000);
        break;
      case 5:
        x = Fr::Zero();
        break;
      case 6:
        x = -Fr::FromU64(random() % 3 + 1);
        break;
      default:
        x = Fr::FromU64(2).Pow(random() % 255);
        break;
    }
  }
  return k;
}

template <class F>
JacobianPoint<F> KnownSum(const KnownBases<F>& bases, const std::vector<Fr>& scalars) {
  Fr sum = Fr::Zero();
  for (size_t i = 0; i < scalars.size(); ++i) sum += scalars[i] * bases.logarithms[i];
  return ScalarMul(Generator<F>(), sum);
}

template <class F>
std::string BrokenMsmLaw(const MsmOperations<F>& ops, std::span<const size_t> sizes) {
  for (size_t n : sizes) {
    for (bool special : {false, true}) {
      const KnownBases<F> bases(n, special, 100 + n);
      for (size_t kind = 0; kind < ScalarKinds().size(); ++kind) {
        const auto scalars = ScalarsOfKind(kind, n, 200 + n);
        if (!(ops.msm(bases.points, scalars) == KnownSum(bases, scalars))) {
          return StrCat(n, " terms, ", ScalarKinds()[kind], special ? ", special points" : "");
        }
      }
      // The same point under every scalar, then the sum of all points and their opposites.
      KnownBases<F> same = bases;
      for (size_t i = 0; i < n; ++i) same.Set(i, bases.points[0], bases.logarithms[0]);
      const auto scalars = ScalarsOfKind(0, n, 300 + n);
      if (!(ops.msm(same.points, scalars) == KnownSum(same, scalars))) return StrCat(n, " terms, one point");
      const std::vector<Fr> equal(n, scalars[0]);
      if (!(ops.msm(same.points, equal) == KnownSum(same, equal))) return StrCat(n, " terms, one point, one scalar");
    }
  }
  return "";
}

/// The form with classes: ones, and (index, scalar) pairs, in any order and repeated.
template <class F>
std::string BrokenClassedMsmLaw(const MsmOperations<F>& ops, size_t n) {
  std::mt19937_64 random(n);
  const KnownBases<F> bases(n, true, 400 + n);
  for (size_t pairs : {size_t{0}, size_t{1}, n / 2, 3 * n}) {
    for (size_t ones : {size_t{0}, size_t{1}, n, 2 * n + 1}) {
      std::vector<uint32_t> one_list(ones), indices(pairs);
      for (uint32_t& i : one_list) i = static_cast<uint32_t>(random() % n);
      for (uint32_t& i : indices) i = static_cast<uint32_t>(random() % n);
      const auto scalars = ScalarsOfKind(4, pairs, random());
      Fr sum = Fr::Zero();
      for (uint32_t i : one_list) sum += bases.logarithms[i];
      for (size_t j = 0; j < pairs; ++j) sum += scalars[j] * bases.logarithms[indices[j]];
      if (!(ops.classed(bases.points, {one_list, indices, scalars}) == ScalarMul(Generator<F>(), sum))) {
        return StrCat(ones, " ones and ", pairs, " pairs over ", n, " bases");
      }
    }
  }
  return "";
}

}  // namespace cuzk::algebra
