#include "tests/doubles/small_circuits.h"

#include <algorithm>
#include <cstring>

#include "core/base/check.h"

namespace cuzk::testing_support {
namespace {

using r1cs::Fr;
using r1cs::Given;
using r1cs::GivenFlag;

template <class Cs>
typename Cs::Lc Just(const auto& variable, int64_t k = 1) {
  typename Cs::Lc lc;
  lc.Add(variable, k);
  return lc;
}
template <class Cs>
typename Cs::Lc One() {
  typename Cs::Lc lc;
  lc.AddOne();
  return lc;
}

class Toy final : public BothReadings<Toy> {
 public:
  template <class Cs>
  void Build(Cs& cs) const {
    auto x = cs.AllocateNum(Given<Cs>([] { return Fr::FromU64(7); }));
    auto y = cs.AllocateNum(Given<Cs>([] { return Fr::FromU64(9); }));
    auto z = cs.AllocateInput(x.value * y.value);
    auto t = cs.AllocateNum(Given<Cs>([] { return Fr::FromU64(90); }));
    auto d = cs.AllocateInput(t.value);
    cs.Enforce(Just<Cs>(x), Just<Cs>(y), Just<Cs>(z));
    typename Cs::Lc x_plus_3 = Just<Cs>(x);
    x_plus_3.AddOne(3);
    cs.Enforce(std::move(x_plus_3), Just<Cs>(y), Just<Cs>(t));
    cs.Enforce(Just<Cs>(t), One<Cs>(), Just<Cs>(d));
  }
};

/// A sequence of field elements without structure.
Fr Element(uint64_t seed, uint64_t index) {
  Fr x = Fr::FromU64(seed * 0x9e3779b97f4a7c15u + index + 5);
  for (int i = 0; i < 3; ++i) x = x.Square() + Fr::FromU64(index + 1);
  return x;
}

class Mixed final : public BothReadings<Mixed> {
 public:
  explicit Mixed(const MixedCircuitOptions& options) : options_(options) {}

  template <class Cs>
  void Build(Cs& cs) const {
    cs.AllocateInput(Given<Cs>([&] { return Element(options_.seed, 1000000); }));  // in no row of the circuit's own
    if (options_.unconstrained_aux) cs.AllocateNum(Given<Cs>([] { return Fr::FromU64(1); }));
    for (uint32_t i = 0; i < options_.size; ++i) Group(cs, i);
  }

 private:
  template <class Cs>
  void Group(Cs& cs, uint32_t i) const {
    auto bit = cs.AllocateBit(GivenFlag<Cs>([&] { return (Element(options_.seed, i).ToCanonical()[0] & 1) != 0; }));
    typename Cs::Lc complement = Just<Cs>(bit, -1);
    complement.AddOne();
    cs.Enforce(std::move(complement), Just<Cs>(bit), typename Cs::Lc{});
    for (uint32_t k = 0; k < options_.more_bits; ++k) {
      auto more =
          cs.AllocateBit(GivenFlag<Cs>([&] { return (Element(options_.seed, i).ToCanonical()[1] >> k & 1) != 0; }));
      typename Cs::Lc more_complement = Just<Cs>(more, -1);
      more_complement.AddOne();
      cs.Enforce(std::move(more_complement), Just<Cs>(more), typename Cs::Lc{});
    }
    if (i % 3 != 0) return;

    // x (x + 2 bit - 1) = p, where p occurs in C alone.
    auto x = cs.AllocateNum(Given<Cs>([&] { return i % 2 ? Fr::One() : Element(options_.seed + 1, i); }));
    const auto bit_value =
        r1cs::Choose(bit.value, Given<Cs>([] { return Fr::One(); }), Given<Cs>([] { return -Fr::One(); }));
    auto p = cs.AllocateNum(x.value * (x.value + bit_value));
    typename Cs::Lc sum = Just<Cs>(x);
    sum.Add(bit, 2);
    sum.AddOne(-1);
    cs.Enforce(Just<Cs>(x), std::move(sum), Just<Cs>(p));
    if (i % 7 != 0) return;

    auto q = cs.AllocateInput(x.value + Given<Cs>([&] { return options_.wrong && i == 0 ? Fr::One() : Fr::Zero(); }));
    cs.Enforce(Just<Cs>(x), One<Cs>(), Just<Cs>(q));
  }
  const MixedCircuitOptions options_;
};

void Copy(std::span<const Fr> from, const r1cs::Plane& plane, std::span<std::byte> to) {
  CUZK_CHECK(from.size_bytes() == plane.bytes);
  if (!from.empty()) std::memcpy(to.data() + plane.offset, from.data(), from.size_bytes());
}

int8_t SmallValue(const Fr& x) {
  for (int v = -128; v < 128; ++v) {
    if (x == Fr::FromI64(v)) return static_cast<int8_t>(v);
  }
  CUZK_CHECK(false);
  return 0;
}

/// The members of `values` at the indices for which `is_wide`; the others go to `narrow`.
template <class IsWide, class Narrow>
std::vector<Fr> Split(std::span<const Fr> values, IsWide is_wide, Narrow narrow) {
  std::vector<Fr> wide;
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_wide(i)) {
      wide.push_back(values[i]);
    } else {
      narrow(i, values[i]);
    }
  }
  return wide;
}

}  // namespace

