#pragma once
// The two passes of a transform, written once over V, eight field elements side by side: lanes of the processor
// (fr_lanes.h) or eight scalar elements (ntt_scalar.cc). Instantiated in translation units with their own flags.
//
// V gives Load(p, stride), StoreLoose, Store and StoreScaled (eight elements, `stride` apart, in memory form), Mul by a
// V or by an NttFactor, the butterflies Split (u + v t, u - v t) and Join<bound> (u + v, (u - v) t), and Settle. V may
// keep values above the modulus: `bound` is a multiple of it that the inputs of Join stay below, and Settle brings a
// value below twice of it. Memory between the passes holds what StoreLoose left.

#include <bit>
#include <memory>
#include <span>
#include <vector>

#include "core/algebra/ntt/ntt_tables.h"
#include "core/base/mutex.h"
#include "core/base/thread_pool.h"

namespace cuzk::algebra {

inline constexpr size_t kNttLanes = 8;

/// Blocks of `length` vectors that the pieces of one transform take and give back.
template <class V>
class NttScratch {
 public:
  explicit NttScratch(size_t length) : length_(length) {}
  std::unique_ptr<V[]> Take() {
    MutexLock lock(mutex_);
    if (free_.empty()) return std::unique_ptr<V[]>(new V[length_]);
    auto block = std::move(free_.back());
    free_.pop_back();
    return block;
  }
  void GiveBack(std::unique_ptr<V[]> block) {
    MutexLock lock(mutex_);
    free_.push_back(std::move(block));
  }

 private:
  const size_t length_;
  Mutex mutex_;
  std::vector<std::unique_ptr<V[]>> free_ ABSL_GUARDED_BY(mutex_);
};

/// Twiddle factors of the column pass: the same for all columns.
struct ColumnTwiddles {
  const NttFactor* by_node;
  const NttFactor& At(size_t node) const { return by_node[node]; }
};

/// Twiddle factors of the row pass: lane i belongs to row first + i, whose blocks have the factors of an unshifted
/// transform times a power of the row's own root.
template <class V>
class RowTwiddles {
 public:
  RowTwiddles(const NttTwiddles& twiddles, size_t first_row, unsigned levels) : reversed_(twiddles.reversed.data()) {
    power_[levels - 1] = V::Load(twiddles.row_roots.data() + first_row, 1);
    for (unsigned l = levels - 1; l-- > 0;) power_[l] = V::Mul(power_[l + 1], power_[l + 1]);
  }
  V At(size_t node) const {
    unsigned level = static_cast<unsigned>(std::bit_width(node)) - 1;
    return V::Mul(power_[level], reversed_[node - (size_t{1} << level)]);
  }

 private:
  const NttFactor* reversed_;
  V power_[32];
};

/// From coefficients in natural order to values in reversed order: two levels at a time from the top, one part after
/// the other, so that parts that fit a cache are finished inside it.
template <class V, class Twiddles>
void SplitBlock(V* x, size_t size, size_t node, const Twiddles& twiddles) {
  if (size == 1) return;
  if (size == 2) {
    V::Split(x[0], x[1], twiddles.At(node));
    return;
  }
  const auto& t = twiddles.At(node);
  const auto& t0 = twiddles.At(2 * node);
  const auto& t1 = twiddles.At(2 * node + 1);
  size_t q = size / 4;
  for (size_t i = 0; i < q; ++i) {
    V a = x[i], b = x[i + q], c = x[i + 2 * q], d = x[i + 3 * q];
    V::Split(a, c, t);
    V::Split(b, d, t);
    V::Split(a, b, t0);
    V::Split(c, d, t1);
    x[i] = a, x[i + q] = b, x[i + 2 * q] = c, x[i + 3 * q] = d;
  }
  for (size_t i = 0; q > 1 && i < 4; ++i) SplitBlock(x + i * q, q, 4 * node + i, twiddles);
}

/// The transpose of SplitBlock: reversed order in, natural order out. Values stay below four times the modulus
/// between the steps.
template <class V, class Twiddles>
void JoinBlock(V* x, size_t size, size_t node, const Twiddles& twiddles) {
  if (size == 1) return;
  if (size == 2) {
    V::template Join<4>(x[0], x[1], twiddles.At(node));
    return;
  }
  size_t q = size / 4;
  for (size_t i = 0; q > 1 && i < 4; ++i) JoinBlock(x + i * q, q, 4 * node + i, twiddles);
  const auto& t = twiddles.At(node);
  const auto& t0 = twiddles.At(2 * node);
  const auto& t1 = twiddles.At(2 * node + 1);
  for (size_t i = 0; i < q; ++i) {
    V a = x[i], b = x[i + q], c = x[i + 2 * q], d = x[i + 3 * q];
    V::template Join<4>(a, b, t0);
    V::template Join<4>(c, d, t1);
    V::template Join<8>(a, c, t);
    V::template Join<8>(b, d, t);
    V::Settle(a);
    x[i] = a, x[i + q] = b, x[i + 2 * q] = c, x[i + 3 * q] = d;
  }
}

/// One transform of one array. `scale`, where given, multiplies the result.
template <class V>
struct NttPasses {
  Fr* values;
  const DomainTables& domain;
  const NttTwiddles& twiddles;
  const NttFactor* scale;
  ThreadPool& pool;
  NttScratch<V>& scratch;

