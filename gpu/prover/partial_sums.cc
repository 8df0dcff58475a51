#include "gpu/prover/partial_sums.h"

#include <algorithm>

namespace cuzk::gpu {

using algebra::Fp;
using algebra::Fp2;
using groth16::Query;

template <class F>
StatusOr<algebra::XyzzPoint<F>*> PartialSums::Blocks<F>::Take(size_t points, memory::HostAllocator& pinned) {
  while (current < blocks.size() && used + points > blocks[current].size()) {
    ++current;
    used = 0;
  }
  if (current == blocks.size()) {
    CUZK_ASSIGN_OR_RETURN(auto block,
                          PinnedArray<algebra::XyzzPoint<F>>::Allocate(pinned, std::max(points, kBlockPoints)));
    blocks.push_back(std::move(block));
    used = 0;
  }
  algebra::XyzzPoint<F>* at = blocks[current].data() + used;
  used += points;
  return at;
}

template <class F>
PartialSums::Blocks<F>& PartialSums::BlocksOf() {
  if constexpr (std::is_same_v<F, Fp>) {
    return g1_;
  } else {
    return g2_;
  }
}

template <class F>
StatusOr<algebra::XyzzPoint<F>*> PartialSums::AddSum(Query query, const MsmPlan& plan) {
  CUZK_ASSIGN_OR_RETURN(algebra::XyzzPoint<F> * at, BlocksOf<F>().Take(MsmResultPoints(plan), *pinned_));
  sums_.push_back({query, false, plan, at});
  return at;
}

template <class F>
StatusOr<algebra::XyzzPoint<F>*> PartialSums::AddPoint(Query query) {
  CUZK_ASSIGN_OR_RETURN(algebra::XyzzPoint<F> * at, BlocksOf<F>().Take(1, *pinned_));
  sums_.push_back({query, true, {}, at});
  return at;
}

template <class F>
algebra::JacobianPoint<F> PartialSums::TotalOf(Query query) const {
  auto total = algebra::JacobianPoint<F>::Infinity();
  for (const Sum& sum : sums_) {
    if (sum.query != query) continue;
    const auto* results = static_cast<const algebra::XyzzPoint<F>*>(sum.results);
    total += sum.is_point ? algebra::ToJacobian(*results) : FinishMsm<F>(sum.plan, results);
  }
  return total;
}

groth16::MsmResults PartialSums::Total() const {
  return {TotalOf<Fp>(Query::kH), TotalOf<Fp>(Query::kL), TotalOf<Fp>(Query::kA), TotalOf<Fp>(Query::kBG1),
          TotalOf<Fp2>(Query::kBG2)};
}

void PartialSums::Clear() {
  sums_.clear();
  g1_.current = g1_.used = 0;
  g2_.current = g2_.used = 0;
}

template StatusOr<algebra::XyzzPoint<Fp>*> PartialSums::AddSum<Fp>(Query, const MsmPlan&);
template StatusOr<algebra::XyzzPoint<Fp2>*> PartialSums::AddSum<Fp2>(Query, const MsmPlan&);
template StatusOr<algebra::XyzzPoint<Fp>*> PartialSums::AddPoint<Fp>(Query);
template StatusOr<algebra::XyzzPoint<Fp2>*> PartialSums::AddPoint<Fp2>(Query);

}  // namespace cuzk::gpu
