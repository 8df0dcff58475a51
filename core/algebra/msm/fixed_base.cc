#include "core/algebra/msm/fixed_base.h"

#include "core/algebra/msm/batch_add.h"
#include "core/base/check.h"

namespace cuzk::algebra {
namespace {

/// The window with the fewest additions: one per window and use, one per entry of the table.
WindowShape ChooseShape(uint64_t multiples) {
  constexpr unsigned kLargest = 13;  // 20 windows of 4096 entries: 7.9 MB of points of G1
  WindowShape best = WindowShape::For(2, SignedScalar::kBits);
  uint64_t best_cost = ~uint64_t{0};
  for (unsigned bits = 2; bits <= kLargest; ++bits) {
    WindowShape shape = WindowShape::For(bits, SignedScalar::kBits);
    uint64_t cost = shape.windows * (multiples + shape.Buckets());
    if (cost < best_cost) {
      best_cost = cost;
      best = shape;
    }
  }
  return best;
}

}  // namespace

template <class F>
FixedBase<F>::FixedBase(const AffinePoint<F>& base, uint64_t multiples, ThreadPool& pool, Arithmetic arithmetic)
    : arithmetic_(arithmetic), shape_(ChooseShape(multiples)), table_(shape_.windows * size_t{shape_.Buckets()}) {
  MakeTable(base, pool);
}

template <class F>
void FixedBase<F>::MakeTable(const AffinePoint<F>& base, ThreadPool& pool) {
  std::vector<JacobianPoint<F>> powers{ToJacobian(base)};
  while (powers.size() < shape_.windows) {
    JacobianPoint<F> p = powers.back();
    for (unsigned i = 0; i < shape_.bits; ++i) p = Double(p);
    powers.push_back(p);
  }
  std::vector<AffinePoint<F>> first(powers.size());
  BatchToAffine(powers, first);
  pool.ParallelFor(shape_.windows, 1, [&](size_t begin, size_t end) {
    auto adder = MakeBatchAdder<F>(arithmetic_);
    const size_t entries = shape_.Buckets();
    for (size_t w = begin; w < end; ++w) table_[w * entries] = first[w];
    std::vector<PointAddition<F>> additions;
    for (size_t known = 1; known < entries; known *= 2) {  // entry j is (j + 1) times the window's power
      additions.clear();
      for (size_t w = begin; w < end; ++w) {
        AffinePoint<F>* window = &table_[w * entries];
        for (size_t j = 0; j < known; ++j) {
          additions.push_back({&window[j], &window[known - 1], &window[known + j], false, false});
        }
      }
      adder->Run(additions);
    }
  });
}

template <class F>
void FixedBase<F>::MultiplyPiece(std::span<const Fr> scalars, std::span<AffinePoint<F>> out) const {
  constexpr size_t kPiece = BatchAdder<F>::kBatch;
  auto adder = MakeBatchAdder<F>(arithmetic_);
  std::vector<DigitScalar> digits(kPiece);
  std::vector<PointAddition<F>> additions;
  for (size_t begin = 0; begin < scalars.size(); begin += kPiece) {
    auto part = out.subspan(begin, std::min(kPiece, scalars.size() - begin));
    for (size_t i = 0; i < part.size(); ++i) {
      digits[i] = DigitScalar(SignedScalar::From(scalars[begin + i]));
      digits[i].Cut(shape_);
      part[i] = AffinePoint<F>::Infinity();
    }
    for (unsigned w = 0; w < shape_.windows; ++w) {
      const DigitScalar::Window window(w, shape_);
      additions.clear();
      for (size_t i = 0; i < part.size(); ++i) {
        int32_t digit = digits[i].Digit(window);
        if (digit == 0) continue;
        const AffinePoint<F>& entry = Entry(w, static_cast<uint32_t>(std::abs(digit)));
        additions.push_back({&part[i], &entry, &part[i], false, digit < 0});
      }
      adder->Run(additions);
    }
  }
}

template <class F>
void FixedBase<F>::Multiply(std::span<const Fr> scalars, std::span<AffinePoint<F>> out, ThreadPool& pool) const {
  CUZK_CHECK(scalars.size() == out.size());
  pool.ParallelFor(scalars.size(), BatchAdder<F>::kBatch, [&](size_t begin, size_t end) {
    MultiplyPiece(scalars.subspan(begin, end - begin), out.subspan(begin, end - begin));
  });
}

template class FixedBase<Fp>;
template class FixedBase<Fp2>;

}  // namespace cuzk::algebra
