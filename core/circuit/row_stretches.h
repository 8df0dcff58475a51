#pragma once
// The rows of a circuit, streamed by all threads: first the head, then every block by itself.

#include "core/base/thread_pool.h"
#include "core/circuit/circuit.h"
#include "core/r1cs/row_stretch.h"

namespace cuzk::circuit {

/// Streams the head and then all blocks, several at once, each into a sink of its own. `shape` is the spec's. Memory: a
/// block's densities and names for every thread.
Status StreamStretches(const CircuitSpec& spec, const r1cs::Shape& shape, const r1cs::OpenSink& open, ThreadPool& pool);

}  // namespace cuzk::circuit
