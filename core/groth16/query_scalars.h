#pragma once
// The polynomials of every variable at tau, which are the scalars that the generator multiplies the base points with.

#include <cstdint>
#include <span>

#include "core/groth16/generator.h"
#include "core/groth16/lagrange.h"
#include "core/memory/array.h"
#include "core/r1cs/shape.h"
#include "core/r1cs/variable.h"

namespace cuzk::groth16 {

/// Variables in the order inputs, then aux. u = A's polynomial at tau, v = B's, ext = beta u + alpha v + w (w = C's).
struct QueryScalars {
  memory::Array<algebra::Fr> u, v, ext;
};

/// Streams the circuit once, on all threads of the pool where the input has stretches. InvalidArgument if the rows are
/// not the shape's; if a density bit and a scalar disagree (a combination vanishes at tau by accident, or the shape is
/// another circuit's); or if an aux is unconstrained (its ext is zero). ResourceExhausted if memory is short.
StatusOr<QueryScalars> EvaluateAtTau(const GeneratorInput& input, const LagrangeAt& lagrange,
                                     memory::HostAllocator& allocator, ThreadPool& pool);

}  // namespace cuzk::groth16
