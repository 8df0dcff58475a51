#pragma once
// Multi-scalar multiplication: sum of k_i P_i, by Pippenger's buckets with signed digits. Buckets are summed in affine
// coordinates, many independent additions sharing one inversion.
//
// Points are in Montgomery memory form and may be infinity, repeated or opposite. A scalar k above r/2 acts as k - r,
// which is the same for points of the subgroup. Memory besides the arguments is bounded by MsmScratchBytes: long sums
// are computed in pieces of 2^20 terms, and each thread of the pool has one set of buckets. It is taken before a piece
// begins, so that a shortage is an error and nothing is half done.

#include <array>
#include <cstdint>
#include <span>
#include <stop_token>

#include "core/algebra/curve/curve.h"
#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/progress.h"
#include "core/base/status.h"
#include "core/base/thread_pool.h"
#include "core/memory/host_allocator.h"

namespace cuzk::algebra {

/// How a sum is computed, and what it listens to meanwhile.
struct MsmOptions {
  ThreadPool* pool = nullptr;  ///< required
  Arithmetic arithmetic = Arithmetic::kScalar;
  memory::HostAllocator* scratch = nullptr;  ///< of all that is large; null: the system's memory
  std::stop_token stop;                      ///< Cancelled some milliseconds after it is asked to stop
  Progress progress;                         ///< work done of all work, several times a second at least
};

/// Scalars that were sorted by class beforehand. Every index is below bases.size(); an index may occur several times.
struct ClassedScalars {
  std::span<const uint32_t> ones;     // terms with scalar 1
  std::span<const uint32_t> indices;  // terms with scalars[j] bases[indices[j]]
  std::span<const Fr> scalars;        // as long as indices
};

// Errors: ResourceExhausted, memory; Cancelled.

/// sum scalars[i] bases[i]; both spans equally long, below 2^32. Scalars that are 0 or 1 cost nothing or one addition,
/// and short ones only the windows that they reach.
StatusOr<G1> Msm(std::span<const G1Affine> bases, std::span<const Fr> scalars, const MsmOptions& options);
StatusOr<G2> Msm(std::span<const G2Affine> bases, std::span<const Fr> scalars, const MsmOptions& options);
/// sum over ones of bases[i] plus sum over j of scalars[j] bases[indices[j]].
StatusOr<G1> Msm(std::span<const G1Affine> bases, const ClassedScalars& scalars, const MsmOptions& options);
StatusOr<G2> Msm(std::span<const G2Affine> bases, const ClassedScalars& scalars, const MsmOptions& options);

// The same for small sums; the process ends if the system has no memory for them.

G1 Msm(std::span<const G1Affine> bases, std::span<const Fr> scalars, ThreadPool& pool,
       Arithmetic arithmetic = Arithmetic::kScalar);
G2 Msm(std::span<const G2Affine> bases, std::span<const Fr> scalars, ThreadPool& pool,
       Arithmetic arithmetic = Arithmetic::kScalar);
G1 Msm(std::span<const G1Affine> bases, const ClassedScalars& scalars, ThreadPool& pool,
       Arithmetic arithmetic = Arithmetic::kScalar);
G2 Msm(std::span<const G2Affine> bases, const ClassedScalars& scalars, ThreadPool& pool,
       Arithmetic arithmetic = Arithmetic::kScalar);

/// out[i] = k[i] points[i], each by itself, for points of order r (or infinity) and 0 < k < 2^128, k as two limbs.
/// Spans are equally long. For the weights of batched verification.
void ScalarMulEach(std::span<const G1Affine> points, std::span<const std::array<uint64_t, 2>> k,
                   std::span<G1Affine> out, Arithmetic arithmetic = Arithmetic::kScalar);

/// Upper bound of what one Msm of `terms` terms allocates with `threads` threads, in bytes; for the memory budget.
/// `point_bytes` is 96 or 192.
uint64_t MsmScratchBytes(uint64_t terms, size_t point_bytes, size_t threads);

}  // namespace cuzk::algebra
