#include "gpu/prover/cuda_parameters.h"

#include <algorithm>
#include <mutex>
#include <span>

#include "gpu/params/section_maker.h"
#include "gpu/prover/witness_kernels.h"

namespace cuzk::gpu {
namespace {

using groth16::ParameterFile;
using groth16::Query;

/// Bytes of a piece: a multiple of both point sizes.
constexpr uint64_t kPiece = uint64_t{96} << 20;

/// The piece for sections of which the largest has so many bytes: a multiple of both point sizes.
uint64_t PieceFor(uint64_t largest) { return std::min(kPiece, std::max<uint64_t>(largest, 192) / 192 * 192 + 192); }

/// Moves a section's bytes from the mapping to the card, where they are decoded.
class SectionLoader {
 public:
  /// `file` and `options` must outlive the loader.
  static StatusOr<std::unique_ptr<SectionLoader>> Create(const CardContext& card, const ParameterFile& file,
                                                         const prover::LoadOptions& options) {
    std::unique_ptr<SectionLoader> r(new SectionLoader(card, file, options));
    uint64_t largest = 0;
    for (Query q : groth16::kAllQueries) largest = std::max<uint64_t>(largest, file.section_bytes(q));
    r->piece_ = PieceFor(largest);
    for (Slot& slot : r->slots_) {
      CUZK_ASSIGN_OR_RETURN(slot.host, PinnedArray<std::byte>::Allocate(*card.pinned, r->piece_));
      CUZK_ASSIGN_OR_RETURN(slot.raw, Buffer<uint8_t>::Allocate(*card.memory, r->piece_));
      CUZK_ASSIGN_OR_RETURN(slot.decoded, Buffer<std::byte>::Allocate(*card.memory, r->piece_));
      CUZK_ASSIGN_OR_RETURN(Event event, Event::Create());
      slot.done = std::make_unique<Event>(std::move(event));
    }
    CUZK_ASSIGN_OR_RETURN(Stream stream, Stream::Create());
    r->stream_ = std::make_unique<Stream>(std::move(stream));
    CUZK_ASSIGN_OR_RETURN(r->first_bad_, Buffer<unsigned long long>::Allocate(*card.memory, 1));
    return r;
  }
  ~SectionLoader() {
    if (stream_ != nullptr) Ignore(cudaStreamSynchronize(stream_->get()));
  }

  /// Decodes to device memory, or through the card to page-locked memory. `progress` is told bytes of the section.
  Status Load(Query query, std::byte* to, bool to_host, const Progress& progress) {
    const bool on_curve = options_.policy != groth16::PointPolicy::kCanonical;
    const uint64_t total = file_.section_bytes(query);
    const uint64_t size = groth16::PointBytes(query), piece = piece_ / size * size;
    file_.Announce(query, 0, piece);
    CUZK_CUDA(cudaMemsetAsync(first_bad_.data(), 0xff, sizeof(unsigned long long), stream_->get()));
    for (uint64_t at = 0; at < total; at += piece, ++turn_) {
      if (options_.stop.stop_requested()) return absl::CancelledError("cancelled while parameters were being loaded");
      Slot& slot = slots_[turn_ % 2];
      CUZK_RETURN_IF_ERROR(slot.done->Synchronize());
      const uint64_t bytes = std::min<uint64_t>(piece, total - at);
      file_.Announce(query, at + bytes, piece);
      CUZK_RETURN_IF_ERROR(ReadPiece(query, at, {slot.host.data(), bytes}));
      CUZK_CUDA(cudaMemcpyAsync(slot.raw.data(), slot.host.data(), bytes, cudaMemcpyHostToDevice, stream_->get()));
      std::byte* decoded = to_host ? slot.decoded.data() : to + at;
      CUZK_RETURN_IF_ERROR(DecodePoints(slot.raw.data(), bytes / size, query == Query::kBG2, on_curve, at / size,
                                        decoded, first_bad_.data(), *stream_));
      if (to_host) CUZK_CUDA(cudaMemcpyAsync(to + at, decoded, bytes, cudaMemcpyDeviceToHost, stream_->get()));
      CUZK_RETURN_IF_ERROR(slot.done->Record(*stream_));
      if (progress) progress(at + bytes, total);
    }
    unsigned long long first_bad = 0;
    CUZK_CUDA(
        cudaMemcpyAsync(&first_bad, first_bad_.data(), sizeof(first_bad), cudaMemcpyDeviceToHost, stream_->get()));
    CUZK_RETURN_IF_ERROR(stream_->view().Synchronize());
    if (first_bad == ~0ull) return absl::OkStatus();
    return absl::InvalidArgumentError(StrCat(file_.path().string(), ": section ", groth16::QueryName(query), ": point ",
                                             first_bad, " is infinity, not canonical or not on the curve"));
  }

 private:
  Status ReadPiece(Query query, uint64_t at, std::span<std::byte> out) const {
    std::mutex mutex;
    Status failure;
    card_.pool->ParallelFor(out.size(), 1 << 20, [&](size_t begin, size_t end) {
      std::span<std::byte> part = out.subspan(begin, end - begin);
      Status status = file_.ReadSection(query, at + begin, {reinterpret_cast<uint8_t*>(part.data()), part.size()});
      if (status.ok()) return;
      std::lock_guard lock(mutex);
      failure = std::move(status);
    });
    return failure;
  }

