#pragma once
// The buckets of a few windows over a range of terms: the unit of work of an MSM, run by one thread.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/algebra/msm/batch_add.h"
#include "core/algebra/msm/msm_scalars.h"
#include "core/memory/array.h"

namespace cuzk::algebra {

/// A point with a sign, in one word.
template <class F>
class SignedPoint {
 public:
  SignedPoint() = default;
  SignedPoint(const AffinePoint<F>* point, bool negative)
      : word_(reinterpret_cast<const std::byte*>(point) + static_cast<size_t>(negative)) {}
  const AffinePoint<F>* point() const {
    return reinterpret_cast<const AffinePoint<F>*>(word_ - static_cast<size_t>(negative()));
  }
  bool negative() const { return reinterpret_cast<uintptr_t>(word_) & 1; }

 private:
  const std::byte* word_;  // the point, one byte further if it is negative
};

/// Additions that are collected for a BatchAdder, in memory that it does not own.
template <class F>
class AdditionList {
 public:
  AdditionList() = default;
  explicit AdditionList(std::span<PointAddition<F>> room) : room_(room) {}
  void Clear() { size_ = 0; }
  void Push(const PointAddition<F>& addition) { room_[size_++] = addition; }
  std::span<const PointAddition<F>> all() const { return room_.first(size_); }

 private:
  std::span<PointAddition<F>> room_;
  size_t size_ = 0;
};

/// Pieces of one allocation, each aligned to a cache line.
class ScratchCutter {
 public:
  explicit ScratchCutter(std::span<std::byte> whole) : rest_(whole) {}
  template <class T>
  static constexpr size_t Bytes(size_t count) {
    return (count * sizeof(T) + 63) / 64 * 64;
  }
  template <class T>
  std::span<T> Cut(size_t count) {
    T* data = reinterpret_cast<T*>(rest_.data());
    rest_ = rest_.subspan(Bytes<T>(count));
    return {data, count};
  }

 private:
  std::span<std::byte> rest_;
};

/// Terms of one pass; each names its scalar, cut into the shape, and its point.
template <class F>
struct BucketTerms {
  const DigitScalar* scalars;
  std::span<const uint32_t> positions;  // term to place in `scalars`
  const AffinePoint<F>* points;
  const uint32_t* indices;  // term to place in `points`
  WindowShape shape;
  size_t size() const { return positions.size(); }
  const DigitScalar& scalar(size_t i) const { return scalars[positions[i]]; }
  const AffinePoint<F>& point(size_t i) const { return points[indices[i]]; }
};

/// Everything that one thread needs to fill and weigh the buckets of a few windows, or to sum points.
template <class F>
class BucketPass {
 public:
  /// Additions are sorted into buckets at most this many at a time.
  static constexpr size_t kChunk = 32768;
  /// Terms are added to their buckets as they come, this many at a time, where there are kSparse times as many buckets,
  /// so that few terms meet in one; else they are sorted first.
  static constexpr size_t kSpan = 4096, kLeastSpan = 256, kSparse = 8;
  /// A window's buckets are weighed in at most this many segments at once.
  static constexpr size_t kSegments = 128;

  /// What a pass has room for.
  struct Room {
    size_t buckets = 0;   // of all its windows
    size_t segments = 0;  // of all its windows
    size_t chunk = 1;     // additions at a time; not fewer than windows

    /// For `windows` windows of a shape over at most `terms` terms.
    static Room For(const WindowShape& shape, size_t windows, size_t terms) {
      const size_t per_window = shape.Buckets();
      return {windows * per_window, windows * std::min(per_window, kSegments),
              std::clamp<size_t>(windows * terms, windows, std::max(kChunk, windows))};
    }
    bool Holds(const Room& other) const {
      return buckets >= other.buckets && segments >= other.segments && chunk >= other.chunk;
    }
    size_t additions() const { return std::max(chunk, 2 * segments); }
    size_t touched() const { return std::min(chunk, buckets); }
    size_t Bytes() const {
      using Cut = ScratchCutter;
      return Cut::Bytes<AffinePoint<F>>(buckets) + 3 * Cut::Bytes<AffinePoint<F>>(segments) +
             Cut::Bytes<AffinePoint<F>>(chunk) + Cut::Bytes<PointAddition<F>>(additions()) + Cut::Bytes<Place>(chunk) +
             Cut::Bytes<SignedPoint<F>>(chunk) + Cut::Bytes<uint32_t>(buckets + 1) +
             2 * Cut::Bytes<uint32_t>(touched()) + Cut::Bytes<State>(buckets);
    }
  };

  /// ResourceExhausted if the allocator, which must outlive the pass, has no memory.
  static StatusOr<std::unique_ptr<BucketPass>> Create(Arithmetic arithmetic, const Room& room,
                                                      memory::HostAllocator& allocator) {
    CUZK_ASSIGN_OR_RETURN(auto memory, memory::Array<std::byte>::Allocate(allocator, room.Bytes(), "buckets of a sum"));
    return std::unique_ptr<BucketPass>(new BucketPass(arithmetic, room, std::move(memory)));
  }

