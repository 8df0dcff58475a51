#include "core/algebra/ntt/ntt_tables.h"

#include <algorithm>

#include "core/algebra/ntt/ntt.h"
#include "core/base/check.h"

namespace cuzk::algebra {
namespace {

/// factor[b] = w^rev(b), where w has order 2^(bits+1) and rev reverses `bits` bits; 2^bits entries. Every prefix of
/// 2^l entries is the table of the root of order 2^(l+1).
std::vector<Fr> ReversedPowers(const Fr& root_of_domain, unsigned log2_size, unsigned bits) {
  Fr w = root_of_domain;
  for (unsigned k = log2_size; k > bits + 1; --k) w = w.Square();
  std::vector<Fr> powers(size_t{1} << bits);
  powers[0] = Fr::One();
  // Index b + 2^i adds bit i, which stands for the exponent 2^(bits-1-i).
  for (unsigned i = 0; i < bits; ++i) {
    Fr step = w;
    for (unsigned k = 0; k < bits - 1 - i; ++k) step = step.Square();
    size_t half = size_t{1} << i;
    for (size_t b = 0; b < half; ++b) powers[half + b] = powers[b] * step;
  }
  return powers;
}

NttTwiddles MakeTwiddles(const DomainTables& domain, const Fr& root, const Fr& shift) {
  NttTwiddles t;
  t.root = root;
  t.shift = shift;
  if (domain.log2_size < kNttSmallLog2) return t;
  size_t rows = size_t{1} << domain.log2_rows;
  unsigned widest = std::max(domain.log2_rows, domain.log2_columns);
  std::vector<Fr> reversed = ReversedPowers(root, domain.log2_size, widest - 1);
  for (const Fr& x : reversed) t.reversed.push_back(MakeNttFactor(x, domain.arithmetic));

  t.columns.resize(rows);
  Fr power = shift;  // shift^m of the lowest level of the columns: m = columns
  for (unsigned i = 0; i < domain.log2_columns; ++i) power = power.Square();
  for (unsigned level = domain.log2_rows; level-- > 0; power = power.Square()) {
    size_t blocks = size_t{1} << level;
    for (size_t b = 0; b < blocks; ++b) t.columns[blocks + b] = MakeNttFactor(reversed[b] * power, domain.arithmetic);
  }

  // Row i: s w_n^rev(i), by bits of i as in ReversedPowers.
  t.row_roots.resize(rows);
  t.row_roots[0] = NttFactorForm(shift, domain.arithmetic);
  Fr step = root;
  for (unsigned i = domain.log2_rows; i-- > 0; step = step.Square()) {
    // Bit i stands for the exponent 2^(log2_rows-1-i).
    size_t bit = size_t{1} << i;
    t.row_roots[bit] = step;
  }
  for (unsigned i = 0; i < domain.log2_rows; ++i) {
    size_t bit = size_t{1} << i;
    Fr factor = t.row_roots[bit];
    for (size_t b = 0; b < bit; ++b) t.row_roots[bit + b] = t.row_roots[b] * factor;
  }
  return t;
}

}  // namespace

Fr NttFactorForm(const Fr& x, Arithmetic arithmetic) {
  // Memory holds x * 2^256; 2^4 more makes it x * 2^260.
  return arithmetic == Arithmetic::kIfma ? x.Double().Double().Double().Double() : x;
}

NttFactor MakeNttFactor(const Fr& x, Arithmetic arithmetic) {
  Fr form = NttFactorForm(x, arithmetic);
  const uint64_t* w = form.limb;
  if (arithmetic != Arithmetic::kIfma) return {{w[0], w[1], w[2], w[3], 0}};
  constexpr uint64_t kMask = (uint64_t{1} << 52) - 1;
  return {{w[0] & kMask, (w[0] >> 52 | w[1] << 12) & kMask, (w[1] >> 40 | w[2] << 24) & kMask,
           (w[2] >> 28 | w[3] << 36) & kMask, w[3] >> 16}};
}

Domain::Domain(unsigned log2_size, Arithmetic arithmetic) {
  CUZK_CHECK(log2_size <= kFrTwoAdicity);
  CUZK_CHECK(IsSupported(arithmetic));
  auto t = std::make_shared<DomainTables>();
  t->log2_size = log2_size;
  t->log2_rows = log2_size < kNttSmallLog2 ? 0 : log2_size / 2;
  t->log2_columns = log2_size - t->log2_rows;
  t->arithmetic = arithmetic;
  t->root = FrRootOfUnity(log2_size);
  t->root_inverse = t->root.Inverse();
  t->size_inverse = Fr::FromU64(uint64_t{1} << log2_size).Inverse();
  Fr shift = Fr::FromU64(kFrGenerator), shift_inverse = shift.Inverse();
  t->forward = MakeTwiddles(*t, t->root, Fr::One());
  t->inverse = MakeTwiddles(*t, t->root_inverse, Fr::One());
  t->coset_forward = MakeTwiddles(*t, t->root, shift);
  t->coset_inverse = MakeTwiddles(*t, t->root_inverse, shift_inverse);
  tables_ = std::move(t);
}

unsigned Domain::log2_size() const { return tables_->log2_size; }
Arithmetic Domain::arithmetic() const { return tables_->arithmetic; }
const Fr& Domain::root() const { return tables_->root; }
const Fr& Domain::root_inverse() const { return tables_->root_inverse; }
const Fr& Domain::size_inverse() const { return tables_->size_inverse; }

Fr Domain::CosetVanishing() const {
  Fr x = Fr::FromU64(kFrGenerator);
  for (unsigned i = 0; i < log2_size(); ++i) x = x.Square();
  return x - Fr::One();
}
Fr Domain::CosetVanishingInverse() const { return CosetVanishing().Inverse(); }

}  // namespace cuzk::algebra
