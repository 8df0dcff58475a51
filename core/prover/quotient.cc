#include "core/prover/quotient.h"

#include <algorithm>

#include "core/base/check.h"

namespace cuzk::prover {
namespace {

using algebra::Fr;
using r1cs::Matrix;

/// The rows of one matrix, then zeros up to the domain's size.
void Expand(const r1cs::Witness& witness, Matrix matrix, std::span<Fr> out, ThreadPool& pool) {
  const uint64_t rows = witness.shape().counts.rows_with_inputs();
  pool.ParallelFor(out.size(), 4096, [&](size_t begin, size_t end) {
    const size_t filled = std::clamp<size_t>(rows, begin, end);
    if (filled > begin) witness.ExpandRows(matrix, begin, out.subspan(begin, filled - begin));
    std::ranges::fill(out.subspan(filled, end - filled), Fr::Zero());
  });
}

Status Stopped(const std::stop_token& stop) {
  return stop.stop_requested() ? absl::CancelledError("cancelled during the transforms") : absl::OkStatus();
}

}  // namespace

StatusOr<memory::Array<Fr>> QuotientOf(const r1cs::Witness& witness, const algebra::Domain& domain,
                                       memory::HostAllocator& allocator, ThreadPool& pool, std::stop_token stop) {
  CUZK_CHECK(domain.log2_size() == witness.shape().counts.log2_domain());
  CUZK_ASSIGN_OR_RETURN(auto h, memory::Array<Fr>::Allocate(allocator, domain.size(), "transforms"));
  CUZK_ASSIGN_OR_RETURN(auto other, memory::Array<Fr>::Allocate(allocator, domain.size(), "transforms"));
  for (auto [matrix, values] : {std::pair{Matrix::kA, h.span()}, std::pair{Matrix::kB, other.span()}}) {
    CUZK_RETURN_IF_ERROR(Stopped(stop));
    Expand(witness, matrix, values, pool);
    InverseNtt(values, domain, pool);
    CosetNttToReversed(values, domain, pool);
  }
  MultiplyPoints(h.span(), other.span(), domain.arithmetic(), pool);
  CUZK_RETURN_IF_ERROR(Stopped(stop));
  InverseCosetNttFromReversed(h.span(), domain, pool);
  Expand(witness, Matrix::kC, other.span(), pool);
  InverseNtt(other.span(), domain, pool);
  SubtractAndScale(h.span(), other.span(), domain.CosetVanishingInverse(), domain.arithmetic(), pool);
  CUZK_RETURN_IF_ERROR(Stopped(stop));
  return h;
}

uint64_t QuotientBytes(const r1cs::Shape& shape) { return (uint64_t{2} << shape.counts.log2_domain()) * sizeof(Fr); }

}  // namespace cuzk::prover
