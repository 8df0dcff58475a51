// Multi-exponentiation in G2: one translation unit a group, for the sake of compile time.
#include "gpu/msm/list_sum.cuh"
#include "gpu/msm/msm.cuh"

namespace cuzk::gpu {

using algebra::Fp2;
using algebra::Fr;

template StatusOr<MsmPlan> PlanMsm<Fp2>(const prover::CardLimits&, uint32_t, uint64_t, MsmForm);
template Status EnqueueMsm<Fp2>(const MsmPlan&, const algebra::AffinePoint<Fp2>*, const Fr*, const IndexMap&, Arena,
                                algebra::XyzzPoint<Fp2>*, StreamView, uint32_t*);
template size_t ListSumBytes<Fp2>();
template Status EnqueueListSum<Fp2>(const prover::CardLimits&, const algebra::AffinePoint<Fp2>*, const uint32_t*,
                                    uint32_t, const uint32_t*, Arena, algebra::XyzzPoint<Fp2>*, StreamView);

}  // namespace cuzk::gpu