  const Room& room() const { return room_; }

  /// Terms [begin, end), and the window that `out` begins with.
  struct Piece {
    size_t begin, end;
    unsigned first_window;
  };

  /// For each window of the piece (as many as `out` has) the sum over its terms of digit times point.
  /// `keep_on(additions)` is called from time to time with the additions made; once it returns false, the rest is left
  /// out and `out` is meaningless.
  template <class KeepOn>
  void Run(const BucketTerms<F>& terms, const Piece& piece, std::span<XyzzPoint<F>> out, KeepOn keep_on) {
    shape_ = terms.shape;
    const size_t windows = out.size();
    buckets_ = all_buckets_.first(windows * shape_.Buckets());
    counts_ = all_counts_.first(buckets_.size() + 1);
    std::ranges::fill(buckets_, AffinePoint<F>::Infinity());
    states_ = all_states_.first(buckets_.size());
    std::ranges::fill(states_, State::kEmpty);
    span_ = std::min({buckets_.size() / kSparse, kSpan, room_.touched()});
    placed_ = 0;
    additions_.Clear();
    const size_t step = std::max<size_t>(1, room_.chunk / windows);
    for (size_t i = piece.begin; i < piece.end; i += step) {
      const size_t to = std::min(piece.end, i + step);
      if (span_ >= kLeastSpan) {
        AddAsTheyCome(terms, {i, to, piece.first_window}, windows);
      } else {
        Collect(terms, {i, to, piece.first_window}, windows);
        SortAndAdd(terms);
      }
      if (!keep_on((to - i) * windows)) return;
    }
    if (span_ >= kLeastSpan) {
      AddSpan();
      SortAndAdd(terms);
    }
    Weigh(out);
  }

  /// Sum of bases[i] over the indices.
  template <class KeepOn>
  JacobianPoint<F> SumOf(const AffinePoint<F>* bases, std::span<const uint32_t> indices, KeepOn keep_on) {
    auto sum = JacobianPoint<F>::Infinity();
    for (size_t i = 0; i < indices.size(); i += room_.chunk) {
      const auto part = indices.subspan(i, std::min(room_.chunk, indices.size() - i));
      for (size_t j = 0; j < part.size(); ++j) items_[j] = SignedPoint<F>(&bases[part[j]], false);
      uint32_t length[1] = {static_cast<uint32_t>(part.size())};
      Reduce(items_.first(part.size()), length);
      sum += *items_[0].point();
      if (!keep_on(part.size())) break;
    }
    return sum;
  }

 private:
  struct Place {
    uint32_t bucket, term;
    bool negative;
  };
  /// Of a bucket: whether something is in it, and whether an addition of the span writes it.
  enum class State : uint8_t { kEmpty, kFilled, kBusy };

  BucketPass(Arithmetic arithmetic, const Room& room, memory::Array<std::byte> memory)
      : adder_(MakeBatchAdder<F>(arithmetic)), room_(room), memory_(std::move(memory)) {
    ScratchCutter cutter(memory_.span());
    all_buckets_ = cutter.Cut<AffinePoint<F>>(room.buckets);
    for (auto* segments : {&running_, &next_running_, &total_}) *segments = cutter.Cut<AffinePoint<F>>(room.segments);
    sums_ = cutter.Cut<AffinePoint<F>>(room.chunk);
    additions_ = AdditionList<F>(cutter.Cut<PointAddition<F>>(room.additions()));
    places_ = cutter.Cut<Place>(room.chunk);
    items_ = cutter.Cut<SignedPoint<F>>(room.chunk);
    all_counts_ = cutter.Cut<uint32_t>(room.buckets + 1);
    lengths_ = cutter.Cut<uint32_t>(room.touched());
    touched_ = cutter.Cut<uint32_t>(room.touched());
    all_states_ = cutter.Cut<State>(room.buckets);
  }

  /// Sums runs of points, each down to one, a level of pairs of all runs at a time. `items` holds the runs one after
  /// another; `lengths` their lengths, none zero. Afterwards items[i] is the sum of run i; it points to a given point
  /// or to sums_, valid until the next call.
  void Reduce(std::span<SignedPoint<F>> items, std::span<uint32_t> lengths) {
    size_t used = 0;
    for (bool again = true; again;) {
      again = false;
      additions_.Clear();
      size_t read = 0, write = 0;
      for (uint32_t& length : lengths) {
        for (uint32_t i = 0; i + 1 < length; i += 2, read += 2) {
          AffinePoint<F>* sum = &sums_[used++];
          const SignedPoint<F>&a = items[read], &b = items[read + 1];
          additions_.Push({a.point(), b.point(), sum, a.negative(), b.negative()});
          items[write++] = SignedPoint<F>(sum, false);
        }
        if (length & 1) items[write++] = items[read++];
        length = (length + 1) / 2;
        again = again || length > 1;
      }
      adder_->Run(additions_.all());
    }
  }

