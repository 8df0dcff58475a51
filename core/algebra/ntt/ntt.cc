#include "core/algebra/ntt/ntt.h"

#include <algorithm>
#include <utility>

#include "core/algebra/ntt/ntt_kernel.h"
#include "core/base/check.h"

namespace cuzk::algebra {
namespace {

/// Twiddle factors of a size without tables: by level and block as in NttTwiddles.
Fr SmallTwiddle(const NttTwiddles& t, unsigned log2_size, unsigned level, size_t block) {
  Fr shift = t.shift.Pow(uint64_t{1} << (log2_size - level - 1));
  // w_(level+1) = w^(n / 2^(level+1))
  return shift * t.root.Pow(ReverseBits(block, level) << (log2_size - level - 1));
}

void SmallToReversed(const NttTransform& t) {
  size_t n = size_t{1} << t.domain.log2_size;
  for (unsigned level = 0; level < t.domain.log2_size; ++level) {
    size_t m = n >> (level + 1);
    for (size_t b = 0; b < n / (2 * m); ++b) {
      Fr c = SmallTwiddle(t.twiddles, t.domain.log2_size, level, b);
      for (Fr* x = t.values + b * 2 * m; x < t.values + b * 2 * m + m; ++x) {
        Fr product = x[m] * c;
        x[m] = x[0] - product;
        x[0] += product;
      }
    }
  }
}

void SmallFromReversed(const NttTransform& t) {
  size_t n = size_t{1} << t.domain.log2_size;
  for (unsigned level = t.domain.log2_size; level-- > 0;) {
    size_t m = n >> (level + 1);
    for (size_t b = 0; b < n / (2 * m); ++b) {
      Fr c = SmallTwiddle(t.twiddles, t.domain.log2_size, level, b);
      for (Fr* x = t.values + b * 2 * m; x < t.values + b * 2 * m + m; ++x) {
        Fr difference = x[0] - x[m];
        x[0] += x[m];
        x[m] = difference * c;
      }
    }
  }
}

enum class Scale { kNone, kSizeInverse };

/// Runs `transform` by size and arithmetic.
template <bool to_reversed>
void Run(std::span<Fr> values, const Domain& domain, const NttTwiddles& twiddles, Scale scale, ThreadPool& pool) {
  const DomainTables& tables = domain.tables();
  CUZK_CHECK(values.size() == domain.size());
  NttFactor factor = MakeNttFactor(tables.size_inverse, tables.arithmetic);
  NttTransform t{values.data(), tables, twiddles, scale == Scale::kSizeInverse ? &factor : nullptr};
  if (tables.log2_size < kNttSmallLog2) {
    to_reversed ? SmallToReversed(t) : SmallFromReversed(t);
    if (t.scale) {
      for (Fr& x : values) x *= tables.size_inverse;
    }
    return;
  }
  if (tables.arithmetic == Arithmetic::kIfma) {
    to_reversed ? IfmaToReversed(t, pool) : IfmaFromReversed(t, pool);
  } else {
    to_reversed ? ScalarToReversed(t, pool) : ScalarFromReversed(t, pool);
  }
}

}  // namespace

void NttToReversed(std::span<Fr> values, const Domain& domain, ThreadPool& pool) {
  Run<true>(values, domain, domain.tables().forward, Scale::kNone, pool);
}
void InverseNttToReversed(std::span<Fr> values, const Domain& domain, ThreadPool& pool) {
  Run<true>(values, domain, domain.tables().inverse, Scale::kSizeInverse, pool);
}
void CosetNttToReversed(std::span<Fr> values, const Domain& domain, ThreadPool& pool) {
  Run<true>(values, domain, domain.tables().coset_forward, Scale::kNone, pool);
}

void NttFromReversed(std::span<Fr> values, const Domain& domain, ThreadPool& pool) {
  Run<false>(values, domain, domain.tables().forward, Scale::kNone, pool);
}
void InverseNttFromReversed(std::span<Fr> values, const Domain& domain, ThreadPool& pool) {
  Run<false>(values, domain, domain.tables().inverse, Scale::kSizeInverse, pool);
}
void InverseCosetNttFromReversed(std::span<Fr> values, const Domain& domain, ThreadPool& pool) {
  Run<false>(values, domain, domain.tables().coset_inverse, Scale::kSizeInverse, pool);
}

void Ntt(std::span<Fr> values, const Domain& domain, ThreadPool& pool) {
  NttToReversed(values, domain, pool);
  ReverseOrder(values, pool);
}
void InverseNtt(std::span<Fr> values, const Domain& domain, ThreadPool& pool) {
  InverseNttToReversed(values, domain, pool);
  ReverseOrder(values, pool);
}
void CosetNtt(std::span<Fr> values, const Domain& domain, ThreadPool& pool) {
  CosetNttToReversed(values, domain, pool);
  ReverseOrder(values, pool);
}
void InverseCosetNtt(std::span<Fr> values, const Domain& domain, ThreadPool& pool) {
  ReverseOrder(values, pool);
  InverseCosetNttFromReversed(values, domain, pool);
}

void ReverseOrder(std::span<Fr> values, ThreadPool& pool) {
  size_t n = values.size();
  CUZK_CHECK(std::has_single_bit(n));
  unsigned bits = static_cast<unsigned>(std::countr_zero(n));
  constexpr unsigned kTileBits = 4;
  constexpr size_t kTile = size_t{1} << kTileBits;
  if (bits < 2 * kTileBits) {
    for (size_t i = 0; i < n; ++i) {
      size_t j = ReverseBits(i, bits);
      if (i < j) std::swap(values[i], values[j]);
    }
    return;
  }
  // An index is (high, middle, low) with kTileBits at both ends, and goes to (rev low, rev middle, rev high): the tile
  // of all (high, low) of one middle changes places with that of the reversed middle, in lines of kTile elements.
  unsigned middle_bits = bits - 2 * kTileBits;
  unsigned high_shift = bits - kTileBits;
  size_t reversed[kTile];
  for (size_t i = 0; i < kTile; ++i) reversed[i] = ReverseBits(i, kTileBits);
  Fr* x = values.data();
  pool.ParallelFor(size_t{1} << middle_bits, 16, [&](size_t begin, size_t end) {
    Fr tile[kTile][kTile];
    for (size_t middle = begin; middle < end; ++middle) {
      size_t other = ReverseBits(middle, middle_bits);
      if (other < middle) continue;
      Fr* from = x + (middle << kTileBits);
      Fr* to = x + (other << kTileBits);
      for (size_t h = 0; h < kTile; ++h) {
        for (size_t l = 0; l < kTile; ++l) tile[reversed[l]][reversed[h]] = from[(h << high_shift) + l];
      }
      for (size_t h = 0; h < kTile; ++h) {
        for (size_t l = 0; l < kTile; ++l) std::swap(tile[h][l], to[(h << high_shift) + l]);
      }
      if (other == middle) continue;
      for (size_t h = 0; h < kTile; ++h) {
        for (size_t l = 0; l < kTile; ++l) from[(reversed[l] << high_shift) + reversed[h]] = tile[h][l];
      }
    }
  });
}

void MultiplyPoints(std::span<Fr> a, std::span<const Fr> b, Arithmetic arithmetic, ThreadPool& pool) {
  CUZK_CHECK(b.size() == a.size());
  pool.ParallelFor(a.size(), 1024, [&](size_t begin, size_t end) {
    size_t i = begin;
    if (arithmetic == Arithmetic::kIfma) i += IfmaMultiplyPoints(&a[i], &b[i], end - begin);
    for (; i < end; ++i) a[i] *= b[i];
  });
}

void SubtractAndScale(std::span<Fr> a, std::span<const Fr> b, const Fr& scale, Arithmetic arithmetic,
                      ThreadPool& pool) {
  CUZK_CHECK(b.size() == a.size());
  NttFactor factor = MakeNttFactor(scale, arithmetic);
  pool.ParallelFor(a.size(), 1024, [&](size_t begin, size_t end) {
    size_t i = begin;
    if (arithmetic == Arithmetic::kIfma) i += IfmaSubtractAndScale(&a[i], &b[i], end - begin, factor);
    for (; i < end; ++i) a[i] = (a[i] - b[i]) * scale;
  });
}

void Quotient(std::span<Fr> a, std::span<Fr> b, std::span<Fr> c, const Domain& domain, ThreadPool& pool) {
  for (std::span<Fr> x : {a, b}) {
    InverseNtt(x, domain, pool);
    CosetNttToReversed(x, domain, pool);
  }
  MultiplyPoints(a, b, domain.arithmetic(), pool);
  InverseCosetNttFromReversed(a, domain, pool);
  InverseNtt(c, domain, pool);
  SubtractAndScale(a, c, domain.CosetVanishingInverse(), domain.arithmetic(), pool);
}

Fr NaiveEvaluate(std::span<const Fr> coefficients, const Fr& x) {
  Fr sum = Fr::Zero();
  for (size_t i = coefficients.size(); i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

}  // namespace cuzk::algebra
