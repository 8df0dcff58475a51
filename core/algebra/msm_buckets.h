#pragma once
// The buckets of a few windows over a range of terms: the unit of work of an MSM, run by one thread.

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "core/algebra/batch_add.h"
#include "core/algebra/msm_scalars.h"

namespace cuzk::algebra {

/// A point with a sign, in one word.
template <class F>
class SignedPoint {
 public:
  SignedPoint() = default;
  SignedPoint(const AffinePoint<F>* point, bool negative)
      : word_(reinterpret_cast<uintptr_t>(point) | static_cast<uintptr_t>(negative)) {}
  const AffinePoint<F>* point() const { return reinterpret_cast<const AffinePoint<F>*>(word_ & ~uintptr_t{1}); }
  bool negative() const { return word_ & 1; }

 private:
  uintptr_t word_;
};

/// Sums runs of points, each down to one, a level of pairs of all runs at a time.
template <class F>
class RunReducer {
 public:
  /// For at most `capacity` points at a time.
  RunReducer(BatchAdder<F>& adder, size_t capacity) : adder_(adder), sums_(capacity) { additions_.reserve(capacity); }

  /// `items` holds the runs one after another; `lengths` their lengths, none zero. Afterwards items[i] is the sum of
  /// run i; it points to a given point or into this object, valid until the next call.
  void Reduce(std::span<SignedPoint<F>> items, std::span<uint32_t> lengths) {
    size_t used = 0;
    for (bool again = true; again;) {
      again = false;
      additions_.clear();
      size_t read = 0, write = 0;
      for (uint32_t& length : lengths) {
        for (uint32_t i = 0; i + 1 < length; i += 2, read += 2) {
          AffinePoint<F>* sum = &sums_[used++];
          const SignedPoint<F>&a = items[read], &b = items[read + 1];
          additions_.push_back({a.point(), b.point(), sum, a.negative(), b.negative()});
          items[write++] = SignedPoint<F>(sum, false);
        }
        if (length & 1) items[write++] = items[read++];
        length = (length + 1) / 2;
        again = again || length > 1;
      }
      adder_.Run(additions_);
    }
  }

 private:
  BatchAdder<F>& adder_;
  std::vector<AffinePoint<F>> sums_;
  std::vector<PointAddition<F>> additions_;
};

/// Terms of one pass: digits and points, in the adder's form, by position.
template <class F>
struct BucketTerms {
  std::span<const DigitScalar> scalars;
  const AffinePoint<F>* points;
  const uint32_t* indices;  // position to place in `points`; null if they are the same
  WindowShape shape;
  const AffinePoint<F>& point(size_t i) const { return points[indices == nullptr ? i : indices[i]]; }
};

/// Everything that one thread needs to fill and weigh the buckets of up to `windows` windows.
template <class F>
class BucketPass {
 public:
  /// Additions are sorted into buckets this many at a time.
  static constexpr size_t kChunk = 32768;
  /// A window's buckets are weighed in at most this many segments at once.
  static constexpr size_t kSegments = 128;

  BucketPass(Arithmetic arithmetic, const WindowShape& shape, unsigned windows)
      : adder_(MakeBatchAdder<F>(arithmetic)),
        reducer_(*adder_, kChunk),
        shape_(shape),
        buckets_(windows * shape.Buckets()),
        counts_(windows * shape.Buckets() + 1),
        items_(kChunk) {}

  /// For each window from `first_window` (as many as `out` has) the sum over terms [begin, end) of digit times point.
  void Run(const BucketTerms<F>& terms, size_t begin, size_t end, unsigned first_window, std::span<XyzzPoint<F>> out) {
    const size_t windows = out.size();
    std::fill(buckets_.begin(), buckets_.end(), AffinePoint<F>::Infinity());
    const size_t step = std::max<size_t>(1, kChunk / windows);
    for (size_t i = begin; i < end; i += step) {
      Accumulate(terms, i, std::min(end, i + step), first_window, windows);
    }
    Weigh(out);
  }

 private:
  struct Place {
    uint32_t bucket, term;
    bool negative;
  };

