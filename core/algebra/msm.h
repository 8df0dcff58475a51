#pragma once
// Multi-scalar multiplication: sum of k_i P_i, by Pippenger's buckets with signed digits. Buckets are summed in affine
// coordinates, many independent additions sharing one inversion.
//
// Points are in Montgomery memory form and may be infinity, repeated or opposite. A scalar k above r/2 acts as k - r,
// which is the same for points of the subgroup. Memory besides the arguments is bounded by MsmScratchBytes: long sums
// are computed in pieces of 2^20 terms, and each thread of the pool has one set of buckets.

#include <array>
#include <cstdint>
#include <span>

#include "core/algebra/cpu_arithmetic.h"
#include "core/algebra/curve.h"
#include "core/base/thread_pool.h"

namespace cuzk::algebra {

/// sum scalars[i] bases[i]; both spans equally long, below 2^32. Scalars that are 0 or 1 cost nothing or one addition,
/// and short ones only the windows that they reach.
G1 Msm(std::span<const G1Affine> bases, std::span<const Fr> scalars, ThreadPool& pool,
       Arithmetic arithmetic = Arithmetic::kScalar);
G2 Msm(std::span<const G2Affine> bases, std::span<const Fr> scalars, ThreadPool& pool,
       Arithmetic arithmetic = Arithmetic::kScalar);

/// Scalars that were sorted by class beforehand. Every index is below bases.size(); an index may occur several times.
struct ClassedScalars {
  std::span<const uint32_t> ones;     // terms with scalar 1
  std::span<const uint32_t> indices;  // terms with scalars[j] bases[indices[j]]
  std::span<const Fr> scalars;        // as long as indices
};
/// sum over ones of bases[i] plus sum over j of scalars[j] bases[indices[j]].
G1 Msm(std::span<const G1Affine> bases, const ClassedScalars& scalars, ThreadPool& pool,
       Arithmetic arithmetic = Arithmetic::kScalar);
G2 Msm(std::span<const G2Affine> bases, const ClassedScalars& scalars, ThreadPool& pool,
       Arithmetic arithmetic = Arithmetic::kScalar);

/// out[i] = k[i] points[i], each by itself, for points of order r (or infinity) and 0 < k < 2^128, k as two limbs. Spans
/// are equally long. For the weights of batched verification.
void ScalarMulEach(std::span<const G1Affine> points, std::span<const std::array<uint64_t, 2>> k,
                   std::span<G1Affine> out, Arithmetic arithmetic = Arithmetic::kScalar);

/// Upper bound of what one Msm of `terms` terms allocates with `threads` threads, in bytes; for the memory budget.
/// `point_bytes` is 96 or 192.
uint64_t MsmScratchBytes(uint64_t terms, size_t point_bytes, size_t threads);

}  // namespace cuzk::algebra
