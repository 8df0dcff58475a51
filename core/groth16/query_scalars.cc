#include "core/groth16/query_scalars.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "core/base/first_where.h"
#include "core/base/mutex.h"

namespace cuzk::groth16 {
namespace {

using algebra::Fr;
using r1cs::Position;
using r1cs::RowStretch;
using Targets = std::array<std::span<Fr>, r1cs::kMatrixCount>;

/// The sums of all stretches. Variables that a stretch makes are its own; those of the head, which every stretch may
/// use, come in by Merge.
class Accumulator {
 public:
  Accumulator(const r1cs::ShapeCounts& counts, const LagrangeAt& lagrange, QueryScalars& out)
      : counts_(counts), lagrange_(lagrange), targets_{out.u.span(), out.v.span(), out.ext.span()} {}

  const r1cs::ShapeCounts& counts() const { return counts_; }
  const LagrangeAt& lagrange() const { return lagrange_; }
  const Targets& targets() const { return targets_; }

  void Merge(const Position& head, const std::array<std::vector<Fr>, r1cs::kMatrixCount>& sums) {
    MutexLock lock(mutex_);
    for (size_t m = 0; m < r1cs::kMatrixCount; ++m) {
      for (size_t i = 0; i < sums[m].size(); ++i) {
        targets_[m][i < head.inputs ? i : i - head.inputs + counts_.inputs] += sums[m][i];
      }
    }
  }
  /// A stretch took the rows from `begin` to before `next`. `whole`: as many as it should, and nothing that does not
  /// fit.
  void CountRows(uint64_t begin, uint64_t next, bool whole) {
    MutexLock lock(mutex_);
    rows_ += next - begin;
    if (!whole) stopped_at_ = std::min(stopped_at_, next);
  }
  /// The rows x * 0 = 0 that are appended for every input.
  Status FinishWithInputRows() {
    MutexLock lock(mutex_);
    if (stopped_at_ == UINT64_MAX && rows_ != counts_.rows) stopped_at_ = rows_;
    if (stopped_at_ != UINT64_MAX) {
      return absl::InvalidArgumentError(
          StrCat("the rows are not the shape's: stopped at row ", stopped_at_, " of ", counts_.rows));
    }
    std::vector<Fr> values(counts_.inputs), scratch(counts_.inputs);
    lagrange_.Fill(counts_.rows, values, scratch);
    for (uint32_t i = 0; i < counts_.inputs; ++i) targets_[0][i] += values[i];
    return absl::OkStatus();
  }

 private:
  const r1cs::ShapeCounts& counts_;
  const LagrangeAt& lagrange_;
  const Targets targets_;
  Mutex mutex_;
  uint64_t rows_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t stopped_at_ ABSL_GUARDED_BY(mutex_) = UINT64_MAX;
};

/// Adds every row's coefficients, times its Lagrange value, to the variables of the row.
class StretchSink final : public r1cs::RowSink {
 public:
  StretchSink(Accumulator& all, const RowStretch& stretch)
      : all_(all), stretch_(stretch), values_(kRun), scratch_(kRun), next_row_(stretch.begin.rows) {
    for (auto& sums : head_) sums.assign(size_t{stretch.head.inputs} + stretch.head.aux, Fr::Zero());
  }
  ~StretchSink() override {
    all_.Merge(stretch_.head, head_);
    all_.CountRows(stretch_.begin.rows, next_row_, fits_ && next_row_ == stretch_.end.rows);
  }

  void OnRow(const r1cs::Row& row) override {
    if (row.index != next_row_ || row.index >= stretch_.end.rows) fits_ = false;
    if (!fits_) return;
    const Fr value = Lagrange(row.index);
    for (size_t m = 0; m < r1cs::kMatrixCount; ++m) {
      for (const r1cs::Term& term : row.sides[m]) {
        Fr* target = Target(m, term.variable);
        if (target == nullptr) {
          fits_ = false;
          return;
        }
        if (term.coefficient.IsOne()) {
          *target += value;
        } else {
          *target += term.coefficient * value;
        }
      }
    }
    ++next_row_;
  }

 private:
  /// A multiple of a batch inversion's cost, and little memory.
  static constexpr uint64_t kRun = uint64_t{1} << 13;

  /// Null for a variable that the stretch must not use.
  Fr* Target(size_t m, r1cs::Variable variable) {
    const uint32_t i = variable.index();
    if (variable.is_aux()) {
      if (i >= stretch_.begin.aux) {
        return i < stretch_.end.aux ? &all_.targets()[m][size_t{all_.counts().inputs} + i] : nullptr;
      }
      return i < stretch_.head.aux ? &head_[m][size_t{stretch_.head.inputs} + i] : nullptr;
    }
    if (i >= stretch_.begin.inputs) return i < stretch_.end.inputs ? &all_.targets()[m][i] : nullptr;
    return i < stretch_.head.inputs ? &head_[m][i] : nullptr;
  }

