// Multi-exponentiation in G1: one translation unit a group, for the sake of compile time.
#include "gpu/msm/list_sum.cuh"
#include "gpu/msm/msm.cuh"

namespace cuzk::gpu {

using algebra::Fp;
using algebra::Fr;

template StatusOr<MsmPlan> PlanMsm<Fp>(const prover::CardLimits&, uint32_t, uint64_t, MsmForm);
template Status EnqueueMsm<Fp>(const MsmPlan&, const algebra::AffinePoint<Fp>*, const Fr*, const IndexMap&, Arena,
                               algebra::XyzzPoint<Fp>*, StreamView, uint32_t*);
template size_t ListSumBytes<Fp>();
template Status EnqueueListSum<Fp>(const prover::CardLimits&, const algebra::AffinePoint<Fp>*, const uint32_t*,
                                   uint32_t, const uint32_t*, Arena, algebra::XyzzPoint<Fp>*, StreamView);

}  // namespace cuzk::gpu
