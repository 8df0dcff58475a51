#pragma once
// The axioms of a field, for every implementation of one: the host's elements, the portable bodies, the vector lanes
// and the devices. An implementation works on arrays; the laws are tried on edge values and random ones. A law returns
// the name of what is broken, or nothing, so that the suite itself can be tried on a broken double.

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/algebra/field/fp12.h"
#include "core/algebra/field/fr.h"

namespace cuzk::algebra {

/// Operations on arrays of equal length; one that is empty is not offered and not tried.
template <class F>
struct FieldOperations {
  using Array = std::vector<F>;
  using Unary = std::function<Array(const Array&)>;
  using Binary = std::function<Array(const Array&, const Array&)>;
  Binary add, sub, mul;
  Unary negate, twice, square, inverse;
};

/// The host's own operators, one element at a time.
template <class F>
FieldOperations<F> HostField() {
  using Array = std::vector<F>;
  auto unary = [](auto op) {
    return [op](const Array& a) {
      Array r;
      for (const F& x : a) r.push_back(op(x));
      return r;
    };
  };
  auto binary = [](auto op) {
    return [op](const Array& a, const Array& b) {
      Array r;
      for (size_t i = 0; i < a.size(); ++i) r.push_back(op(a[i], b[i]));
      return r;
    };
  };
  FieldOperations<F> f;
  f.add = binary([](const F& a, const F& b) { return a + b; });
  f.sub = binary([](const F& a, const F& b) { return a - b; });
  f.mul = binary([](const F& a, const F& b) { return a * b; });
  f.negate = unary([](const F& a) { return -a; });
  f.twice = unary([](const F& a) { return a.Double(); });
  f.square = unary([](const F& a) { return a.Square(); });
  f.inverse = unary([](const F& a) { return a.Inverse(); });
  return f;
}

/// Elements where carries and borrows are long, then random ones. Words are those of memory.
template <class Params, class Limbs>
void Sample(std::mt19937_64& random, size_t count, std::vector<MontField<Params, Limbs>>& out) {
  using F = MontField<Params, Limbs>;
  out = {F::Zero(), F::One(), -F::One(), F::FromU64(2), -F::FromU64(2), F::FromU64(2).Inverse()};
  auto add_if_reduced = [&](const typename F::Canonical& words) {
    if (!F::IsCanonical(words)) return;
    F x{};
    for (size_t i = 0; i < F::kLimbs; ++i) x.limb[i] = words[i];
    out.push_back(x);
  };
  for (size_t i = 0; i < F::kLimbs; ++i) {
    typename F::Canonical low{}, high{};
    for (size_t j = 0; j <= i; ++j) low[j] = ~uint64_t{0};
    high[i] = uint64_t{1} << 60;
    add_if_reduced(low);
    add_if_reduced(high);
    for (uint64_t d : {1, 2}) {  // just below the modulus, in memory words
      typename F::Canonical words{};
      for (size_t j = 0; j < F::kLimbs; ++j) words[j] = Params::kModulus[j];
      words[i] -= d;
      add_if_reduced(words);
    }
  }
  while (out.size() < count) {
    typename F::Canonical words;
    for (uint64_t& w : words) {
      // A third of the words is all zeros or ones.
      uint64_t kind = random() % 6;
      w = kind == 0 ? 0 : kind == 1 ? ~uint64_t{0} : random();
    }
    words[F::kLimbs - 1] &= ~uint64_t{0} >> __builtin_clzll(Params::kModulus[F::kLimbs - 1]);
    add_if_reduced(words);
  }
}
template <class F>
void Sample(std::mt19937_64& random, size_t count, std::vector<Fp2Of<F>>& out) {
  std::vector<F> c;
  Sample(random, count, c);
  out = {Fp2Of<F>::Zero(), Fp2Of<F>::One(), {F::Zero(), F::One()}, {F::One(), F::One()}};
  while (out.size() < count) out.push_back({c[random() % c.size()], c[random() % c.size()]});
}
template <class F>
void Sample(std::mt19937_64& random, size_t count, std::vector<Fp6Of<F>>& out) {
  std::vector<Fp2Of<F>> c;
  Sample(random, count, c);
  out = {Fp6Of<F>::Zero(), Fp6Of<F>::One()};
  auto any = [&] { return c[random() % c.size()]; };
  while (out.size() < count) out.push_back({any(), any(), any()});
}
template <class F>
void Sample(std::mt19937_64& random, size_t count, std::vector<Fp12Of<F>>& out) {
  std::vector<Fp6Of<F>> c;
  Sample(random, count, c);
  out = {Fp12Of<F>::Zero(), Fp12Of<F>::One()};
  while (out.size() < count) out.push_back({c[random() % c.size()], c[random() % c.size()]});
}
template <class F>
std::vector<F> SampleElements(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<F> out;
  Sample(random, count, out);
  return out;
}

/// Every sample with every other, and some third one with each pair.
template <class F>
struct Triples {
  std::vector<F> a, b, c;
  Triples(size_t count, uint64_t seed) {
    std::vector<F> x = SampleElements<F>(count, seed);
    std::mt19937_64 random(seed + 1);
    for (const F& p : x) {
      for (const F& q : x) {
        a.push_back(p);
        b.push_back(q);
        c.push_back(x[random() % x.size()]);
      }
    }
  }
};

template <class F>
std::string BrokenFieldLaw(const FieldOperations<F>& f, size_t count = 48, uint64_t seed = 1) {
  const Triples<F> t(count, seed);
  const auto &a = t.a, &b = t.b, &c = t.c;
  const std::vector<F> zero(a.size(), F::Zero()), one(a.size(), F::One());
  if (f.add(f.add(a, b), c) != f.add(a, f.add(b, c))) return "addition is not associative";
  if (f.add(a, b) != f.add(b, a)) return "addition does not commute";
  if (f.add(a, zero) != a) return "zero is not neutral";
  if (f.sub(a, b) != f.add(a, f.negate(b))) return "a - b is not a + (-b)";
  if (f.add(a, f.negate(a)) != zero || f.sub(a, a) != zero) return "a - a is not zero";
  if (f.sub(f.add(a, b), b) != a) return "subtraction does not undo addition";
  if (f.mul(f.mul(a, b), c) != f.mul(a, f.mul(b, c))) return "multiplication is not associative";
  if (f.mul(a, b) != f.mul(b, a)) return "multiplication does not commute";
  if (f.mul(a, one) != a) return "one is not neutral";
  if (f.mul(a, zero) != zero) return "zero does not absorb";
  if (f.mul(a, f.add(b, c)) != f.add(f.mul(a, b), f.mul(a, c))) return "multiplication does not distribute";
  if (f.twice && f.twice(a) != f.add(a, a)) return "twice a is not a + a";
  if (f.square && f.square(a) != f.mul(a, a)) return "the square of a is not a a";
  if (f.inverse) {
    auto inverse = f.inverse(a);
    auto product = f.mul(a, inverse);
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i].IsZero() ? !inverse[i].IsZero() : !product[i].IsOne()) return "a times its inverse is not one";
    }
  }
  return "";
}

/// For prime fields: results are reduced and equal to a product by doubling and adding of canonical values, which
/// shares nothing with Montgomery's method but the conversion.
template <class F>
std::string BrokenPrimeFieldLaw(const FieldOperations<F>& f, size_t count = 40, uint64_t seed = 7) {
  const Triples<F> t(count, seed);
  auto products = f.mul(t.a, t.b), sums = f.add(t.a, t.b), differences = f.sub(t.a, t.b);
  for (size_t i = 0; i < t.a.size(); ++i) {
    for (const F& x : {products[i], sums[i], differences[i]}) {
      typename F::Canonical words;
      for (size_t j = 0; j < F::kLimbs; ++j) words[j] = x.limb[j];
      if (!F::IsCanonical(words)) return "a result is not reduced";
    }
    auto b = t.b[i].ToCanonical();
    F expected = F::Zero();
    for (size_t bit = 64 * F::kLimbs; bit-- > 0;) {
      expected = expected + expected;
      if (b[bit / 64] >> (bit % 64) & 1) expected = expected + t.a[i];
    }
    if (products[i] != expected) return "a product differs from doubling and adding";
  }
  return "";
}

}  // namespace cuzk::algebra
