#include "core/prover/cpu/quotient.h"

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

/// Counts the transforms.
class Steps {
 public:
  explicit Steps(const QuotientOptions& options) : options_(options) {}
  Status Done() {
    constexpr uint64_t kTransforms = 6;
    if (options_.progress) options_.progress(++done_, kTransforms);
    return options_.stop.stop_requested() ? absl::CancelledError("cancelled during the transforms") : absl::OkStatus();
  }

 private:
  const QuotientOptions& options_;
  uint64_t done_ = 0;
};

}  // namespace

StatusOr<memory::Array<Fr>> QuotientOf(const r1cs::Witness& witness, const algebra::Domain& domain,
                                       const QuotientOptions& options) {
  CUZK_CHECK(domain.log2_size() == witness.shape().counts.log2_domain());
  ThreadPool& pool = *options.pool;
  CUZK_ASSIGN_OR_RETURN(auto h, memory::Array<Fr>::Allocate(*options.allocator, domain.size(), "transforms"));
  CUZK_ASSIGN_OR_RETURN(auto other, memory::Array<Fr>::Allocate(*options.allocator, domain.size(), "transforms"));
  Steps steps(options);
  for (auto [matrix, values] : {std::pair{Matrix::kA, h.span()}, std::pair{Matrix::kB, other.span()}}) {
    Expand(witness, matrix, values, pool);
    InverseNtt(values, domain, pool);
    CUZK_RETURN_IF_ERROR(steps.Done());
    CosetNttToReversed(values, domain, pool);
    CUZK_RETURN_IF_ERROR(steps.Done());
  }
  MultiplyPoints(h.span(), other.span(), domain.arithmetic(), pool);
  InverseCosetNttFromReversed(h.span(), domain, pool);
  CUZK_RETURN_IF_ERROR(steps.Done());
  Expand(witness, Matrix::kC, other.span(), pool);
  InverseNtt(other.span(), domain, pool);
  CUZK_RETURN_IF_ERROR(steps.Done());
  SubtractAndScale(h.span(), other.span(), domain.CosetVanishingInverse(), domain.arithmetic(), pool);
  return h;
}

uint64_t QuotientBytes(const r1cs::Shape& shape) { return (uint64_t{2} << shape.counts.log2_domain()) * sizeof(Fr); }

}  // namespace cuzk::prover
