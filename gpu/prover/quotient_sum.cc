#include "gpu/prover/quotient_sum.h"

#include <algorithm>

#include "core/base/check.h"

namespace cuzk::gpu {
namespace {

using algebra::Fp;
using algebra::Fr;
using groth16::Query;
using r1cs::Matrix;

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

/// The `bits` low bits of x backwards.
uint64_t Reversed(uint64_t x, unsigned bits) {
  uint64_t r = 0;
  for (unsigned i = 0; i < bits; ++i) r |= (x >> i & 1) << (bits - 1 - i);
  return r;
}

/// Where a piece's wide rows begin in a slot: behind a byte for each row.
constexpr uint64_t WideAt(uint64_t rows) { return Workspace::Align(rows); }

/// The largest end such that rows [begin, end) and the wide ones among them fit in a slot.
uint64_t EndOfRows(const r1cs::IndexSet& wide, bool narrow, uint64_t begin, uint64_t slot_bytes) {
  if (!narrow) return std::min(wide.size(), begin + slot_bytes / sizeof(Fr));
  const uint64_t before = wide.Rank(begin);
  auto fits = [&](uint64_t end) { return WideAt(end - begin) + (wide.Rank(end) - before) * sizeof(Fr) <= slot_bytes; };
  uint64_t low = std::min(begin + 1, wide.size()), high = std::min(wide.size(), begin + slot_bytes);
  while (low < high) {
    const uint64_t middle = (low + high + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace

Status CheckStop(const std::stop_token& stop) {
  return stop.stop_requested() ? absl::CancelledError("cancelled while the partition was being proved")
                               : absl::OkStatus();
}

QuotientSum::QuotientSum(const PartContext& context, const WitnessSource& witness, std::stop_token stop)
    : c_(context),
      shape_(*context.parameters.shape()),
      witness_(witness),
      stop_(std::move(stop)),
      vector_elements_(context.parameters.domain().size()) {}

Status QuotientSum::TakeMemory() {
  Arena arena = c_.workspace.with_slots();
  // What the sum of h reads comes first, so that all behind it is scratch then; if it reads all scalars at once, what
  // it makes of them.
  const int first = c_.parameters.circuit_plan().is_resident(Query::kH) && !sums_whole() ? 1 : 0;
  vectors_[first] = arena.Take<Fr>(vector_elements_);
  vectors_[1 - first] = arena.Take<Fr>(vector_elements_);
  if (witness_.device == nullptr) {
    const uint64_t slot = c_.parameters.circuit_plan().row_slot_bytes / 256 * 256;
    std::byte* slots = arena.Take<std::byte>(2 * slot);
    CUZK_ASSIGN_OR_RETURN(row_slots_, DoubleBuffer::Create(slots, slot, c_.worker.copy, c_.card.copied));
  }
  if (!arena.overrun()) return absl::OkStatus();
  return absl::ResourceExhaustedError("the workspace of the card is smaller than the plan");
}

Status QuotientSum::Transform(const prover::DeviceLease&) {
  CUZK_RETURN_IF_ERROR(CheckStop(stop_));
  CUZK_RETURN_IF_ERROR(TakeMemory());
  CUZK_RETURN_IF_ERROR(c_.events.Begin(prover::stage::kTransforms, c_.worker.compute));
  CUZK_RETURN_IF_ERROR(Transforms());
  return c_.events.End(c_.worker.compute);
}

Status QuotientSum::Rows(Matrix matrix, Fr* out, StreamView stream) {
  const uint64_t rows = shape_.counts.rows_with_inputs();
  CUZK_CUDA(cudaMemsetAsync(out + rows, 0, (vector_elements_ - rows) * sizeof(Fr), stream.get()));
  if (witness_.device == nullptr) return RowsInPieces(matrix, out, stream);
  const r1cs::PlanePair& planes = witness_.layout.rows[static_cast<size_t>(matrix)];
  const RowPiece all{.narrow = witness_.narrow() ? witness_.On<int8_t>(witness_.device, planes.narrow) : nullptr,
                     .wide = witness_.On<Fr>(witness_.device, planes.wide),
                     .count = rows};
  return WidenRows(all, c_.parameters.tables().wide_rows(matrix), out, stream);
}

Status QuotientSum::RowsInPieces(Matrix matrix, Fr* out, StreamView stream) {
  const r1cs::IndexSet& wide = shape_.wide[static_cast<size_t>(matrix)];
  const r1cs::PlanePair& planes = witness_.layout.rows[static_cast<size_t>(matrix)];
  const auto* wide_plane = witness_.On<Fr>(witness_.host, planes.wide);
  const auto* narrow_plane = witness_.On<int8_t>(witness_.host, planes.narrow);
  const bool narrow = witness_.narrow();
  const uint64_t rows = shape_.counts.rows_with_inputs();
  for (uint64_t begin = 0, end; begin < rows; begin = end) {
    CUZK_RETURN_IF_ERROR(CheckStop(stop_));
    end = EndOfRows(wide, narrow, begin, row_slots_->slot_bytes());
    RowPiece piece{.first = begin, .count = end - begin, .wide_before = narrow ? wide.Rank(begin) : begin};
    const uint64_t wide_rows = (narrow ? wide.Rank(end) : end) - piece.wide_before;
    const uint64_t wide_at = narrow ? WideAt(piece.count) : 0;
    const DoubleBuffer::Piece copies[] = {
        {narrow_plane + begin, narrow ? piece.count : 0, 0},
        {wide_plane + piece.wide_before, wide_rows * sizeof(Fr), wide_at},
    };
    CUZK_ASSIGN_OR_RETURN(std::byte * slot, row_slots_->Fill(copies, stream));
    if (narrow) piece.narrow = reinterpret_cast<const int8_t*>(slot);
    piece.wide = reinterpret_cast<const Fr*>(slot + wide_at);
    CUZK_RETURN_IF_ERROR(WidenRows(piece, c_.parameters.tables().wide_rows(matrix), out, stream));
    CUZK_RETURN_IF_ERROR(row_slots_->Release(stream));
  }
  return absl::OkStatus();
}

/// While a is transformed, where they have to cross the bus.
Status QuotientSum::RowsOfB() {
  if (witness_.device != nullptr) return Rows(Matrix::kB, vectors_[1], c_.worker.compute);
  CUZK_RETURN_IF_ERROR(Rows(Matrix::kB, vectors_[1], c_.worker.side));
  CUZK_ASSIGN_OR_RETURN(Event there, Event::Create());
  CUZK_RETURN_IF_ERROR(there.Record(c_.worker.side));
  return there.Wait(c_.worker.compute);
}

/// H = (A B - C) / Z in six transforms: on the coset Z is the constant z, so C needs only its inverse transform.
/// Left in vectors_[1], coefficients in reversed order.
Status QuotientSum::Transforms() {
  const DomainTables& domain = c_.parameters.domain();
  const DomainScales scales(domain.log2_size());
  const StreamView stream = c_.worker.compute;
  // The side's first rows wait for whatever used the workspace before.
  CUZK_ASSIGN_OR_RETURN(Event begun, Event::Create());
  CUZK_RETURN_IF_ERROR(begun.Record(stream));
  CUZK_RETURN_IF_ERROR(begun.Wait(c_.worker.side));
  CUZK_RETURN_IF_ERROR(begun.Wait(c_.worker.copy));
  Epilogue to_coset{.scaled = true, .scale = scales.size_inverse, .shift_powers = 1};
  CUZK_RETURN_IF_ERROR(Rows(Matrix::kA, vectors_[0], stream));
  CUZK_RETURN_IF_ERROR(domain.ToReversed(vectors_[0], true, to_coset, stream));
  CUZK_RETURN_IF_ERROR(domain.FromReversed(vectors_[0], false, {}, stream));
  to_coset.scale = scales.size_inverse * scales.vanishing_inverse;
  CUZK_RETURN_IF_ERROR(RowsOfB());
  CUZK_RETURN_IF_ERROR(domain.ToReversed(vectors_[1], true, to_coset, stream));
  CUZK_RETURN_IF_ERROR(domain.FromReversed(vectors_[1], false, {.multiply = vectors_[0]}, stream));
  CUZK_RETURN_IF_ERROR(Rows(Matrix::kC, vectors_[0], stream));
  CUZK_RETURN_IF_ERROR(domain.ToReversed(vectors_[0], true, {.scaled = true, .scale = to_coset.scale}, stream));
  Epilogue from_coset{.scaled = true, .scale = scales.size_inverse, .shift_powers = -1, .subtract = vectors_[0]};
  return domain.ToReversed(vectors_[1], true, from_coset, stream);
}

Status QuotientSum::Sum(const prover::DeviceLease&) {
  CUZK_RETURN_IF_ERROR(CheckStop(stop_));
  CUZK_RETURN_IF_ERROR(c_.events.Begin(prover::stage::kMsmH, c_.worker.compute));
  // The last coefficient, which is also the last in reversed order, has no point: it is zero.
  if (c_.parameters.count(Query::kH) > 0) {
    CUZK_RETURN_IF_ERROR(c_.parameters.circuit_plan().is_resident(Query::kH) ? SumResident() : SumStreamed());
  }
  return c_.events.End(c_.worker.compute);
}

bool QuotientSum::sums_whole() const { return c_.parameters.circuit_plan().h_terms >= c_.parameters.count(Query::kH); }

Status QuotientSum::EnqueueSum(const algebra::G1Affine* points, const Fr* scalars, uint64_t terms, const IndexMap& map,
                               Arena arena, uint32_t* split) {
  const uint64_t memory = arena.left() + (split != nullptr ? MsmSplitBytes(terms) : 0);
  CUZK_ASSIGN_OR_RETURN(MsmPlan plan, PlanMsm<Fp>(c_.card.limits, static_cast<uint32_t>(terms), memory));
  CUZK_ASSIGN_OR_RETURN(algebra::G1Xyzz * results, c_.worker.sums.AddSum<Fp>(Query::kH, plan));
  return EnqueueMsm<Fp>(plan, points, scalars, map, arena, results, c_.worker.compute, split);
}

/// Coefficients are taken where they are, in reversed order. Those of a piece that begins at position p of the vector
/// belong to the points from reversed(p) on, with the distances that reversing the positions within the piece gives.
Status QuotientSum::SumResident() {
  const uint64_t count = c_.parameters.count(Query::kH);
  const auto* points = reinterpret_cast<const algebra::G1Affine*>(c_.parameters.points(Query::kH));
  const unsigned log2_size = c_.parameters.domain().log2_size();
  const IndexMap map{.kind = IndexMap::Kind::kReversed, .log2_size = static_cast<int>(log2_size)};
  const uint64_t piece = c_.parameters.circuit_plan().h_terms;
  const Arena arena = c_.workspace.with_slots(vector_bytes());
  if (sums_whole()) {
    return EnqueueSum(points, vectors_[1], count, map, arena, reinterpret_cast<uint32_t*>(vectors_[0]));
  }
  for (uint64_t begin = 0; begin < count; begin += piece) {
    CUZK_RETURN_IF_ERROR(EnqueueSum(points + Reversed(begin, log2_size), vectors_[1] + begin,
                                    std::min(piece, count - begin), map, arena));
  }
  return absl::OkStatus();
}

Status QuotientSum::SumStreamed() {
  const uint64_t count = c_.parameters.count(Query::kH);
  const auto* points = reinterpret_cast<const algebra::G1Affine*>(c_.parameters.points(Query::kH));
  CUZK_RETURN_IF_ERROR(ReverseOrder(vectors_[1], vectors_[0], c_.parameters.domain().log2_size(), c_.worker.compute));
  const bool overlap =
      c_.workspace.main().bytes() < 2 * vector_bytes() + 2 * c_.parameters.circuit_plan().row_slot_bytes;
  if (overlap) {
    CUZK_ASSIGN_OR_RETURN(Event reversed, Event::Create());
    CUZK_RETURN_IF_ERROR(reversed.Record(c_.worker.compute));
    CUZK_RETURN_IF_ERROR(reversed.Wait(c_.worker.copy));
  }
  CUZK_ASSIGN_OR_RETURN(auto slots, DoubleBuffer::Create(c_.workspace.point_slots(), c_.workspace.slot_bytes(),
                                                         c_.worker.copy, c_.card.copied));
  const Arena arena = c_.workspace.main(vector_bytes());
  const uint64_t piece = std::min(c_.parameters.circuit_plan().h_terms, slots.slot_bytes() / sizeof(algebra::G1Affine));
  for (uint64_t begin = 0; begin < count; begin += piece) {
    CUZK_RETURN_IF_ERROR(CheckStop(stop_));
    const uint64_t terms = std::min(piece, count - begin);
    const DoubleBuffer::Piece copy{points + begin, terms * sizeof(algebra::G1Affine), 0};
    CUZK_ASSIGN_OR_RETURN(std::byte * slot, slots.Fill({&copy, 1}, c_.worker.compute));
    CUZK_RETURN_IF_ERROR(
        EnqueueSum(reinterpret_cast<const algebra::G1Affine*>(slot), vectors_[0] + begin, terms, {}, arena));
    CUZK_RETURN_IF_ERROR(slots.Release(c_.worker.compute));
  }
  return absl::OkStatus();
}

}  // namespace cuzk::gpu
