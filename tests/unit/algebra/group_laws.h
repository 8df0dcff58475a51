#pragma once
// The laws of the groups G1 and G2, for every implementation of addition: the coordinate systems, the batches that
// share an inversion, and the devices. An implementation adds arrays of affine points. A law returns the name of what
// is broken, or nothing.

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/algebra/curve/curve.h"

namespace cuzk::algebra {

/// Operations on arrays of equal length; one that is empty is not offered and not tried.
template <class F>
struct GroupOperations {
  using Points = std::vector<AffinePoint<F>>;
  std::function<Points(const Points&, const Points&)> add;
  std::function<Points(const Points&)> twice;
};

template <class F>
const AffinePoint<F>& Generator() {
  if constexpr (std::is_same_v<F, Fp>) {
    return G1Generator();
  } else {
    return G2Generator();
  }
}

/// The sum by the textbook's chord and tangent: one division each, every case spelled out.
template <class F>
AffinePoint<F> TextbookSum(const AffinePoint<F>& a, const AffinePoint<F>& b) {
  if (a.IsInfinity()) return b;
  if (b.IsInfinity()) return a;
  F slope;
  if (a.x == b.x) {
    if (a.y != b.y) return AffinePoint<F>::Infinity();
    F xx = a.x.Square();
    slope = (xx + xx + xx) * (a.y + a.y).Inverse();
  } else {
    slope = (b.y - a.y) * (b.x - a.x).Inverse();
  }
  F x = slope.Square() - a.x - b.x;
  return {x, slope * (a.x - x) - a.y};
}

/// Infinity, small multiples of the generator of both signs (so that sums repeat, cancel and double), and others.
template <class F>
std::vector<AffinePoint<F>> SamplePoints(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  const AffinePoint<F> g = Generator<F>();
  std::vector<AffinePoint<F>> points{AffinePoint<F>::Infinity(), g, -g};
  for (int i = 0; i < 3; ++i) {
    points.push_back(TextbookSum(points[points.size() - 2], g));
    points.push_back(-points.back());
  }
  while (points.size() < count) {
    uint64_t k[2] = {random(), random()};
    points.push_back(ToAffine(ScalarMul(ToJacobian(g), k)));
  }
  return points;
}

template <class F>
std::string BrokenGroupLaw(const GroupOperations<F>& group, size_t count = 20, uint64_t seed = 1) {
  const auto samples = SamplePoints<F>(count, seed);
  std::vector<AffinePoint<F>> a, b, c;
  for (size_t i = 0; i < samples.size(); ++i) {
    for (size_t j = 0; j < samples.size(); ++j) {
      a.push_back(samples[i]);
      b.push_back(samples[j]);
      c.push_back(samples[(3 * i + 5 * j) % samples.size()]);
    }
  }
  const std::vector<AffinePoint<F>> infinity(a.size(), AffinePoint<F>::Infinity());
  auto negative = a;
  for (auto& p : negative) p = -p;
  const auto sum = group.add(a, b);
  for (const auto& p : sum) {
    if (!IsOnCurve(p)) return "a sum is not on the curve";
  }
  if (group.add(a, infinity) != a || group.add(infinity, a) != a) return "infinity is not neutral";
  if (group.add(a, negative) != infinity) return "P - P is not infinity";
  if (sum != group.add(b, a)) return "addition does not commute";
  if (group.add(sum, c) != group.add(a, group.add(b, c))) return "addition is not associative";
  for (size_t i = 0; i < a.size(); ++i) {
    if (sum[i] != TextbookSum(a[i], b[i])) return "a sum differs from the textbook's";
  }
  if (group.twice && group.twice(a) != group.add(a, a)) return "twice P is not P + P";
  return "";
}

}  // namespace cuzk::algebra
