#include "core/prover/cpu/cpu_device.h"

#include <algorithm>
#include <utility>

#include "core/algebra/msm/msm.h"
#include "core/base/check.h"
#include "core/memory/detect.h"
#include "core/prover/cpu/cpu_parameters.h"
#include "core/prover/cpu/query_terms.h"
#include "core/prover/cpu/quotient.h"
#include "core/prover/device/device_lease.h"
#include "core/prover/device/stage_clock.h"

namespace cuzk::prover {
namespace {

using groth16::MsmResults;
using groth16::Query;

class Finished final : public Pending {
 public:
  Finished(MsmResults results, Timeline timeline) : results_(results), timeline_(std::move(timeline)) {}
  StatusOr<MsmResults> Finish() override { return results_; }
  const Timeline& timeline() const override { return timeline_; }

 private:
  const MsmResults results_;
  const Timeline timeline_;
};

/// Work of the stages in units of one G1 addition, roughly; only proportions matter.
struct StageWork {
  explicit StageWork(const r1cs::Shape& shape) {
    const groth16::SectionCounts counts = groth16::SectionCounts::Of(shape);
    const uint64_t wide = shape.wide_aux_count() + shape.counts.inputs;
    l = counts[Query::kL] / 2 + 12 * wide;
    a = counts[Query::kA] / 2 + 12 * wide;
    b = counts[Query::kBG1] / 2 + 12 * std::min(wide, counts[Query::kBG1]);
    h = 16 * counts[Query::kH];
    transforms = 8 * counts[Query::kH];
  }
  uint64_t total() const { return l + a + 4 * b + h + transforms; }
  uint64_t l, a, b, h, transforms;
};

/// One partition, from the witness to the five sums.
class CpuPartition {
 public:
  CpuPartition(const CpuParameters& parameters, r1cs::Witness& witness, const StartOptions& options,
               const CpuContext& context, StageClock& clock)
      : parameters_(parameters),
        witness_(witness),
        options_(options),
        context_(context),
        clock_(clock),
        work_(witness.shape()) {}

  StatusOr<MsmResults> Prove() {
    MsmResults out;
    CUZK_RETURN_IF_ERROR(SumsOverVariables(out));
    CUZK_RETURN_IF_ERROR(CheckStop());
    clock_.Begin(stage::kTransforms, work_.transforms);
    QuotientOptions quotient{context_.allocator, context_.pool, options_.stop, Within()};
    CUZK_ASSIGN_OR_RETURN(memory::Array<algebra::Fr> h, QuotientOf(witness_, parameters_.domain(), quotient));
    witness_.ReleaseLease();
    clock_.Begin(stage::kMsmH, work_.h);
    const auto points = parameters_.g1(Query::kH);
    CUZK_ASSIGN_OR_RETURN(
        out.h, algebra::Msm(points, std::span<const algebra::Fr>(h.span()).first(points.size()), SumOptions()));
    CUZK_RETURN_IF_ERROR(CheckStop());
    return out;
  }

 private:
  /// l, a, b_g1, b_g2.
  Status SumsOverVariables(MsmResults& out) {
    CUZK_ASSIGN_OR_RETURN(out.l, SumG1(Query::kL, stage::kMsmL, work_.l));
    CUZK_ASSIGN_OR_RETURN(out.a, SumG1(Query::kA, stage::kMsmA, work_.a));
    CUZK_RETURN_IF_ERROR(CheckStop());
    clock_.Begin(stage::kMsmBG1, work_.b);
    CUZK_ASSIGN_OR_RETURN(QueryTerms terms, QueryTerms::Gather(witness_, Query::kBG1, *context_.allocator));
    CUZK_ASSIGN_OR_RETURN(out.b_g1, algebra::Msm(parameters_.g1(Query::kBG1), terms.classed(), SumOptions()));
    clock_.Begin(stage::kMsmBG2, 3 * work_.b);
    CUZK_ASSIGN_OR_RETURN(out.b_g2, algebra::Msm(parameters_.b_g2(), terms.classed(), SumOptions()));
    return absl::OkStatus();
  }

  StatusOr<algebra::G1> SumG1(Query query, std::string_view stage, uint64_t work) {
    CUZK_RETURN_IF_ERROR(CheckStop());
    clock_.Begin(stage, work);
    CUZK_ASSIGN_OR_RETURN(QueryTerms terms, QueryTerms::Gather(witness_, query, *context_.allocator));
    return algebra::Msm(parameters_.g1(query), terms.classed(), SumOptions());
  }