  size_t rows() const { return size_t{1} << domain.log2_rows; }
  size_t columns() const { return size_t{1} << domain.log2_columns; }

  void StoreLast(const V& v, Fr* p, size_t stride) const {
    scale ? V::StoreScaled(v, *scale, p, stride) : V::Store(v, p, stride);
  }

  template <bool kSplit>
  void Columns() const {
    pool.ParallelFor(columns() / kNttLanes, 1, [this](size_t begin, size_t end) {
      auto block = scratch.Take();
      V* x = block.get();
      ColumnTwiddles factors{twiddles.columns.data()};
      for (size_t group = begin; group < end; ++group) {
        Fr* first = values + group * kNttLanes;
        for (size_t i = 0; i < rows(); ++i) x[i] = V::Load(first + i * columns(), 1);
        if constexpr (kSplit) {
          SplitBlock(x, rows(), 1, factors);
          for (size_t i = 0; i < rows(); ++i) V::StoreLoose(x[i], first + i * columns(), 1);
        } else {
          JoinBlock(x, rows(), 1, factors);
          for (size_t i = 0; i < rows(); ++i) StoreLast(x[i], first + i * columns(), 1);
        }
      }
      scratch.GiveBack(std::move(block));
    });
  }

  template <bool kSplit>
  void Rows() const {
    pool.ParallelFor(rows() / kNttLanes, 1, [this](size_t begin, size_t end) {
      auto block = scratch.Take();
      V* x = block.get();
      for (size_t group = begin; group < end; ++group) {
        size_t row = group * kNttLanes;
        Fr* first = values + row * columns();
        RowTwiddles<V> factors(twiddles, row, domain.log2_columns);
        for (size_t i = 0; i < columns(); ++i) x[i] = V::Load(first + i, columns());
        if constexpr (kSplit) {
          SplitBlock(x, columns(), 1, factors);
          for (size_t i = 0; i < columns(); ++i) StoreLast(x[i], first + i, columns());
        } else {
          JoinBlock(x, columns(), 1, factors);
          for (size_t i = 0; i < columns(); ++i) V::StoreLoose(x[i], first + i, columns());
        }
      }
      scratch.GiveBack(std::move(block));
    });
  }
};

/// What the translation units of the arithmetics offer ntt.cc.
struct NttTransform {
  Fr* values;
  const DomainTables& domain;
  const NttTwiddles& twiddles;
  const NttFactor* scale;
};

template <class V>
void TransformToReversed(const NttTransform& t, ThreadPool& pool) {
  NttScratch<V> scratch(size_t{1} << t.domain.log2_columns);
  NttPasses<V> passes{t.values, t.domain, t.twiddles, t.scale, pool, scratch};
  passes.template Columns<true>();
  passes.template Rows<true>();
}

template <class V>
void TransformFromReversed(const NttTransform& t, ThreadPool& pool) {
  NttScratch<V> scratch(size_t{1} << t.domain.log2_columns);
  NttPasses<V> passes{t.values, t.domain, t.twiddles, t.scale, pool, scratch};
  passes.template Rows<false>();
  passes.template Columns<false>();
}

// ntt_scalar.cc and ntt_ifma.cc; the latter may be called only where IsSupported(Arithmetic::kIfma).
void ScalarToReversed(const NttTransform& t, ThreadPool& pool);
void ScalarFromReversed(const NttTransform& t, ThreadPool& pool);
void IfmaToReversed(const NttTransform& t, ThreadPool& pool);
void IfmaFromReversed(const NttTransform& t, ThreadPool& pool);

// MultiplyPoints and SubtractAndScale of the whole groups of eight among n elements; they return how many those are.
size_t IfmaMultiplyPoints(Fr* a, const Fr* b, size_t n);
size_t IfmaSubtractAndScale(Fr* a, const Fr* b, size_t n, const NttFactor& scale);

}  // namespace cuzk::algebra
