#pragma once
// Whether what is to prove computes right, asked before it gets work.

#include "core/base/status.h"
#include "core/base/thread_pool.h"
#include "core/groth16/generator.h"

namespace cuzk::daemon {

/// Multiplies both generators by a few hundred scalars, the extreme ones among them, and compares with the processor.
/// Two milliseconds of it. DataLoss says where it differs; errors of the multiplier.
Status TestMultiplier(groth16::BaseMultiplier& multiplier, ThreadPool& pool);

}  // namespace cuzk::daemon
