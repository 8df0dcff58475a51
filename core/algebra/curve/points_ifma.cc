// Built with the flags of AVX-512 IFMA.

#include "core/algebra/curve/points_ifma.h"

#include <vector>

#include "core/algebra/curve/pairing_steps.h"
#include "core/algebra/field/fp_lanes.h"

namespace cuzk::algebra {
namespace {

/// Eight elements whose products are carried at once. The towers add up more products than FpX8 allows for (84 in the
/// square of Fp12; here 2^10 would do).
struct Lane {
  FpX8 v;

  static Lane Zero() { return {FpX8::Zero()}; }
  static Lane One() { return {FpX8::One()}; }
  friend Lane operator+(const Lane& a, const Lane& b) { return {a.v + b.v}; }
  friend Lane operator-(const Lane& a, const Lane& b) { return {a.v - b.v}; }
  friend Lane operator*(const Lane& a, const Lane& b) { return {{Carried((a.v * b.v).wide)}}; }
  Lane operator-() const { return {-v}; }
  Lane Double() const { return {v.Double()}; }
  Lane Square() const { return {{Carried(v.Square().wide)}}; }
  LaneMask ZeroLanes() const { return v.ZeroLanes(); }
};
using Lane2 = Fp2Of<Lane>;

/// Words of eight elements that lie `kStride` words apart, as they are.
template <size_t kStride>
Lane LoadWords(const uint64_t* first) {
  return {FpX8::Gather<0>([&](size_t i) { return first + kStride * i; })};
}
template <size_t kStride>
void StoreWords(const Lane& v, uint64_t* first) {
  v.v.Scatter([&](size_t i) { return first + kStride * i; });
}
/// Words of memory form times 2^32 give the form of products.
Lane FromMemoryWords(const Lane& words) {
  static constexpr Constant52<8> kUp = FpX8::PowerOfTwo(416 + 32);
  return words * Lane{FpX8::Constant(kUp)};
}
Lane ToMemoryWords(const Lane& v) {
  static constexpr Constant52<8> kDown = FpX8::PowerOfTwo(384);
  return v * Lane{FpX8::Constant(kDown)};
}

/// What differs between the two coordinate fields: lanes, and where their parts lie.
template <class F>
struct Lanes;
template <>
struct Lanes<Fp> {
  using Type = Lane;
  static constexpr size_t kStride = 12;
  static Lane LoadWords(const EightPoints<Fp>& p, size_t word) {
    return algebra::LoadWords<kStride>(p.point[0].x.limb + word);
  }
  static Lane Load(const EightPoints<Fp>& p, size_t word) { return FromMemoryWords(LoadWords(p, word)); }
  static LaneMask ZeroLanes(const Lane& v) { return v.ZeroLanes(); }
  static Lane B() { return Lane::One().Double().Double(); }
};
template <>
struct Lanes<Fp2> {
  using Type = Lane2;
  static constexpr size_t kStride = 24;
  static Lane LoadWords(const EightPoints<Fp2>& p, size_t word) {
    return algebra::LoadWords<kStride>(p.point[0].x.c0.limb + word);
  }
  static Lane2 Load(const EightPoints<Fp2>& p, size_t word) {
    return {FromMemoryWords(LoadWords(p, word)), FromMemoryWords(LoadWords(p, word + 6))};
  }
  static LaneMask ZeroLanes(const Lane2& v) { return v.c0.ZeroLanes() & v.c1.ZeroLanes(); }
  static Lane2 B() { return {Lane::One().Double().Double(), Lane::One().Double().Double()}; }
};

template <class F>
AffinePoint<typename Lanes<F>::Type> LoadPoints(const EightPoints<F>& p) {
  return {Lanes<F>::Load(p, 0), Lanes<F>::Load(p, Lanes<F>::kStride / 2)};
}

/// Both operands finite and different up to sign in every lane; where not, Z becomes and stays zero.
template <class L>
JacobianPoint<L> AddDistinct(const JacobianPoint<L>& a, const JacobianPoint<L>& b) {
  return formulas::AddFinish(formulas::AddSteps(a, b), a.z * b.z);
}

template <class L>
JacobianPoint<L> MultiplyByX(const JacobianPoint<L>& p) {
  JacobianPoint<L> r = p;
  for (int i = 62; i >= 0; --i) {
    r = formulas::Double(r);
    if (kMillerX >> i & 1) r = AddDistinct(r, p);
  }
  return r;
}

Lane SelectLanes(LaneMask mask, const Lane& a, const Lane& b) { return {FpX8::Select(mask, a.v, b.v)}; }
Lane2 SelectLanes(LaneMask mask, const Lane2& a, const Lane2& b) {
  return {SelectLanes(mask, a.c0, b.c0), SelectLanes(mask, a.c1, b.c1)};
}

}  // namespace

template <class F>
uint8_t IfmaImportEight(EightPoints<F>& points) {
  using L = Lanes<F>;
  // The words are the value itself: its product with 2^832 is 2^416 times it, the form of products.
  static constexpr Constant52<8> kForm = FpX8::PowerOfTwo(416 + 416);
  uint64_t* words = reinterpret_cast<uint64_t*>(points.point);
  constexpr size_t kParts = L::kStride / 6;
  Lane part[kParts];
  for (size_t k = 0; k < kParts; ++k) part[k] = L::LoadWords(points, 6 * k) * Lane{FpX8::Constant(kForm)};
  typename L::Type x, y;
  if constexpr (kParts == 2) {
    x = part[0], y = part[1];
  } else {
    x = {part[0], part[1]}, y = {part[2], part[3]};
  }
  for (size_t k = 0; k < kParts; ++k) StoreWords<L::kStride>(ToMemoryWords(part[k]), words + 6 * k);
  return L::ZeroLanes(y.Square() - x.Square() * x - L::B());
}

template <class F>
LaneAnswers IfmaIsNegatedMultiple(const EightPoints<F>& points, const EightPoints<F>& expected, int times) {
  using L = Lanes<F>;
  auto affine = LoadPoints(points);
  JacobianPoint<typename L::Type> multiple{affine.x, affine.y, L::Type::One()};
  for (int i = 0; i < times; ++i) multiple = MultiplyByX(multiple);
  auto e = LoadPoints(expected);
  auto zz = multiple.z.Square();
  LaneMask same_x = L::ZeroLanes(multiple.x - e.x * zz);
  LaneMask opposite_y = L::ZeroLanes(multiple.y + e.y * zz * multiple.z);
  LaneMask undecided = L::ZeroLanes(multiple.z);
  return {static_cast<uint8_t>(same_x & opposite_y & ~undecided), undecided};
}

void IfmaScalarMulEight(const EightPoints<Fp>& points, const uint64_t (&k)[8][2], JacobianPoint<Fp> (&out)[8]) {
  const auto affine = LoadPoints(points);
  const JacobianPoint<Lane> p{affine.x, affine.y, Lane::One()};
  JacobianPoint<Lane> r = p;
  LaneMask started = 0;  // lanes whose highest bit has been met
  for (int bit = 127; bit >= 0; --bit) {
    LaneMask set = 0;
    for (size_t i = 0; i < 8; ++i) set |= static_cast<LaneMask>((k[i][bit / 64] >> (bit % 64) & 1) << i);
    if (started != 0) r = formulas::Double(r);
    JacobianPoint<Lane> sum = formulas::AddFinish(formulas::AddSteps(r, affine), r.z);
    // Until its first bit a lane holds P; then it adds P where its bit is set. 2m P is never P or -P for 0 < m < 2^127.
    const LaneMask add = set & started, keep = static_cast<LaneMask>(~started);
    auto pick = [&](const Lane& s, const Lane& doubled, const Lane& one) {
      return SelectLanes(keep, one, SelectLanes(add, s, doubled));
    };
    r = {pick(sum.x, r.x, p.x), pick(sum.y, r.y, p.y), pick(sum.z, r.z, p.z)};
    started |= set;
  }
  Fp x[8], y[8], z[8];
  r.x.v.ToMemory(x), r.y.v.ToMemory(y), r.z.v.ToMemory(z);
  for (size_t i = 0; i < 8; ++i) out[i] = {x[i], y[i], z[i]};
}

void IfmaMillerLoop(const EightPoints<Fp>* p, const EightPoints<Fp2>* q, size_t count, Fp12 (&out)[8]) {
  struct Group {
    AffinePoint<Lane> p;
    AffinePoint<Lane2> q;
    MillerPoint<Lane> t;
    LaneMask real;
  };
  std::vector<Group> groups((count + 7) / 8);
  for (size_t g = 0; g < groups.size(); ++g) {
    const size_t in_group = count - 8 * g < 8 ? count - 8 * g : 8;
    groups[g].p = LoadPoints(p[g]);
    groups[g].q = LoadPoints(q[g]);
    groups[g].t = {groups[g].q.x, groups[g].q.y, Lane2::One()};
    groups[g].real = static_cast<LaneMask>((1u << in_group) - 1);
  }
  auto f = Fp12Of<Lane>::One();
  auto multiply = [&](const Group& g, LineOf<Lane> line) {
    line.c1 = line.c1 * g.p.x;
    line.c4 = line.c4 * g.p.y;
    if (g.real != kAllLanes) {
      line.c0 = SelectLanes(g.real, line.c0, Lane2::One());
      line.c1 = SelectLanes(g.real, line.c1, Lane2::Zero());
      line.c4 = SelectLanes(g.real, line.c4, Lane2::Zero());
    }
    f = f.MulBy014(line.c0, line.c1, line.c4);
  };
  for (int i = 62; i >= 0; --i) {
    if (i != 62) f = f.Square();
    for (Group& g : groups) multiply(g, MillerDouble(g.t));
    if (kMillerX >> i & 1) {
      for (Group& g : groups) multiply(g, MillerAdd(g.t, g.q));
    }
  }
  const Lane* coefficients = &f.c0.c0.c0;
  for (size_t k = 0; k < 12; ++k) {
    Fp values[8];
    coefficients[k].v.ToMemory(values);
    for (size_t i = 0; i < 8; ++i) (&out[i].c0.c0.c0)[k] = values[i];
  }
}

template uint8_t IfmaImportEight(EightPoints<Fp>&);
template uint8_t IfmaImportEight(EightPoints<Fp2>&);
template LaneAnswers IfmaIsNegatedMultiple(const EightPoints<Fp>&, const EightPoints<Fp>&, int);
template LaneAnswers IfmaIsNegatedMultiple(const EightPoints<Fp2>&, const EightPoints<Fp2>&, int);

}  // namespace cuzk::algebra