  const Fr& Lagrange(uint64_t row) {
    if (row >= run_end_) {
      run_begin_ = row;
      run_end_ = std::min(row + kRun, stretch_.end.rows);
      const size_t n = run_end_ - run_begin_;
      all_.lagrange().Fill(row, std::span(values_).first(n), std::span(scratch_).first(n));
    }
    return values_[row - run_begin_];
  }

  Accumulator& all_;
  const RowStretch stretch_;
  std::array<std::vector<Fr>, r1cs::kMatrixCount> head_;  // inputs of the head, then its aux
  std::vector<Fr> values_, scratch_;
  uint64_t run_begin_ = 0, run_end_ = 0, next_row_;
  bool fits_ = true;
};

Status Stream(const GeneratorInput& input, Accumulator& accumulator, ThreadPool& pool) {
  const r1cs::ShapeCounts& counts = input.shape->counts;
  if (input.stretches) {
    return input.stretches(
        [&](const RowStretch& stretch) { return std::make_unique<StretchSink>(accumulator, stretch); }, pool);
  }
  StretchSink whole(accumulator, {Position{}, Position{}, Position{counts.inputs, counts.aux, counts.rows}});
  return input.rows(whole);
}

/// Scalars that one thread searches at a time.
constexpr size_t kSearched = 1 << 14;

/// Density by structure and zero by value must agree, else the file would lack a point or hold infinity.
Status CheckDensity(const r1cs::IndexSet& dense, std::span<const Fr> scalars, std::string_view query,
                    std::string_view kind, ThreadPool& pool) {
  const uint64_t i = FirstWhere(scalars.size(), kSearched, pool,
                                [&](size_t at) { return dense.Contains(at) == scalars[at].IsZero(); });
  if (i == scalars.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      scalars[i].IsZero()
          ? StrCat("query ", query, ": the polynomial of ", kind, " ", i, " vanishes at tau; choose another tau")
          : StrCat("query ", query, ": ", kind, " ", i, " occurs in rows, but its density bit is not set"));
}

Status CheckScalars(const r1cs::Shape& shape, const QueryScalars& scalars, ThreadPool& pool) {
  const size_t inputs = shape.counts.inputs;
  CUZK_RETURN_IF_ERROR(CheckDensity(shape.a_aux, scalars.u.span().subspan(inputs), "a", "aux", pool));
  CUZK_RETURN_IF_ERROR(CheckDensity(shape.b_input, scalars.v.span().first(inputs), "b", "input", pool));
  CUZK_RETURN_IF_ERROR(CheckDensity(shape.b_aux, scalars.v.span().subspan(inputs), "b", "aux", pool));
  const uint64_t i = FirstWhere(scalars.ext.size(), kSearched, pool, [&](size_t at) {
    return (at < inputs && scalars.u[at].IsZero()) || scalars.ext[at].IsZero();
  });
  if (i == scalars.ext.size()) return absl::OkStatus();
  if (i < inputs && scalars.u[i].IsZero()) {
    return absl::InvalidArgumentError(StrCat("query a: the polynomial of input ", i, " vanishes at tau"));
  }
  return absl::InvalidArgumentError(i < inputs ? StrCat("ic: the point of input ", i, " is infinity")
                                               : StrCat("aux ", i - inputs, " is unconstrained"));
}

}  // namespace

StatusOr<QueryScalars> EvaluateAtTau(const GeneratorInput& input, const LagrangeAt& lagrange,
                                     memory::HostAllocator& allocator, ThreadPool& pool) {
  const r1cs::Shape& shape = *input.shape;
  const size_t variables = size_t{shape.counts.inputs} + shape.counts.aux;
  QueryScalars out;
  for (memory::Array<Fr>* array : {&out.u, &out.v, &out.ext}) {
    CUZK_ASSIGN_OR_RETURN(*array, memory::Array<Fr>::Allocate(allocator, variables, "polynomials of the variables"));
    pool.ParallelFor(variables, 1 << 16, [&](size_t begin, size_t end) {
      std::ranges::fill(array->span().subspan(begin, end - begin), Fr::Zero());
    });
  }
  Accumulator accumulator(shape.counts, lagrange, out);
  CUZK_RETURN_IF_ERROR(Stream(input, accumulator, pool));
  CUZK_RETURN_IF_ERROR(accumulator.FinishWithInputRows());
  const Fr alpha = input.waste.alpha, beta = input.waste.beta;
  pool.ParallelFor(variables, 4096, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) out.ext[i] += beta * out.u[i] + alpha * out.v[i];
  });
  CUZK_RETURN_IF_ERROR(CheckScalars(shape, out, pool));
  return out;
}

}  // namespace cuzk::groth16
