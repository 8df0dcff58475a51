#include "gpu/prover/variable_sums.h"

#include <algorithm>

#include "core/base/check.h"

namespace cuzk::gpu {
namespace {

using algebra::Fp;
using algebra::Fp2;
using algebra::Fr;
using groth16::Query;
using prover::Terms;

Arena TakeArena(Arena& from, size_t bytes) {
  std::byte* data = from.Take<std::byte>(bytes);
  return {data, data != nullptr ? bytes : 0};
}

}  // namespace

VariableSums::VariableSums(const PartContext& context, StreamView points, StreamView sums, Arena arena)
    : c_(context),
      shape_(*context.parameters.shape()),
      plan_(context.parameters.circuit_plan()),
      index_(context.parameters.tables().index()),
      points_(points),
      sums_(sums),
      scratch_(arena) {}

Status VariableSums::CheckStops() const {
  for (const SweepMember& member : members_) {
    if (!member.stop.stop_requested()) return absl::OkStatus();
  }
  return CheckStop(members_.front().stop);
}

Status VariableSums::TakeMemory(Arena arena) {
  const uint64_t values = std::min(plan_.slab_values, shape_.wide_aux_count());
  const uint64_t terms =
      std::max<uint64_t>(values + shape_.counts.inputs, 64);  // a word of plain aux goes through them
  if (members_.front().assignment.values == nullptr) {
    const uint64_t slot = Workspace::Align(values * sizeof(Fr));
    std::byte* slots = arena.Take<std::byte>(2 * slot);
    CUZK_ASSIGN_OR_RETURN(value_slots_, DoubleBuffer::Create(slots, slot, c_.worker.copy, c_.card.copied));
  }
  scalars_ = arena.Take<Fr>(terms);
  uint64_t listed = shape_.boolean_aux.count() + 1;
  if (plan_.is_resident(Query::kL)) {
    terms_ = arena.Take<uint32_t>(terms);
  } else {
    listed = std::min(listed, c_.workspace.slot_bytes() / sizeof(algebra::G1Affine));
    CUZK_RETURN_IF_ERROR(MakeStreamed(arena, terms));
  }
  list_ = arena.Take<uint32_t>(listed);
  list_count_ = arena.Take<uint32_t>(1);
  list_scratch_ = TakeArena(arena, ListSumBytes<Fp2>());
  if (arena.overrun()) return absl::ResourceExhaustedError("the workspace of the card is smaller than the plan");
  scratch_ = TakeArena(arena, arena.left() / 256 * 256);
  return absl::OkStatus();
}

Status VariableSums::MakeStreamed(Arena& arena, uint64_t terms) {
  for (Gathered& g : gathered_) {
    g.points = arena.Take<std::byte>(terms * sizeof(algebra::G2Affine));
    CUZK_ASSIGN_OR_RETURN(g.filled, Event::Create());
    CUZK_ASSIGN_OR_RETURN(g.released, Event::Create());
  }
  CUZK_ASSIGN_OR_RETURN(point_slots_, DoubleBuffer::Create(c_.workspace.point_slots(), c_.workspace.slot_bytes(),
                                                           c_.worker.copy, c_.card.copied));
  return absl::OkStatus();
}

Status VariableSums::Enqueue(const prover::DeviceLease&, std::span<const SweepMember> members) {
  CUZK_CHECK(!members.empty());
  members_ = members;
  CUZK_RETURN_IF_ERROR(CheckStops());
  CUZK_RETURN_IF_ERROR(TakeMemory(scratch_));
  // Whatever used the workspace before is on the stream of sums.
  CUZK_ASSIGN_OR_RETURN(Event begun, Event::Create());
  CUZK_RETURN_IF_ERROR(begun.Record(sums_));
  CUZK_RETURN_IF_ERROR(begun.Wait(points_));
  if (value_slots_ || point_slots_) CUZK_RETURN_IF_ERROR(begun.Wait(c_.worker.copy));
  const uint64_t aux = shape_.counts.aux;
  Slab slab;
  do {
    slab.begin = slab.end;
    slab.end = index_.EndOfWholePiece(slab.begin, plan_.slab_values);
    slab.first_value = index_.WholeBefore(slab.begin);
    slab.values = index_.WholeBefore(slab.end) - slab.first_value;
    CUZK_RETURN_IF_ERROR(SumSlab(slab));
  } while (slab.end < aux);
  CUZK_ASSIGN_OR_RETURN(Event points_done, Event::Create());
  CUZK_RETURN_IF_ERROR(points_done.Record(points_));
  return points_done.Wait(sums_);
}

Status VariableSums::SumSlab(const Slab& slab) {
  slab_values_.clear();
  for (const SweepMember& member : members_) {
    CUZK_ASSIGN_OR_RETURN(const Fr* values, ValuesOfSlab(member, slab));
    slab_values_.push_back(values);
  }
  CUZK_RETURN_IF_ERROR(SumQuery<Fp>(Query::kL, prover::stage::kMsmL, slab));
  CUZK_RETURN_IF_ERROR(SumQuery<Fp>(Query::kA, prover::stage::kMsmA, slab));
  CUZK_RETURN_IF_ERROR(SumQuery<Fp>(Query::kBG1, prover::stage::kMsmBG1, slab));
  CUZK_RETURN_IF_ERROR(SumQuery<Fp2>(Query::kBG2, prover::stage::kMsmBG2, slab));
  return value_slots_ ? value_slots_->Release(sums_) : absl::OkStatus();
}

/// In device memory; those of the lease serve every query of the slab.
StatusOr<const Fr*> VariableSums::ValuesOfSlab(const SweepMember& member, const Slab& slab) {
  if (member.assignment.values != nullptr) return member.assignment.values + slab.first_value;
  if (!member.lease->narrow()) return NarrowedValues(member, slab);
  const auto* plane = member.lease->On<Fr>(member.lease->host, member.lease->layout.aux.wide);
  const DoubleBuffer::Piece copy{plane + slab.first_value, slab.values * sizeof(Fr), 0};
  CUZK_ASSIGN_OR_RETURN(std::byte * slot, value_slots_->Fill({&copy, 1}, sums_));
  return reinterpret_cast<const Fr*>(slot);
}

/// The same of a plain lease, whose aux go through the place of the scalars.
StatusOr<const Fr*> VariableSums::NarrowedValues(const SweepMember& member, const Slab& slab) {
  CUZK_ASSIGN_OR_RETURN(std::byte * slot, value_slots_->Fill({}, sums_));
  Fr* values = reinterpret_cast<Fr*>(slot);
  const auto* plane = member.lease->On<Fr>(member.lease->host, member.lease->layout.aux.wide);
  const uint64_t room =
      std::max<uint64_t>(std::min(plan_.slab_values, shape_.wide_aux_count()) + shape_.counts.inputs, 64) / 64 * 64;
  for (uint64_t begin = slab.begin; begin < slab.end && slab.values > 0; begin += room) {
    const uint64_t count = std::min(room, slab.end - begin);
    CUZK_CUDA(cudaMemcpyAsync(scalars_, plane + begin, count * sizeof(Fr), cudaMemcpyHostToDevice, sums_.get()));
    if (c_.card.copied != nullptr) *c_.card.copied += count * sizeof(Fr);
    const uint64_t before = index_.WholeBefore(begin) - slab.first_value;
    const PlainAux piece{scalars_, begin, count, index_.WholeBefore(begin)};
    CUZK_RETURN_IF_ERROR(NarrowAux(piece, c_.parameters.tables().boolean(), nullptr, values + before, sums_));
  }
  return values;
}

template <class F>
Status VariableSums::SumQuery(Query query, std::string_view stage, const Slab& slab) {
  CUZK_RETURN_IF_ERROR(CheckStops());
  CUZK_RETURN_IF_ERROR(c_.events.Begin(stage, plan_.is_resident(query) ? sums_ : points_));
  CUZK_RETURN_IF_ERROR(plan_.is_resident(query) ? SumResident<F>(query, slab) : SumStreamed<F>(query, slab));
  return c_.events.End(sums_);
}

TermRange VariableSums::RangeOf(Terms terms, uint64_t begin, uint64_t end) const {
  TermRange range{.begin = begin, .end = end};
  if (begin == 0) return range;
  range.first_term = index_.TermsBefore(terms, begin);
  range.first_point = index_.PointsBefore(terms, begin);
  range.first_whole = index_.WholeBefore(begin);
  return range;
}

uint64_t VariableSums::TermsOf(Terms terms, const Slab& slab) const {
  return index_.TermsBefore(terms, slab.end) - (slab.begin == 0 ? 0 : index_.TermsBefore(terms, slab.begin));
}

template <class F>
Status VariableSums::SumResident(Query query, const Slab& slab) {
  const TermRange range = RangeOf(prover::TermsOf(query), slab.begin, slab.end);
  const auto* points =
      reinterpret_cast<const algebra::AffinePoint<F>*>(c_.parameters.points(query)) + range.first_point;
  if (TermsOf(prover::TermsOf(query), slab) > 0) CUZK_RETURN_IF_ERROR(SumTerms<F>(query, range, points, terms_));
  return SumBits<F>(query, range, points);
}

template <class F>
Status VariableSums::SumStreamed(Query query, const Slab& slab) {
  using Point = algebra::AffinePoint<F>;
  const Terms terms = prover::TermsOf(query);
  Gathered& gathered = gathered_[turn_++ % 2];
  if (gathered.in_use) CUZK_RETURN_IF_ERROR(gathered.released->Wait(points_));
  const uint64_t most = point_slots_->slot_bytes() / sizeof(Point);
  uint64_t begin = slab.begin;
  do {
    CUZK_RETURN_IF_ERROR(CheckStops());
    const uint64_t end = std::min(slab.end, index_.EndOfPiece(terms, begin, most));
    CUZK_RETURN_IF_ERROR(SumPiece<F>(query, slab, begin, end, gathered));
    begin = end;
  } while (begin < slab.end);
  CUZK_RETURN_IF_ERROR(gathered.filled->Record(points_));
  CUZK_RETURN_IF_ERROR(gathered.filled->Wait(sums_));
  if (TermsOf(terms, slab) > 0) {
    CUZK_RETURN_IF_ERROR(SumTerms<F>(query, RangeOf(terms, slab.begin, slab.end),
                                     reinterpret_cast<const Point*>(gathered.points), nullptr));
  }
  CUZK_RETURN_IF_ERROR(gathered.released->Record(sums_));
  gathered.in_use = true;
  return absl::OkStatus();
}

/// The points of aux [begin, end), part of the slab: bits are summed, the others' points kept.
template <class F>
Status VariableSums::SumPiece(Query query, const Slab& slab, uint64_t begin, uint64_t end, Gathered& gathered) {
  const Terms terms = prover::TermsOf(query);
  TermRange range = RangeOf(terms, begin, end);
  const uint64_t points = index_.PointsBefore(terms, end) - range.first_point;
  const DoubleBuffer::Piece copy{c_.parameters.points(query) + range.first_point * sizeof(algebra::AffinePoint<F>),
                                 points * sizeof(algebra::AffinePoint<F>), 0};
  CUZK_ASSIGN_OR_RETURN(std::byte * slot, point_slots_->Fill({&copy, 1}, points_));
  CUZK_RETURN_IF_ERROR(SumBits<F>(query, range, reinterpret_cast<const algebra::AffinePoint<F>*>(slot)));
  if (TermsOf(terms, slab) > 0) {
    range.first_term = RangeOf(terms, slab.begin, slab.end).first_term;
    CUZK_RETURN_IF_ERROR(CompactPoints(c_.parameters.tables().terms(terms), range, slot,
                                       sizeof(algebra::AffinePoint<F>), gathered.points, points_));
  }
  return point_slots_->Release(points_);
}

template <class F>
Status VariableSums::SumBits(Query query, const TermRange& range, const algebra::AffinePoint<F>* points) {
  const uint64_t bits = shape_.boolean_aux.Rank(range.end) - shape_.boolean_aux.Rank(range.begin);
  if (bits == 0) return absl::OkStatus();
  // Long lists are summed faster with more scratch, which is free where no other sum runs meanwhile.
  const Arena& scratch =
      points_.get() == sums_.get() && scratch_.left() > list_scratch_.left() ? scratch_ : list_scratch_;
  const TermTables tables = c_.parameters.tables().terms(prover::TermsOf(query));
  for (const SweepMember& member : members_) {
    CUZK_CUDA(cudaMemsetAsync(list_count_, 0, sizeof(uint32_t), points_.get()));
    CUZK_RETURN_IF_ERROR(ListSetBits(tables, range, member.assignment.bits, list_, list_count_, points_));
    CUZK_ASSIGN_OR_RETURN(algebra::XyzzPoint<F> * result, member.sums->AddPoint<F>(query));
    CUZK_RETURN_IF_ERROR(EnqueueListSum<F>(c_.card.limits, points, list_, static_cast<uint32_t>(bits), list_count_,
                                           scratch, result, points_));
  }
  return absl::OkStatus();
}

/// `list`: memory for the terms' points; null where they follow each other.
template <class F>
Status VariableSums::SumTerms(Query query, const TermRange& range, const algebra::AffinePoint<F>* points,
                              uint32_t* list) {
  const Terms terms = prover::TermsOf(query);
  const TermTables tables = c_.parameters.tables().terms(terms);
  const auto count = static_cast<uint32_t>(index_.TermsBefore(terms, range.end) - range.first_term);
  CUZK_ASSIGN_OR_RETURN(MsmPlan plan, PlanMsm<F>(c_.card.limits, count, scratch_.left()));
  IndexMap map;
  if (list != nullptr) map = {.kind = IndexMap::Kind::kList, .list = list};
  for (size_t m = 0; m < members_.size(); ++m) {
    CUZK_RETURN_IF_ERROR(
        GatherTerms(tables, range, members_[m].assignment.inputs, slab_values_[m], scalars_, list, sums_));
    CUZK_ASSIGN_OR_RETURN(algebra::XyzzPoint<F> * results, members_[m].sums->AddSum<F>(query, plan));
    CUZK_RETURN_IF_ERROR(EnqueueMsm<F>(plan, points, scalars_, map, scratch_, results, sums_));
  }
  return absl::OkStatus();
}

}  // namespace cuzk::gpu
