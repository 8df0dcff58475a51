#pragma once
// Tests of a device before it gets work: whether its results are those of the processor.

#include <functional>
#include <memory>
#include <vector>

#include "core/base/status.h"
#include "core/base/thread_pool.h"
#include "core/circuit/post.h"
#include "core/groth16/section_scalars.h"
#include "core/prover/device/device.h"

namespace cuzk::prover {

/// Multiplies both generators by a few hundred scalars, the extreme ones among them, and compares with the processor.
/// Takes about two milliseconds. DataLoss says where they differ; other errors are those of the multiplier.
Status TestMultiplier(groth16::BaseMultiplier& multiplier, ThreadPool& pool);

/// Parameters on the device from known secrets, without a file. The shape is that of the scalars.
using ParameterMaker = std::function<StatusOr<std::shared_ptr<const ResidentParameters>>(
    const groth16::SectionScalars& scalars, std::shared_ptr<const r1cs::Shape> shape)>;

/// One circuit that is small in everything, and one whose sums have more than 2^20 terms: a device chooses its
/// transforms and the form of its sums by size, and these two make it use each of them.
std::vector<circuit::PostSpec> SelfTestCircuits();

/// Proves a statement of each circuit with parameters from `make`, and verifies the proofs on the processor, which
/// finds an error of the transforms and of each of the five sums, in G1 and in G2. DataLoss names the circuit whose
/// proof is wrong; other errors are those of the device and of `make`.
Status TestProofs(Device& device, const ParameterMaker& make, const std::vector<circuit::PostSpec>& circuits,
                  ThreadPool& pool);

}  // namespace cuzk::prover
