#include "gpu/prover/partition.h"

#include <algorithm>

#include "core/base/check.h"
#include "gpu/prover/witness_kernels.h"

namespace cuzk::gpu {
namespace {

using algebra::Fp;
using algebra::Fp2;
using algebra::Fr;
using groth16::Query;
using r1cs::Matrix;

/// Result points of one query: those of a sum by buckets, and one for scalars that are one.
constexpr size_t kSlotPoints = kMaxMsmResultPoints + 1;
constexpr size_t Slot(Query q) { return static_cast<size_t>(q); }

/// The constants of a domain's scaling, on the host.
struct DomainScales {
  explicit DomainScales(unsigned log2_size) {
    Fr n = Fr::One();
    Fr z = Fr::FromU64(algebra::kFrGenerator);
    for (unsigned i = 0; i < log2_size; ++i) {
      n = n.Double();
      z = z.Square();
    }
    size_inverse = n.Inverse();
    vanishing_inverse = (z - Fr::One()).Inverse();
  }
  Fr size_inverse, vanishing_inverse;
};

}  // namespace

StatusOr<std::unique_ptr<Worker>> Worker::Create(const CardContext& card) {
  CUZK_ASSIGN_OR_RETURN(Stream copy, Stream::Create());
  CUZK_ASSIGN_OR_RETURN(Stream compute, Stream::Create());
  CUZK_ASSIGN_OR_RETURN(Stream side, Stream::CreateUrgent());
  std::unique_ptr<Worker> worker(new Worker{std::move(copy), std::move(compute), std::move(side), {}, {}, {}});
  CUZK_ASSIGN_OR_RETURN(worker->g1_results, PinnedArray<algebra::G1Xyzz>::Allocate(*card.pinned, 4 * kSlotPoints));
  CUZK_ASSIGN_OR_RETURN(worker->g2_results, PinnedArray<algebra::G2Xyzz>::Allocate(*card.pinned, kSlotPoints));
  return worker;
}

template <class F>
algebra::XyzzPoint<F>* PartitionRun::Results(size_t slot) const {
  if constexpr (std::is_same_v<F, Fp>) {
    return worker_.g1_results.data() + slot * kSlotPoints;
  } else {
    return worker_.g2_results.data();
  }
}

Status PartitionRun::CheckStop() const {
  return stop_.stop_requested() ? absl::CancelledError("cancelled while the partition was being proved")
                                : absl::OkStatus();
}

Status PartitionRun::BeginStage(std::string_view stage, StreamView stream) {
  CUZK_RETURN_IF_ERROR(CheckStop());
  CUZK_ASSIGN_OR_RETURN(Event begin, Event::Create());
  CUZK_ASSIGN_OR_RETURN(Event end, Event::Create());
  CUZK_RETURN_IF_ERROR(begin.Record(stream));
  stages_.push_back({stage, stream, std::move(begin), std::move(end)});
  return absl::OkStatus();
}
Status PartitionRun::EndStage() { return stages_.back().end.Record(stages_.back().stream); }

Status PartitionRun::TakeMemory() {
  const CircuitPlan& plan = parameters_.circuit_plan();
  for (Fr*& v : vectors_) v = main_.arena.Take<Fr>(plan.vector_elements);
  Arena& sums = sums_lane().arena;
  list_ = sums.Take<uint32_t>(plan.list_elements);
  list_count_ = sums.Take<uint32_t>(1);
  gathered_ = side_by_side() ? sums.Take<Fr>(shape_.wide_aux_count() + shape_.counts.inputs) : vectors_[0];
  if (!plan.resident) {
    for (std::byte*& chunk : chunks_) {
      chunk = main_.arena.Take<std::byte>(plan.chunk_points * sizeof(algebra::G2Affine));
    }
  }
  if (!main_.arena.overrun() && !side_.arena.overrun()) return absl::OkStatus();
  return absl::ResourceExhaustedError("the workspace of the card is smaller than the plan");
}

Status PartitionRun::Enqueue(const prover::DeviceLease&, const CardContext&, std::stop_token stop) {
  stop_ = stop;
  CUZK_RETURN_IF_ERROR(TakeMemory());
  CUZK_RETURN_IF_ERROR(BeginStage(prover::stage::kTransforms, main_.stream));
  CUZK_RETURN_IF_ERROR(NarrowPlainAux());
  std::optional<Event> narrowed;
  if (side_by_side()) {
    CUZK_ASSIGN_OR_RETURN(narrowed, Event::Create());
    CUZK_RETURN_IF_ERROR(narrowed->Record(main_.stream));
    CUZK_RETURN_IF_ERROR(narrowed->Wait(side_.stream));
  }
  CUZK_RETURN_IF_ERROR(Transforms());
  CUZK_RETURN_IF_ERROR(EndStage());
  if (side_by_side()) {
    // Beside the transforms, whose blocks come and go: those of the sum of h stay to its end, all of them at once.
    CUZK_RETURN_IF_ERROR(SumVariables());
    CUZK_RETURN_IF_ERROR(stages_.back().end.Wait(main_.stream));
  }
  CUZK_RETURN_IF_ERROR(SumH());
  if (!side_by_side()) CUZK_RETURN_IF_ERROR(SumVariables());
  CUZK_ASSIGN_OR_RETURN(finished_, Event::Create());
  return finished_->Record(main_.stream);
}

Status PartitionRun::SumVariables() {
  CUZK_RETURN_IF_ERROR(SumTerms(Terms::kL, prover::stage::kMsmL, Query::kL));
  CUZK_RETURN_IF_ERROR(SumTerms(Terms::kA, prover::stage::kMsmA, Query::kA));
  return SumTerms(Terms::kB, prover::stage::kMsmBG1, Query::kBG1);
}

Status PartitionRun::NarrowPlainAux() {
  if (lease_layout_.layout == r1cs::Layout::kNarrow) {
    aux_bits_ = reinterpret_cast<const uint64_t*>(Plane(lease_layout_.aux.narrow));
    aux_wide_ = reinterpret_cast<const Fr*>(Plane(lease_layout_.aux.wide));
    return absl::OkStatus();
  }
  uint64_t* bits = main_.arena.Take<uint64_t>((shape_.counts.aux + 63) / 64);
  Fr* wide = main_.arena.Take<Fr>(shape_.wide_aux_count());
  if (main_.arena.overrun()) return absl::ResourceExhaustedError("no room to narrow a plain witness");
  aux_bits_ = bits;
  aux_wide_ = wide;
  return NarrowAux(reinterpret_cast<const Fr*>(Plane(lease_layout_.aux.wide)), shape_.counts.aux,
                   parameters_.tables().boolean(), parameters_.tables().boolean_ranks(), bits, wide, main_.stream);
}

Status PartitionRun::Rows(Matrix matrix, Fr* out) {
  const RowPlanes planes{worker_.witness.data(), lease_layout_, shape_.counts.rows_with_inputs(),
                         parameters_.domain().size()};
  return ReadRows(planes, matrix, parameters_.tables().wide_rows(matrix), out, main_.stream);
}

/// H = (A B - C) / Z in six transforms: on the coset Z is the constant z, so C needs only its inverse transform.
/// Left in vectors_[1], coefficients in reversed order.
Status PartitionRun::Transforms() {
  const DomainTables& domain = parameters_.domain();
  const DomainScales scales(domain.log2_size());
  StreamView stream = main_.stream;
  Epilogue to_coset{.scaled = true, .scale = scales.size_inverse, .shift_powers = 1};
  CUZK_RETURN_IF_ERROR(Rows(Matrix::kA, vectors_[0]));
  CUZK_RETURN_IF_ERROR(domain.ToReversed(vectors_[0], true, to_coset, stream));
  CUZK_RETURN_IF_ERROR(domain.FromReversed(vectors_[0], false, {}, stream));
  to_coset.scale = scales.size_inverse * scales.vanishing_inverse;
  CUZK_RETURN_IF_ERROR(Rows(Matrix::kB, vectors_[1]));
  CUZK_RETURN_IF_ERROR(domain.ToReversed(vectors_[1], true, to_coset, stream));
  CUZK_RETURN_IF_ERROR(domain.FromReversed(vectors_[1], false, {.multiply = vectors_[0]}, stream));
  CUZK_RETURN_IF_ERROR(Rows(Matrix::kC, vectors_[0]));
  CUZK_RETURN_IF_ERROR(domain.ToReversed(vectors_[0], true, {.scaled = true, .scale = to_coset.scale}, stream));
  Epilogue from_coset{.scaled = true, .scale = scales.size_inverse, .shift_powers = -1, .subtract = vectors_[0]};
  return domain.ToReversed(vectors_[1], true, from_coset, stream);
}

template <class F>
Status PartitionRun::ForEachChunk(Query query, size_t slot, auto&& enqueue) {
  using Point = algebra::AffinePoint<F>;
  const uint64_t count = parameters_.count(query);
  const auto* points = reinterpret_cast<const Point*>(parameters_.points(query));
  if (parameters_.circuit_plan().resident) return enqueue(points, 0, count);
  const uint64_t chunk = parameters_.circuit_plan().chunk_points;
  auto copy = [&](uint64_t begin) {
    uint64_t n = std::min(chunk, count - begin);
    return CUZK_CUDA_STATUS(cudaMemcpyAsync(chunks_[begin / chunk % 2], points + begin, n * sizeof(Point),
                                            cudaMemcpyHostToDevice, worker_.copy.get()));
  };
  if (count > 0) CUZK_RETURN_IF_ERROR(copy(0));
  for (uint64_t begin = 0; begin < count; begin += chunk) {
    CUZK_RETURN_IF_ERROR(CheckStop());
    CUZK_RETURN_IF_ERROR(worker_.copy.view().Synchronize());
    if (begin + chunk < count) CUZK_RETURN_IF_ERROR(copy(begin + chunk));
    // The chunk stands for points from `begin` on.
    CUZK_RETURN_IF_ERROR(
        enqueue(reinterpret_cast<const Point*>(chunks_[begin / chunk % 2]), begin, std::min(begin + chunk, count)));
    CUZK_RETURN_IF_ERROR(worker_.compute.view().Synchronize());
    if constexpr (std::is_same_v<F, Fp>) {
      algebra::G1* sums[] = {&streamed_.h, &streamed_.l, &streamed_.a, &streamed_.b_g1};
      *sums[slot] += SumOf<F>(slot);
    } else {
      streamed_.b_g2 += SumOf<F>(slot);
    }
    sums_[slot] = {};
  }
  return absl::OkStatus();
}

Status PartitionRun::SumH() {
  CUZK_RETURN_IF_ERROR(BeginStage(prover::stage::kMsmH, main_.stream));
  const uint64_t count = parameters_.count(Query::kH);
  const bool resident = parameters_.circuit_plan().resident;
  IndexMap map;
  const Fr* scalars = vectors_[1];
  if (resident) {
    map.kind = IndexMap::Kind::kReversed;
    map.log2_size = static_cast<int>(parameters_.domain().log2_size());
  } else {
    CUZK_RETURN_IF_ERROR(ReverseOrder(vectors_[1], vectors_[0], parameters_.domain().log2_size(), main_.stream));
    scalars = vectors_[0];
  }
  // The last coefficient, which is also the last in reversed order, has no point: it is zero.
  if (count > 0) {
    CUZK_RETURN_IF_ERROR(ForEachChunk<Fp>(
        Query::kH, Slot(Query::kH), [&](const algebra::G1Affine* points, uint64_t begin, uint64_t end) -> Status {
          QuerySum& sum = sums_[Slot(Query::kH)];
          CUZK_ASSIGN_OR_RETURN(sum.plan, PlanMsm<Fp>(static_cast<uint32_t>(end - begin), main_.arena.left()));
          sum.has_terms = true;
          return EnqueueMsm<Fp>(sum.plan, points, scalars + begin, map, main_.arena, Results<Fp>(Slot(Query::kH)),
                                main_.stream);
        }));
  }
  return EndStage();
}

template <class F>
Status PartitionRun::SumRange(Terms terms, const algebra::AffinePoint<F>* points, uint64_t begin, uint64_t end,
                              size_t slot) {
  const CircuitTables& tables = parameters_.tables();
  const Lane& lane = sums_lane();
  const WideTerms& wide = tables.wide(terms);
  QuerySum& sum = sums_[slot];
  algebra::XyzzPoint<F>* results = Results<F>(slot);
  // Terms of the range, by the host's copy of their points.
  size_t first =
      static_cast<size_t>(std::lower_bound(wide.points.begin(), wide.points.end(), begin) - wide.points.begin());
  size_t last =
      static_cast<size_t>(std::lower_bound(wide.points.begin(), wide.points.end(), end) - wide.points.begin());
  if (last > first) {
    CUZK_ASSIGN_OR_RETURN(sum.plan, PlanMsm<F>(static_cast<uint32_t>(last - first), lane.arena.left()));
    sum.has_terms = true;
    IndexMap map{.kind = IndexMap::Kind::kList, .list = wide.point.data() + first};
    CUZK_RETURN_IF_ERROR(
        EnqueueMsm<F>(sum.plan, points - begin, gathered_ + first, map, lane.arena, results, lane.stream));
  }
  if (shape_.boolean_aux.count() == 0) return absl::OkStatus();
  CUZK_CUDA(cudaMemsetAsync(list_count_, 0, sizeof(uint32_t), lane.stream.get()));
  BitSelection bits{aux_bits_,
                    tables.members(terms),
                    tables.ranks(terms),
                    (shape_.counts.aux + 63) / 64,
                    tables.input_points(terms),
                    begin,
                    end};
  CUZK_RETURN_IF_ERROR(ListSetBits(bits, list_, list_count_, lane.stream));
  sum.has_ones = true;
  return EnqueueListSum<F>(points, list_, list_count_, lane.arena, results + kMaxMsmResultPoints, lane.stream);
}

Status PartitionRun::SumTerms(Terms terms, std::string_view stage, Query query) {
  CUZK_RETURN_IF_ERROR(BeginStage(stage, sums_lane().stream));
  const WideTerms& wide = parameters_.tables().wide(terms);
  CUZK_RETURN_IF_ERROR(GatherScalars(reinterpret_cast<const Fr*>(Plane(lease_layout_.inputs)), shape_.counts.inputs,
                                     aux_wide_, wide.source.data(), wide.source.size(), gathered_, sums_lane().stream));
  CUZK_RETURN_IF_ERROR(
      ForEachChunk<Fp>(query, Slot(query), [&](const algebra::G1Affine* points, uint64_t begin, uint64_t end) {
        return SumRange<Fp>(terms, points, begin, end, Slot(query));
      }));
  CUZK_RETURN_IF_ERROR(EndStage());
  if (terms != Terms::kB) return absl::OkStatus();
  CUZK_RETURN_IF_ERROR(BeginStage(prover::stage::kMsmBG2, sums_lane().stream));
  CUZK_RETURN_IF_ERROR(ForEachChunk<Fp2>(Query::kBG2, Slot(Query::kBG2),
                                         [&](const algebra::G2Affine* points, uint64_t begin, uint64_t end) {
                                           return SumRange<Fp2>(terms, points, begin, end, Slot(Query::kBG2));
                                         }));
  return EndStage();
}

template <class F>
algebra::JacobianPoint<F> PartitionRun::SumOf(size_t slot) const {
  auto r = algebra::JacobianPoint<F>::Infinity();
  const QuerySum& sum = sums_[slot];
  if (sum.has_terms) r += FinishMsm<F>(sum.plan, Results<F>(slot));
  if (sum.has_ones) r += algebra::ToJacobian(Results<F>(slot)[kMaxMsmResultPoints]);
  return r;
}

groth16::MsmResults PartitionRun::Collect() {
  if (!parameters_.circuit_plan().resident) return streamed_;
  return {SumOf<Fp>(Slot(Query::kH)), SumOf<Fp>(Slot(Query::kL)), SumOf<Fp>(Slot(Query::kA)),
          SumOf<Fp>(Slot(Query::kBG1)), SumOf<Fp2>(Slot(Query::kBG2))};
}

StatusOr<prover::Timeline> PartitionRun::StageTimes(std::chrono::steady_clock::time_point end) const {
  prover::Timeline r;
  if (!finished_) return r;
  auto at = [&](const Event& event) -> StatusOr<std::chrono::steady_clock::time_point> {
    CUZK_ASSIGN_OR_RETURN(float ms, finished_->MillisecondsSince(event));
    return end - std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                     std::chrono::duration<float, std::milli>(ms));
  };
  for (const StageEvents& stage : stages_) {
    CUZK_ASSIGN_OR_RETURN(auto begin, at(stage.begin));
    CUZK_ASSIGN_OR_RETURN(auto finish, at(stage.end));
    r.push_back({stage.stage, begin, finish});
  }
  return r;
}

}  // namespace cuzk::gpu
