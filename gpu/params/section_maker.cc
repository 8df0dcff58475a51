#include "gpu/params/section_maker.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/base/check.h"

namespace cuzk::gpu {

using algebra::Fp;
using algebra::Fp2;
using algebra::Fr;
using groth16::Query;
using groth16::SectionScalars;

namespace {

size_t PieceFor(uint64_t most) { return static_cast<size_t>(std::clamp<uint64_t>(most, 1, SectionMaker::kPiece)); }

}  // namespace

uint64_t SectionMaker::Bytes(uint64_t most) {
  constexpr uint64_t kTables = FixedBaseTable<Fp>::kWindows * FixedBaseTable<Fp>::kDigits *
                               (sizeof(algebra::G1Affine) + sizeof(algebra::G2Affine));
  return 2 * PieceFor(most) * (sizeof(Fr) + sizeof(algebra::G2Affine)) + kTables;
}

StatusOr<std::unique_ptr<SectionMaker>> SectionMaker::Create(DeviceMemory& memory, memory::HostAllocator& pinned,
                                                             uint64_t most) {
  CUZK_ASSIGN_OR_RETURN(Stream stream, Stream::Create());
  std::unique_ptr<SectionMaker> r(new SectionMaker(std::move(stream)));
  r->piece_ = PieceFor(most);
  for (Slot& slot : r->slots_) {
    CUZK_ASSIGN_OR_RETURN(slot.host, PinnedArray<Fr>::Allocate(pinned, r->piece_));
    CUZK_ASSIGN_OR_RETURN(slot.scalars, Buffer<Fr>::Allocate(memory, r->piece_));
    CUZK_ASSIGN_OR_RETURN(slot.points, Buffer<std::byte>::Allocate(memory, r->piece_ * sizeof(algebra::G2Affine)));
    CUZK_ASSIGN_OR_RETURN(Event event, Event::Create());
    slot.done = std::make_unique<Event>(std::move(event));
  }
  CUZK_ASSIGN_OR_RETURN(r->first_infinite_, Buffer<unsigned long long>::Allocate(memory, 1));
  CUZK_ASSIGN_OR_RETURN(r->g1_, FixedBaseTable<Fp>::Make(algebra::G1Generator(), memory, r->stream_));
  CUZK_ASSIGN_OR_RETURN(r->g2_, FixedBaseTable<Fp2>::Make(algebra::G2Generator(), memory, r->stream_));
  return r;
}

SectionMaker::~SectionMaker() { Ignore(cudaStreamSynchronize(stream_.get())); }

template <class F>
const FixedBaseTable<F>& SectionMaker::Table() const {
  if constexpr (std::is_same_v<F, Fp>) {
    return g1_;
  } else {
    return g2_;
  }
}

template <class F>
Status SectionMaker::MakePoints(const SectionScalars& scalars, Query query, Place to, ThreadPool& pool,
                                const Progress& progress) {
  using Point = algebra::AffinePoint<F>;
  auto* const out = reinterpret_cast<Point*>(to.memory);
  const uint64_t count = scalars.counts()[query];
  const cudaStream_t stream = stream_.get();
  CUZK_CUDA(cudaMemsetAsync(first_infinite_.data(), 0xff, sizeof(unsigned long long), stream));
  uint64_t turn = 0;
  for (uint64_t at = 0; at < count; at += piece_, ++turn) {
    Slot& slot = slots_[turn % 2];
    const size_t n = std::min<uint64_t>(piece_, count - at);
    CUZK_RETURN_IF_ERROR(slot.done->Synchronize());
    scalars.Fill(query, at, {slot.host.data(), n}, pool);
    CUZK_CUDA(cudaMemcpyAsync(slot.scalars.data(), slot.host.data(), n * sizeof(Fr), cudaMemcpyHostToDevice, stream));
    Point* points = to.on_host ? reinterpret_cast<Point*>(slot.points.data()) : out + at;
    CUZK_RETURN_IF_ERROR(Table<F>().Multiply(slot.scalars.data(), n, points, stream_));
    CUZK_RETURN_IF_ERROR(FindInfinity<F>(points, n, at, first_infinite_.data(), stream_));
    if (to.on_host) CUZK_CUDA(cudaMemcpyAsync(out + at, points, n * sizeof(Point), cudaMemcpyDeviceToHost, stream));
    CUZK_RETURN_IF_ERROR(slot.done->Record(stream_));
    if (progress) progress(at + n, count);
  }
  unsigned long long first = 0;
  CUZK_CUDA(cudaMemcpyAsync(&first, first_infinite_.data(), sizeof(first), cudaMemcpyDeviceToHost, stream));
  CUZK_RETURN_IF_ERROR(stream_.view().Synchronize());
  if (first == ~0ull) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("section ", groth16::QueryName(query), ": point ", first, " is infinity"));
}

