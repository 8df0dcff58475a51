#pragma once
// The coefficients of H = (A B - C) / Z from a witness's rows, in two vectors and six transforms.

#include <stop_token>

#include "core/algebra/ntt/ntt.h"
#include "core/base/progress.h"
#include "core/base/status.h"
#include "core/base/thread_pool.h"
#include "core/memory/array.h"
#include "core/r1cs/witness.h"

namespace cuzk::prover {

struct QuotientOptions {
  memory::HostAllocator* allocator = nullptr;  ///< of both vectors
  ThreadPool* pool = nullptr;
  std::stop_token stop;  ///< looked at between the transforms
  Progress progress;     ///< transforms done of all
};

/// m coefficients in natural order, of which the last is zero if the witness satisfies the circuit. On the coset Z is
/// the constant z, so H = (a b)/z - c/z where a b comes back from the coset and c needs its inverse transform only.
/// `domain` has the witness's size. ResourceExhausted if memory is short; Cancelled.
StatusOr<memory::Array<algebra::Fr>> QuotientOf(const r1cs::Witness& witness, const algebra::Domain& domain,
                                                const QuotientOptions& options);

/// The bytes that QuotientOf allocates.
uint64_t QuotientBytes(const r1cs::Shape& shape);

}  // namespace cuzk::prover
