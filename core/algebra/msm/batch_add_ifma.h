#pragma once
// The body of BatchAdder for AVX-512 IFMA, as plain functions, so that nothing that other code shares is compiled with
// wide instructions. They may be called only where IsSupported(Arithmetic::kIfma).

#include <cstddef>
#include <span>

#include "core/algebra/msm/batch_add.h"

namespace cuzk::algebra {

/// The adder around these functions; MakeBatchAdder gives it.
template <class F>
std::unique_ptr<BatchAdder<F>> MakeLaneBatchAdder();

/// What IfmaAdd works in, aligned to 64 bytes.
template <class F>
size_t IfmaAddScratchBytes();

/// All additions of the span as BatchAdder::Run does them, points in memory form, every case right.
template <class F>
void IfmaAdd(std::span<const PointAddition<F>> additions, std::byte* scratch);

// What it calls back, in batch_add_lanes.cc, compiled for every processor.

/// Inverts eight elements in place with one inversion; zeros stay zero.
void InvertEight(Fp* values);
/// The sum of one addition, in every case.
template <class F>
AffinePoint<F> AddOne(const PointAddition<F>& addition);

}  // namespace cuzk::algebra
