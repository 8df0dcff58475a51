#pragma once
// Development parameters on the card: fixed-base multiples of both generators.

#include <array>
#include <memory>

#include "core/groth16/section_scalars.h"
#include "gpu/params/fixed_base.h"
#include "gpu/runtime/device_guard.h"
#include "gpu/runtime/pinned_allocator.h"

namespace cuzk::gpu {

/// Makes points from scalars on one card, a piece at a time: while the card multiplies, the processor computes the next
/// piece's scalars. One thread.
class SectionMaker {
 public:
  /// Points of a piece.
  static constexpr size_t kPiece = size_t{1} << 21;
  /// Device bytes that it takes besides the points, for sections of at most `most` points.
  static uint64_t Bytes(uint64_t most);

  /// The card is current. `memory` and `pinned` outlive it. `most`: points of the largest section.
  static StatusOr<std::unique_ptr<SectionMaker>> Create(DeviceMemory& memory, memory::HostAllocator& pinned,
                                                        uint64_t most);
  ~SectionMaker();

  /// Where points go: into device memory, or through the card into page-locked memory.
  struct Place {
    std::byte* memory;
    bool on_host;
  };
  /// The section's points in Montgomery form. Waits. InvalidArgument if one is infinity.
  Status Make(const groth16::SectionScalars& scalars, groth16::Query query, Place to, ThreadPool& pool,
              const Progress& progress);

  /// out[i] = scalars[i] times the generator, host to host; at most kPiece of them.
  template <class F>
  Status Multiply(std::span<const algebra::Fr> scalars, std::span<algebra::AffinePoint<F>> out);

 private:
  struct Slot {
    PinnedArray<algebra::Fr> host;
    Buffer<algebra::Fr> scalars;
    Buffer<std::byte> points;
    std::unique_ptr<Event> done;
  };
  explicit SectionMaker(Stream stream) : stream_(std::move(stream)) {}
  template <class F>
  const FixedBaseTable<F>& Table() const;
  template <class F>
  Status MakePoints(const groth16::SectionScalars& scalars, groth16::Query query, Place to, ThreadPool& pool,
                    const Progress& progress);

  Stream stream_;
  size_t piece_ = 0;
  std::array<Slot, 2> slots_;
  Buffer<unsigned long long> first_infinite_;
  FixedBaseTable<algebra::Fp> g1_;
  FixedBaseTable<algebra::Fp2> g2_;
};

struct CardMultiplierOptions {
  int ordinal = 0;
};
/// What groth16::GenerateParameters takes to multiply on a card. Unavailable if there is no such card.
StatusOr<std::unique_ptr<groth16::BaseMultiplier>> MakeCardMultiplier(const CardMultiplierOptions& options);

}  // namespace cuzk::gpu