Status SectionMaker::Make(const SectionScalars& scalars, Query query, Place to, ThreadPool& pool,
                          const Progress& progress) {
  if (query == Query::kBG2) return MakePoints<Fp2>(scalars, query, to, pool, progress);
  return MakePoints<Fp>(scalars, query, to, pool, progress);
}

template <class F>
Status SectionMaker::Multiply(std::span<const Fr> scalars, std::span<algebra::AffinePoint<F>> out) {
  CUZK_CHECK(scalars.size() == out.size() && out.size() <= piece_);
  if (out.empty()) return absl::OkStatus();
  const Slot& slot = slots_[0];
  std::memcpy(slot.host.data(), scalars.data(), scalars.size_bytes());
  CUZK_CUDA(cudaMemcpyAsync(slot.scalars.data(), slot.host.data(), scalars.size_bytes(), cudaMemcpyHostToDevice,
                            stream_.get()));
  auto* points = reinterpret_cast<algebra::AffinePoint<F>*>(slot.points.data());
  CUZK_RETURN_IF_ERROR(Table<F>().Multiply(slot.scalars.data(), out.size(), points, stream_));
  CUZK_CUDA(cudaMemcpyAsync(out.data(), points, out.size_bytes(), cudaMemcpyDeviceToHost, stream_.get()));
  return stream_.view().Synchronize();
}

template Status SectionMaker::Multiply(std::span<const Fr>, std::span<algebra::G1Affine>);
template Status SectionMaker::Multiply(std::span<const Fr>, std::span<algebra::G2Affine>);

namespace {

class CardMultiplier final : public groth16::BaseMultiplier {
 public:
  explicit CardMultiplier(DeviceId id) : id_(id), pinned_(id) {}
  ~CardMultiplier() override {
    DeviceGuard guard(id_);
    maker_.reset();
  }
  Status Prepare() {
    DeviceGuard guard(id_);
    CUZK_RETURN_IF_ERROR(guard.status());
    CUZK_ASSIGN_OR_RETURN(maker_, SectionMaker::Create(memory_, pinned_, kPiece));
    return absl::OkStatus();
  }
  size_t points_at_a_time() const override { return kPiece; }
  Status Multiply(std::span<const Fr> scalars, std::span<algebra::G1Affine> out) override { return On(scalars, out); }
  Status Multiply(std::span<const Fr> scalars, std::span<algebra::G2Affine> out) override { return On(scalars, out); }

 private:
  /// Half of what the card would like: the file's writer holds two pieces.
  static constexpr size_t kPiece = SectionMaker::kPiece / 2;

  template <class F>
  Status On(std::span<const Fr> scalars, std::span<algebra::AffinePoint<F>> out) {
    DeviceGuard guard(id_);
    CUZK_RETURN_IF_ERROR(guard.status());
    return maker_->Multiply<F>(scalars, out);
  }
  const DeviceId id_;
  DeviceMemory memory_;
  PinnedAllocator pinned_;
  std::unique_ptr<SectionMaker> maker_;
};

}  // namespace

StatusOr<std::unique_ptr<groth16::BaseMultiplier>> MakeCardMultiplier(const CardMultiplierOptions& options) {
  cudaDeviceProp properties;
  Status status = CUZK_CUDA_STATUS(cudaGetDeviceProperties(&properties, options.ordinal));
  if (!status.ok()) return Annotate(std::move(status), StrCat("card ", options.ordinal));
  auto multiplier = std::make_unique<CardMultiplier>(static_cast<DeviceId>(options.ordinal));
  CUZK_RETURN_IF_ERROR(multiplier->Prepare());
  return multiplier;
}

}  // namespace cuzk::gpu