  struct Slot {
    PinnedArray<std::byte> host;
    Buffer<uint8_t> raw;
    Buffer<std::byte> decoded;
    std::unique_ptr<Event> done;
  };
  SectionLoader(const CardContext& card, const ParameterFile& file, const prover::LoadOptions& options)
      : card_(card), file_(file), options_(options) {}
  const CardContext card_;
  const ParameterFile& file_;
  const prover::LoadOptions& options_;
  uint64_t piece_ = 0, turn_ = 0;
  std::array<Slot, 2> slots_;
  Buffer<unsigned long long> first_bad_;
  std::unique_ptr<Stream> stream_;
};

/// Whether points are of order r is found out on the processor, before the card decodes them.
Status CheckSubgroup(const ParameterFile& file, const prover::LoadOptions& options, ThreadPool& pool) {
  if (options.policy != groth16::PointPolicy::kSubgroup) return absl::OkStatus();
  groth16::DecodeOptions decode;
  decode.policy = options.policy;
  decode.stop = options.stop;
  return groth16::CheckPoints(file, pool, decode);
}

}  // namespace

uint64_t CudaParameters::LoadingBytes(const groth16::SectionCounts& counts) {
  uint64_t largest = 0;
  for (Query q : groth16::kAllQueries) largest = std::max<uint64_t>(largest, counts[q] * groth16::PointBytes(q));
  return 4 * PieceFor(largest) + (1 << 20);
}

CudaParameters::~CudaParameters() {
  DeviceGuard guard(card_.id);
  for (auto& buffer : device_points_) buffer.Reset();
  tables_.reset();
  domain_.reset();
}

const std::byte* CudaParameters::points(Query query) const {
  size_t k = static_cast<size_t>(query);
  return plan_.resident[k] ? device_points_[k].data() : host_points_[k].data();
}

StatusOr<std::shared_ptr<CudaParameters>> CudaParameters::Prepare(std::shared_ptr<const r1cs::Shape> shape,
                                                                  CircuitPlan plan, const groth16::VerifyingKey& key,
                                                                  const CardContext& card) {
  std::shared_ptr<CudaParameters> out(new CudaParameters(std::move(shape), std::move(plan), card));
  out->key_ = key;
  out->counts_ = groth16::SectionCounts::Of(*out->shape_);
  CUZK_ASSIGN_OR_RETURN(Stream stream, Stream::Create());
  CUZK_ASSIGN_OR_RETURN(CircuitTables tables, CircuitTables::Make(out->shape_, *card.memory, stream));
  out->tables_ = std::make_unique<const CircuitTables>(std::move(tables));
  CUZK_ASSIGN_OR_RETURN(DomainTables domain,
                        DomainTables::Make(out->shape_->counts.log2_domain(), *card.memory, stream));
  out->domain_ = std::make_unique<const DomainTables>(std::move(domain));
  return out;
}

StatusOr<std::byte*> CudaParameters::Allocate(Query query) {
  const size_t k = static_cast<size_t>(query);
  const uint64_t bytes = counts_[query] * groth16::PointBytes(query);
  if (plan_.resident[k]) {
    CUZK_ASSIGN_OR_RETURN(device_points_[k], Buffer<std::byte>::Allocate(*card_.memory, bytes));
    return device_points_[k].data();
  }
  CUZK_ASSIGN_OR_RETURN(host_points_[k], PinnedArray<std::byte>::Allocate(*card_.pinned, bytes));
  return host_points_[k].data();
}

StatusOr<std::shared_ptr<const CudaParameters>> CudaParameters::Load(const ParameterFile& file,
                                                                     std::shared_ptr<const r1cs::Shape> shape,
                                                                     CircuitPlan plan,
                                                                     const prover::LoadOptions& options,
                                                                     const CardContext& card) {
  if (file.counts() != groth16::SectionCounts::Of(*shape)) {
    return absl::FailedPreconditionError(StrCat(file.path().string(), ": not of this circuit"));
  }
  CUZK_RETURN_IF_ERROR(CheckSubgroup(file, options, *card.pool));
  CUZK_ASSIGN_OR_RETURN(auto loader, SectionLoader::Create(card, file, options));
  CUZK_ASSIGN_OR_RETURN(auto out, Prepare(std::move(shape), std::move(plan), file.verifying_key(), card));
  uint64_t total = 0, before = 0;
  for (Query q : groth16::kAllQueries) total += file.section_bytes(q);
  for (Query q : groth16::kAllQueries) {
    CUZK_ASSIGN_OR_RETURN(std::byte * to, out->Allocate(q));
    Progress progress;
    if (options.progress) progress = [&](uint64_t done, uint64_t) { options.progress(before + done, total); };
    CUZK_RETURN_IF_ERROR(loader->Load(q, to, !out->plan_.is_resident(q), progress));
    before += file.section_bytes(q);
  }
  return out;
}

StatusOr<std::shared_ptr<const CudaParameters>> CudaParameters::Make(const groth16::SectionScalars& scalars,
                                                                     std::shared_ptr<const r1cs::Shape> shape,
                                                                     CircuitPlan plan, const Progress& progress,
                                                                     const CardContext& card) {
  uint64_t total = 0, before = 0, most = 0;
  for (Query q : groth16::kAllQueries) {
    total += scalars.counts()[q];
    most = std::max(most, scalars.counts()[q]);
  }
  CUZK_ASSIGN_OR_RETURN(auto maker, SectionMaker::Create(*card.memory, *card.pinned, most));
  CUZK_ASSIGN_OR_RETURN(auto out, Prepare(std::move(shape), std::move(plan), scalars.key(), card));
  for (Query q : groth16::kAllQueries) {
    CUZK_ASSIGN_OR_RETURN(std::byte * to, out->Allocate(q));
    Progress section;
    if (progress) section = [&](uint64_t done, uint64_t) { progress(before + done, total); };
    CUZK_RETURN_IF_ERROR(maker->Make(scalars, q, {to, !out->plan_.is_resident(q)}, *card.pool, section));
    before += scalars.counts()[q];
  }
  return out;
}

}  // namespace cuzk::gpu