  void Accumulate(const BucketTerms<F>& terms, size_t begin, size_t end, unsigned first_window, size_t windows) {
    const uint32_t per_window = shape_.Buckets();
    places_.clear();
    std::fill(counts_.begin(), counts_.end(), 0);
    for (size_t w = 0; w < windows; ++w) {
      for (size_t i = begin; i < end; ++i) {
        int32_t digit = terms.scalars[i].Digit(first_window + static_cast<unsigned>(w), shape_);
        if (digit == 0) continue;
        uint32_t bucket = static_cast<uint32_t>(w) * per_window + static_cast<uint32_t>(std::abs(digit)) - 1;
        places_.push_back({bucket, static_cast<uint32_t>(i), digit < 0});
        ++counts_[bucket + 1];
      }
    }
    SortAndAdd(terms);
  }

  /// Counting sort by bucket, sums within the chunk, then one addition to each bucket that got something.
  void SortAndAdd(const BucketTerms<F>& terms) {
    lengths_.clear();
    touched_.clear();
    for (size_t b = 0; b + 1 < counts_.size(); ++b) {
      if (counts_[b + 1] != 0) {
        lengths_.push_back(counts_[b + 1]);
        touched_.push_back(static_cast<uint32_t>(b));
      }
      counts_[b + 1] += counts_[b];
    }
    for (const Place& p : places_) items_[counts_[p.bucket]++] = SignedPoint<F>(&terms.point(p.term), p.negative);
    reducer_.Reduce(std::span(items_.data(), places_.size()), lengths_);
    additions_.clear();
    for (size_t i = 0; i < touched_.size(); ++i) {
      AffinePoint<F>* bucket = &buckets_[touched_[i]];
      if (bucket->IsInfinity()) {
        *bucket = items_[i].negative() ? -*items_[i].point() : *items_[i].point();
        continue;
      }
      additions_.push_back({bucket, items_[i].point(), bucket, false, items_[i].negative()});
    }
    adder_->Run(additions_);
  }

  /// out[w] = sum (j+1) bucket_j. Each segment of buckets keeps a running sum and a total of the running sums; the
  /// segments of all windows advance together.
  void Weigh(std::span<XyzzPoint<F>> out) {
    const size_t per_window = shape_.Buckets(), in_window = std::min(per_window, kSegments);
    const size_t segments = out.size() * in_window, length = per_window / in_window;
    running_.assign(segments, AffinePoint<F>::Infinity());
    next_running_.assign(segments, AffinePoint<F>::Infinity());
    total_.assign(segments, AffinePoint<F>::Infinity());
    for (size_t step = 0; step <= length; ++step) {
      additions_.clear();
      for (size_t s = 0; s < segments; ++s) {
        if (step > 0) additions_.push_back({&total_[s], &running_[s], &total_[s], false, false});
        if (step == length) continue;
        const AffinePoint<F>* bucket = &buckets_[s * length + (length - 1 - step)];
        additions_.push_back({&running_[s], bucket, &next_running_[s], false, false});
      }
      adder_->Run(additions_);
      if (step < length) std::swap(running_, next_running_);
    }
    adder_->Export(running_, running_);
    adder_->Export(total_, total_);
    for (size_t w = 0; w < out.size(); ++w) out[w] = Gather(w * in_window, in_window, length);
  }

  /// sum over segments s of total_s + s length running_s.
  XyzzPoint<F> Gather(size_t first, size_t count, size_t length) const {
    auto suffix = XyzzPoint<F>::Infinity(), weighted = XyzzPoint<F>::Infinity();
    for (size_t s = count; s-- > 1;) {
      suffix = Add(suffix, running_[first + s]);
      weighted = Add(weighted, suffix);
    }
    for (size_t i = 1; i < length; i *= 2) weighted = Double(weighted);
    for (size_t s = 0; s < count; ++s) weighted = Add(weighted, total_[first + s]);
    return weighted;
  }

  std::unique_ptr<BatchAdder<F>> adder_;
  RunReducer<F> reducer_;
  WindowShape shape_;
  std::vector<AffinePoint<F>> buckets_, running_, next_running_, total_;
  std::vector<uint32_t> counts_, lengths_, touched_;
  std::vector<Place> places_;
  std::vector<SignedPoint<F>> items_;
  std::vector<PointAddition<F>> additions_;
};

}  // namespace cuzk::algebra