  algebra::MsmOptions SumOptions() {
    return {context_.pool, context_.arithmetic, context_.allocator, options_.stop, Within()};
  }
  /// Of the stage that runs.
  Progress Within() {
    if (!options_.progress) return {};
    return [this](uint64_t done, uint64_t total) { clock_.Within(done, total); };
  }

  Status CheckStop() const {
    return options_.stop.stop_requested() ? absl::CancelledError("cancelled while the partition was being proved")
                                          : absl::OkStatus();
  }

  const CpuParameters& parameters_;
  r1cs::Witness& witness_;
  const StartOptions& options_;
  const CpuContext& context_;
  StageClock& clock_;
  const StageWork work_;
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const CpuDeviceOptions& options)
      : context_{options.pool, options.arithmetic, options.allocator ? options.allocator : &system_memory_},
        name_(StrCat("cpu (", options.pool->size(), options.pool->size() == 1 ? " thread, " : " threads, ",
                     ArithmeticName(options.arithmetic), ")")) {}

  std::string_view name() const override { return name_; }
  int ordinal() const override { return -1; }
  Status health() const override { return absl::OkStatus(); }
  memory::HostAllocator& host_allocator() override { return *context_.allocator; }

  MemoryInfo memory() const override {
    StatusOr<memory::MemoryLimits> limits = memory::DetectMemory();
    const uint64_t bytes = limits.ok() ? limits->usable_bytes() : 0;
    return {bytes, bytes};
  }

  StatusOr<Plan> MakePlan(const r1cs::Shape& shape, const PlanOptions& options) const override {
    const groth16::SectionCounts counts = groth16::SectionCounts::Of(shape);
    const uint64_t terms = uint64_t{1} << shape.counts.log2_domain();
    auto scratch = [&](size_t point_bytes) {
      return algebra::MsmScratchBytes(terms, point_bytes, context_.pool->size());
    };
    Plan plan;
    plan.placement = Placement::kHost;
    plan.workers = options.workers;
    plan.parameter_host_bytes = CpuParameters::Bytes(counts);
    // The sums over variables come first; the terms of one query are there at a time.
    plan.partition_host_bytes = std::max(QuotientBytes(shape) + scratch(groth16::kG1Bytes),
                                         QueryTerms::MaxBytes(shape) + scratch(groth16::kG2Bytes));
    const uint64_t needed = plan.parameter_host_bytes + plan.partition_host_bytes;
    const uint64_t available = options.memory_cap ? options.memory_cap : memory().total;
    const std::string need = StrCat("parameters take ", plan.parameter_host_bytes, " bytes and a partition ",
                                    plan.partition_host_bytes, " bytes of host memory");
    if (available != 0 && needed > available) {
      return absl::ResourceExhaustedError(
          StrCat("the circuit does not fit on ", name_, ": ", need, ", but there are ", available));
    }
    plan.explanation = need;
    return plan;
  }

  StatusOr<std::shared_ptr<const ResidentParameters>> Load(std::shared_ptr<const groth16::ParameterFile> file,
                                                           std::shared_ptr<const r1cs::Shape> shape,
                                                           const LoadOptions& options) override {
    CUZK_ASSIGN_OR_RETURN(Plan plan, MakePlan(*shape, options.plan));
    return CpuParameters::Load(*file, std::move(shape), std::move(plan), options, context_);
  }

  StatusOr<std::unique_ptr<Pending>> Start(std::shared_ptr<const ResidentParameters> parameters, r1cs::Witness witness,
                                           const StartOptions& options) override {
    const auto* loaded = dynamic_cast<const CpuParameters*>(parameters.get());
    if (!loaded) return absl::FailedPreconditionError("the parameters were loaded on another device");
    if (loaded->shape() != witness.shared_shape() && loaded->shape()->counts != witness.shape().counts) {
      return absl::FailedPreconditionError("the witness is not of the circuit of the parameters");
    }
    StageClock clock(StageWork(witness.shape()).total(), options.progress);
    clock.Begin(stage::kLeaseWait, 0);
    CUZK_ASSIGN_OR_RETURN(DeviceLease lease, region_.Enter(options.stop, options.urgency));
    StatusOr<MsmResults> results = CpuPartition(*loaded, witness, options, context_, clock).Prove();
    if (!results.ok()) return results.status();
    return std::make_unique<Finished>(*results, clock.Take());
  }

 private:
  memory::AlignedAllocator system_memory_;
  const CpuContext context_;
  const std::string name_;
  ComputeRegion region_;
};

}  // namespace

std::unique_ptr<Device> MakeCpuDevice(const CpuDeviceOptions& options) {
  CUZK_CHECK(options.pool != nullptr);
  return std::make_unique<CpuDevice>(options);
}

}  // namespace cuzk::prover
