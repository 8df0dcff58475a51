#pragma once
// The results of a partition's sums as the card leaves them in page-locked memory, piece by piece, until the host adds
// them up.

#include <array>
#include <vector>

#include "core/groth16/parameter_file.h"
#include "core/groth16/proof.h"
#include "gpu/msm/msm.h"
#include "gpu/runtime/pinned_allocator.h"

namespace cuzk::gpu {

/// One thread at a time. Memory grows by blocks and is kept by Clear for the next partition.
class PartialSums {
 public:
  /// `pinned` outlives this.
  explicit PartialSums(memory::HostAllocator& pinned) : pinned_(&pinned) {}

  /// Where the results of a sum with this plan go; it counts towards the query. ResourceExhausted without memory.
  template <class F>
  StatusOr<algebra::XyzzPoint<F>*> AddSum(groth16::Query query, const MsmPlan& plan);
  /// The same for a single point.
  template <class F>
  StatusOr<algebra::XyzzPoint<F>*> AddPoint(groth16::Query query);

  /// Once the card has written everything: the five sums. Runs on the host, a fraction of a millisecond a sum.
  groth16::MsmResults Total() const;
  /// Forgets all sums. The card no longer writes to them.
  void Clear();

 private:
  static constexpr size_t kBlockPoints = 4096;
  struct Sum {
    groth16::Query query;
    bool is_point;
    MsmPlan plan;  // not of a point
    const void* results;
  };
  template <class F>
  struct Blocks {
    std::vector<PinnedArray<algebra::XyzzPoint<F>>> blocks;
    size_t current = 0, used = 0;  // the block that is being filled, and points taken of it
    StatusOr<algebra::XyzzPoint<F>*> Take(size_t points, memory::HostAllocator& pinned);
  };
  template <class F>
  Blocks<F>& BlocksOf();
  template <class F>
  algebra::JacobianPoint<F> TotalOf(groth16::Query query) const;

  memory::HostAllocator* pinned_;
  std::vector<Sum> sums_;
  Blocks<algebra::Fp> g1_;
  Blocks<algebra::Fp2> g2_;
};

}  // namespace cuzk::gpu
