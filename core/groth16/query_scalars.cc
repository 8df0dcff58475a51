#include "core/groth16/query_scalars.h"

#include <algorithm>
#include <array>
#include <vector>

namespace cuzk::groth16 {
namespace {

using algebra::Fr;
using r1cs::Matrix;

/// Adds every row's coefficients, times its Lagrange value, to the variables of the row.
class Accumulator final : public r1cs::RowSink {
 public:
  Accumulator(const r1cs::ShapeCounts& counts, const LagrangeAt& lagrange, QueryScalars& out, ThreadPool& pool)
      : counts_(counts), lagrange_(lagrange), out_(out), pool_(pool), values_(kRun), scratch_(kRun) {}

  void OnRow(const r1cs::Row& row) override {
    if (row.index != next_row_ || row.index >= counts_.rows) fits_ = false;
    if (!fits_) return;
    ++next_row_;
    const Fr value = Lagrange(row.index);
    const std::array<std::span<Fr>, r1cs::kMatrixCount> targets = {out_.u.span(), out_.v.span(), out_.ext.span()};
    for (size_t m = 0; m < r1cs::kMatrixCount; ++m) {
      for (const r1cs::Term& term : row.sides[m]) {
        const uint64_t index = term.variable.index() + (term.variable.is_aux() ? counts_.inputs : 0);
        if (index >= targets[m].size() || (!term.variable.is_aux() && index >= counts_.inputs)) {
          fits_ = false;
          return;
        }
        if (term.coefficient.IsOne()) {
          targets[m][index] += value;
        } else {
          targets[m][index] += term.coefficient * value;
        }
      }
    }
  }

  /// The rows x * 0 = 0 that are appended for every input.
  Status FinishWithInputRows() {
    if (!fits_ || next_row_ != counts_.rows) {
      return absl::InvalidArgumentError(
          StrCat("the rows are not the shape's: stopped at row ", next_row_, " of ", counts_.rows));
    }
    for (uint32_t i = 0; i < counts_.inputs; ++i) out_.u[i] += Lagrange(counts_.rows + i);
    return absl::OkStatus();
  }

 private:
  static constexpr uint64_t kRun = uint64_t{1} << 16;

  const Fr& Lagrange(uint64_t row) {
    if (row >= run_end_) {
      run_begin_ = row;
      run_end_ = row + kRun;
      lagrange_.Fill(row, values_, scratch_, pool_);
    }
    return values_[row - run_begin_];
  }

  const r1cs::ShapeCounts& counts_;
  const LagrangeAt& lagrange_;
  QueryScalars& out_;
  ThreadPool& pool_;
  std::vector<Fr> values_, scratch_;
  uint64_t run_begin_ = 0, run_end_ = 0, next_row_ = 0;
  bool fits_ = true;
};

/// Density by structure and zero by value must agree, else the file would lack a point or hold infinity.
Status CheckDensity(const r1cs::IndexSet& dense, std::span<const Fr> scalars, std::string_view query,
                    std::string_view kind) {
  for (uint64_t i = 0; i < scalars.size(); ++i) {
    if (dense.Contains(i) != scalars[i].IsZero()) continue;
    return absl::InvalidArgumentError(
        scalars[i].IsZero()
            ? StrCat("query ", query, ": the polynomial of ", kind, " ", i, " vanishes at tau; choose another tau")
            : StrCat("query ", query, ": ", kind, " ", i, " occurs in rows, but its density bit is not set"));
  }
  return absl::OkStatus();
}

Status CheckScalars(const r1cs::Shape& shape, const QueryScalars& scalars) {
  const size_t inputs = shape.counts.inputs;
  CUZK_RETURN_IF_ERROR(CheckDensity(shape.a_aux, scalars.u.span().subspan(inputs), "a", "aux"));
  CUZK_RETURN_IF_ERROR(CheckDensity(shape.b_input, scalars.v.span().first(inputs), "b", "input"));
  CUZK_RETURN_IF_ERROR(CheckDensity(shape.b_aux, scalars.v.span().subspan(inputs), "b", "aux"));
  for (size_t i = 0; i < scalars.ext.size(); ++i) {
    if (i < inputs && scalars.u[i].IsZero()) {
      return absl::InvalidArgumentError(StrCat("query a: the polynomial of input ", i, " vanishes at tau"));
    }
    if (!scalars.ext[i].IsZero()) continue;
    return absl::InvalidArgumentError(i < inputs ? StrCat("ic: the point of input ", i, " is infinity")
                                                 : StrCat("aux ", i - inputs, " is unconstrained"));
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<QueryScalars> EvaluateAtTau(const GeneratorInput& input, const LagrangeAt& lagrange,
                                     memory::HostAllocator& allocator, ThreadPool& pool) {
  const r1cs::Shape& shape = *input.shape;
  const size_t variables = size_t{shape.counts.inputs} + shape.counts.aux;
  QueryScalars out;
  for (memory::Array<Fr>* array : {&out.u, &out.v, &out.ext}) {
    CUZK_ASSIGN_OR_RETURN(*array, memory::Array<Fr>::Allocate(allocator, variables, "polynomials of the variables"));
    std::ranges::fill(array->span(), Fr::Zero());
  }
  Accumulator accumulator(shape.counts, lagrange, out, pool);
  CUZK_RETURN_IF_ERROR(input.rows(accumulator));
  CUZK_RETURN_IF_ERROR(accumulator.FinishWithInputRows());
  const Fr alpha = input.waste.alpha, beta = input.waste.beta;
  pool.ParallelFor(variables, 4096, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) out.ext[i] += beta * out.u[i] + alpha * out.v[i];
  });
  CUZK_RETURN_IF_ERROR(CheckScalars(shape, out));
  return out;
}

}  // namespace cuzk::groth16