  /// Calls with the bucket, the term and whether to negate it, window by window.
  template <class Use>
  void ForEachDigit(const BucketTerms<F>& terms, const Piece& piece, size_t windows, Use use) {
    const uint32_t per_window = shape_.Buckets();
    for (size_t w = 0; w < windows; ++w) {
      const DigitScalar::Window window(piece.first_window + static_cast<unsigned>(w), shape_);
      for (size_t i = piece.begin; i < piece.end; ++i) {
        const int32_t digit = terms.scalar(i).Digit(window);
        if (digit == 0) continue;
        const uint32_t bucket = static_cast<uint32_t>(w) * per_window + static_cast<uint32_t>(std::abs(digit)) - 1;
        use(Place{bucket, static_cast<uint32_t>(i), digit < 0});
      }
    }
  }

  void Collect(const BucketTerms<F>& terms, const Piece& piece, size_t windows) {
    ForEachDigit(terms, piece, windows, [&](const Place& place) { places_[placed_++] = place; });
  }

  /// Each term goes to its bucket with the next span of additions. What meets another term of the span is put aside,
  /// to be sorted: nothing at all where digits are all over, all of it where they are few.
  void AddAsTheyCome(const BucketTerms<F>& terms, const Piece& piece, size_t windows) {
    ForEachDigit(terms, piece, windows, [&](const Place& place) {
      AffinePoint<F>* bucket = &buckets_[place.bucket];
      const AffinePoint<F>& point = terms.point(place.term);
      switch (states_[place.bucket]) {
        case State::kEmpty:
          *bucket = place.negative ? -point : point;
          states_[place.bucket] = State::kFilled;
          break;
        case State::kFilled:
          states_[place.bucket] = State::kBusy;
          touched_[additions_.all().size()] = place.bucket;
          additions_.Push({bucket, &point, bucket, false, place.negative});
          if (additions_.all().size() == span_) AddSpan();
          break;
        case State::kBusy:
          places_[placed_++] = place;
          if (placed_ == places_.size()) {
            AddSpan();
            SortAndAdd(terms);
          }
          break;
      }
    });
  }
  void AddSpan() {
    adder_->Run(additions_.all());
    for (uint32_t bucket : touched_.first(additions_.all().size())) states_[bucket] = State::kFilled;
    additions_.Clear();
  }

  /// The places so far: counting sort by bucket, sums within a bucket, then one addition to each bucket that got
  /// something.
  void SortAndAdd(const BucketTerms<F>& terms) {
    const std::span<const Place> places = places_.first(placed_);
    placed_ = 0;
    std::ranges::fill(counts_, 0);
    for (const Place& p : places) ++counts_[p.bucket + 1];
    size_t runs = 0;
    for (size_t b = 0; b + 1 < counts_.size(); ++b) {
      if (counts_[b + 1] != 0) {
        lengths_[runs] = counts_[b + 1];
        touched_[runs++] = static_cast<uint32_t>(b);
      }
      counts_[b + 1] += counts_[b];
    }
    for (const Place& p : places) items_[counts_[p.bucket]++] = SignedPoint<F>(&terms.point(p.term), p.negative);
    Reduce(items_.first(places.size()), lengths_.first(runs));
    additions_.Clear();
    for (size_t i = 0; i < runs; ++i) {
      AffinePoint<F>* bucket = &buckets_[touched_[i]];
      if (bucket->IsInfinity()) {
        *bucket = items_[i].negative() ? -*items_[i].point() : *items_[i].point();
        continue;
      }
      additions_.Push({bucket, items_[i].point(), bucket, false, items_[i].negative()});
    }
    adder_->Run(additions_.all());
    additions_.Clear();
  }

  /// out[w] = sum (j+1) bucket_j. Each segment of buckets keeps a running sum and a total of the running sums; the
  /// segments of all windows advance together.
  void Weigh(std::span<XyzzPoint<F>> out) {
    const size_t per_window = shape_.Buckets(), in_window = std::min(per_window, kSegments);
    const size_t segments = out.size() * in_window, length = per_window / in_window;
    for (auto* points : {&running_, &next_running_, &total_}) {
      std::ranges::fill(points->first(segments), AffinePoint<F>::Infinity());
    }
    for (size_t step = 0; step <= length; ++step) {
      additions_.Clear();
      for (size_t s = 0; s < segments; ++s) {
        if (step > 0) additions_.Push({&total_[s], &running_[s], &total_[s], false, false});
        if (step == length) continue;
        const AffinePoint<F>* bucket = &buckets_[s * length + (length - 1 - step)];
        additions_.Push({&running_[s], bucket, &next_running_[s], false, false});
      }
      adder_->Run(additions_.all());
      if (step < length) std::swap(running_, next_running_);
    }
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
  const Room room_;
  memory::Array<std::byte> memory_;  // all that follows lies in it
  WindowShape shape_{};
  std::span<AffinePoint<F>> all_buckets_, buckets_, running_, next_running_, total_, sums_;
  std::span<uint32_t> all_counts_, counts_, lengths_, touched_;
  std::span<Place> places_;
  size_t placed_ = 0, span_ = 0;
  std::span<State> all_states_, states_;
  std::span<SignedPoint<F>> items_;
  AdditionList<F> additions_;
};

}  // namespace cuzk::algebra