std::shared_ptr<const r1cs::Shape> SmallCircuit::MakeShape() const {
  r1cs::ShapeRecorder recorder;
  Record(recorder);
  r1cs::ShapeBuilder builder;
  builder.Append(std::move(recorder).Take());
  return std::make_shared<const r1cs::Shape>(std::move(builder).Finish());
}

Status SmallCircuit::Stream(r1cs::RowSink& sink) const {
  r1cs::ShapeRecorder recorder;
  recorder.set_sink(&sink);
  Record(recorder);
  return absl::OkStatus();
}

r1cs::Witness SmallCircuit::MakeWitness(std::shared_ptr<const r1cs::Shape> shape, r1cs::Layout layout,
                                        memory::Lease lease) const {
  r1cs::Checker values;
  Assign(values);
  const r1cs::LeaseLayout table = r1cs::LeaseLayout::For(*shape, layout);
  const std::span<std::byte> to = lease.bytes();
  CUZK_CHECK(to.size() >= table.bytes);
  std::ranges::fill(to, std::byte{0});
  const bool narrow = layout == r1cs::Layout::kNarrow;
  for (size_t m = 0; m < r1cs::kMatrixCount; ++m) {
    std::vector<Fr> rows = values.rows()[m];
    for (const Fr& input : values.inputs()) rows.push_back(m == 0 ? input : Fr::Zero());
    std::byte* bytes = to.data() + table.rows[m].narrow.offset;
    Copy(Split(
             rows, [&](size_t i) { return !narrow || shape->wide[m].Contains(i); },
             [&](size_t i, const Fr& x) { bytes[i] = static_cast<std::byte>(SmallValue(x)); }),
         table.rows[m].wide, to);
  }
  std::byte* bits = to.data() + table.aux.narrow.offset;
  Copy(Split(
           values.aux(), [&](size_t i) { return !narrow || !shape->boolean_aux.Contains(i); },
           [&](size_t i, const Fr& x) { bits[i / 8] |= static_cast<std::byte>(x.IsOne() << (i % 8)); }),
       table.aux.wide, to);
  Copy(values.inputs(), table.inputs, to);
  return r1cs::Witness(std::move(shape), layout, std::move(lease));
}

r1cs::Witness SmallCircuit::MakeWitness(std::shared_ptr<const r1cs::Shape> shape, r1cs::Layout layout) const {
  static memory::AlignedAllocator allocator;  // without state
  StatusOr<memory::Lease> lease = memory::Lease::Standalone(allocator, r1cs::LeaseLayout::For(*shape, layout).bytes);
  CUZK_CHECK(lease.ok());
  return MakeWitness(std::move(shape), layout, *std::move(lease));
}

std::vector<Fr> SmallCircuit::PublicInputs() const {
  r1cs::Checker values;
  Assign(values);
  return {values.inputs().begin() + 1, values.inputs().end()};
}

std::unique_ptr<SmallCircuit> ToyCircuit() { return std::make_unique<Toy>(); }

std::unique_ptr<SmallCircuit> MixedCircuit(const MixedCircuitOptions& options) {
  return std::make_unique<Mixed>(options);
}

}  // namespace cuzk::testing_support
