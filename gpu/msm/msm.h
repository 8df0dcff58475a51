#pragma once
// Multi-scalar multiplication on the device: sum k_i P_i by buckets with signed digits, in G1 or G2 (F = Fp or Fp2 of
// the host). Points and scalars lie in device memory in Montgomery form; points may be infinity, repeated or opposite.
//
// The device leaves a few points for each window in page-locked host memory; the host, once the stream has come that
// far, adds them up (a fraction of a millisecond). Functions that enqueue do not synchronise; the caller keeps
// everything alive until the stream is done. Only the holder of the device's lease calls them: scratch is shared.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/algebra/curve/curve.h"
#include "core/prover/device/card_limits.h"
#include "gpu/msm/items.h"
#include "gpu/msm/windows.h"
#include "gpu/runtime/stream.h"

namespace cuzk::gpu {

/// Hands out pieces of one allocation, or, without an allocation, counts what would be taken.
class Arena {
 public:
  Arena() = default;
  Arena(std::byte* data, size_t bytes) : data_(data), bytes_(bytes) {}
  /// n elements, aligned to 256 bytes. Null where it only counts, or if there is no room (see overrun()).
  template <class T>
  T* Take(size_t n) {
    size_t at = used_;
    used_ += (n * sizeof(T) + 255) / 256 * 256;
    return data_ != nullptr && used_ <= bytes_ ? reinterpret_cast<T*>(data_ + at) : nullptr;
  }
  size_t used() const { return used_; }
  size_t bytes() const { return bytes_; }
  size_t left() const { return bytes_ > used_ ? bytes_ - used_ : 0; }
  bool overrun() const { return used_ > bytes_; }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  size_t used_ = 0;
};

/// The plan of least estimated time on such a card whose scratch fits in `memory` bytes; ResourceExhausted if none
/// does. terms > 0. Needs no card.
template <class F>
StatusOr<MsmPlan> PlanMsm(const prover::CardLimits& card, uint32_t terms, uint64_t memory,
                          MsmForm form = MsmForm::kBest);

/// The time by which plans are chosen, in products of the group's base field.
double EstimateProducts(const MsmPlan& plan);

/// Points that EnqueueMsm writes to the host.
size_t MsmResultPoints(const MsmPlan& plan);
inline constexpr size_t kMaxMsmResultPoints = 63 * 28;

/// Of plan.bytes, what holds the scalars in another form.
constexpr uint64_t MsmSplitBytes(uint64_t terms) { return (terms * 8 * sizeof(uint32_t) + 255) / 256 * 256; }

/// sum scalars[i] points[map(i)]. `arena` has at least plan.bytes left. `results` is page-locked. With `split`, which
/// has MsmSplitBytes, the arena needs that much less and may begin where the scalars are: they are read once, into
/// `split`.
template <class F>
Status EnqueueMsm(const MsmPlan& plan, const algebra::AffinePoint<F>* points, const algebra::Fr* scalars,
                  const IndexMap& map, Arena arena, algebra::XyzzPoint<F>* results, StreamView stream,
                  uint32_t* split = nullptr);
/// After the stream has come that far: the sum. Runs on the host.
template <class F>
algebra::JacobianPoint<F> FinishMsm(const MsmPlan& plan, const algebra::XyzzPoint<F>* results);

/// Scratch of EnqueueListSum at least. With more of it, up to about 310 MB, long lists are summed faster.
template <class F>
size_t ListSumBytes();
/// Sum of points[list[i] without bit 31], negated where bit 31 is set, i < *count (a device pointer), into one
/// page-locked point. *count is at most `capacity`.
template <class F>
Status EnqueueListSum(const prover::CardLimits& card, const algebra::AffinePoint<F>* points, const uint32_t* list,
                      uint32_t capacity, const uint32_t* count, Arena arena, algebra::XyzzPoint<F>* result,
                      StreamView stream);

extern template StatusOr<MsmPlan> PlanMsm<algebra::Fp>(const prover::CardLimits&, uint32_t, uint64_t, MsmForm);
extern template StatusOr<MsmPlan> PlanMsm<algebra::Fp2>(const prover::CardLimits&, uint32_t, uint64_t, MsmForm);

}  // namespace cuzk::gpu
