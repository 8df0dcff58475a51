#pragma once
// The bodies of BatchAdder for eight additions at a time, as plain functions, so that nothing that other code shares is
// compiled with wide instructions. Each may be called only where its arithmetic is supported.

#include <cstddef>
#include <span>

#include "core/algebra/msm/batch_add.h"

namespace cuzk::algebra {

/// The adder around these functions, for kFma and kIfma; MakeBatchAdder gives it.
template <class F>
std::unique_ptr<BatchAdder<F>> MakeLaneBatchAdder(Arithmetic arithmetic);

/// What FmaAdd and IfmaAdd work in, aligned to 64 bytes.
template <class F>
size_t FmaAddScratchBytes();
template <class F>
size_t IfmaAddScratchBytes();

/// All additions of the span as BatchAdder::Run does them, points in memory form, every case right.
template <class F>
void FmaAdd(std::span<const PointAddition<F>> additions, std::byte* scratch);
template <class F>
void IfmaAdd(std::span<const PointAddition<F>> additions, std::byte* scratch);

// What they call back, in batch_add_lanes.cc, compiled for every processor.

/// Inverts eight elements in place with one inversion; zeros stay zero.
void InvertEight(Fp* values);
/// The sum of one addition, in every case.
template <class F>
AffinePoint<F> AddOne(const PointAddition<F>& addition);

}  // namespace cuzk::algebra
