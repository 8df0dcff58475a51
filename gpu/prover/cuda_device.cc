#include "gpu/prover/cuda_device.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "core/base/check.h"
#include "gpu/prover/card_identity.h"
#include "gpu/prover/card_memory.h"
#include "gpu/prover/cuda_parameters.h"
#include "gpu/prover/partition.h"
#include "gpu/runtime/card_limits.h"

namespace cuzk::gpu {
namespace {

class Card final : public CudaDevice {
 public:
  Card(const CudaDeviceOptions& options, const cudaDeviceProp& properties, const prover::CardLimits& limits)
      : id_(static_cast<DeviceId>(options.ordinal)),
        name_(properties.name),
        identity_(IdentityOf(properties)),
        total_(properties.totalGlobalMem),
        memory_(options.memory_cap),
        pinned_(id_),
        shared_(memory_, claims_),
        context_{id_, &memory_, &pinned_, options.pool, &claims_, limits, &copied_} {}
  ~Card() override {
    DeviceGuard guard(id_);
    workers_.clear();
    shared_.Clear();
  }

  std::string_view name() const override { return name_; }
  int ordinal() const override { return static_cast<int>(id_); }
  prover::DeviceIdentity identity() const override { return identity_; }
  prover::MemoryInfo memory() const override {
    DeviceGuard guard(id_);
    StatusOr<uint64_t> available = memory_.Available();
    return {memory_.cap() != 0 ? std::min(memory_.cap(), total_) : total_, available.ok() ? *available : 0};
  }
  Status health() const override {
    std::lock_guard lock(mutex_);
    return lost_;
  }
  memory::HostAllocator& host_allocator() override { return pinned_; }
  DeviceMemory& device_memory() override { return memory_; }
  size_t compute_region_waiting() const override { return shared_.region().waiting(); }
  uint64_t copied_bytes() const override { return copied_.load(); }

  Status Observe(Status status) override {
    if (absl::IsUnavailable(status)) {
      std::lock_guard lock(mutex_);
      if (lost_.ok()) lost_ = Annotate(status, StrCat("device ", ordinal(), " (", name_, ") is lost"));
      return lost_;
    }
    return status;
  }

  StatusOr<prover::Plan> MakePlan(const r1cs::Shape& shape, const prover::PlanOptions& options) const override {
    CUZK_RETURN_IF_ERROR(health());
    CUZK_ASSIGN_OR_RETURN(CircuitPlan plan, PlanInDetail(shape, options));
    return plan.plan;
  }

  StatusOr<CircuitPlan> PlanInDetail(const r1cs::Shape& shape, const prover::PlanOptions& options) const override {
    DeviceGuard guard(id_);
    CUZK_RETURN_IF_ERROR(guard.status());
    CUZK_ASSIGN_OR_RETURN(uint64_t available, memory_.Available());
    available += shared_.bytes();  // it grows with the plan, serves it, or is given up for it
    if (options.memory_cap != 0) available = std::min(available, options.memory_cap);
    return PlanCircuit(CircuitSizes::Of(shape, options.layout), context_.limits, available - ReservedBytes(available),
                       claims_.Most(), options);
  }

  StatusOr<std::shared_ptr<const prover::ResidentParameters>> Load(std::shared_ptr<const groth16::ParameterFile> file,
                                                                   std::shared_ptr<const r1cs::Shape> shape,
                                                                   const prover::LoadOptions& options) override {
    return Place(*shape, options, [&](CircuitPlan plan) {
      return CudaParameters::Load(*file, shape, std::move(plan), options, context_);
    });
  }

  StatusOr<std::shared_ptr<const prover::ResidentParameters>> MakeParameters(
      const groth16::SectionScalars& scalars, std::shared_ptr<const r1cs::Shape> shape,
      const prover::LoadOptions& options) override {
    return Place(*shape, options, [&](CircuitPlan plan) {
      return CudaParameters::Make(scalars, shape, std::move(plan), options.progress, context_);
    });
  }

  StatusOr<std::unique_ptr<prover::Pending>> Start(std::shared_ptr<const prover::ResidentParameters> parameters,
                                                   r1cs::Witness witness,
                                                   const prover::StartOptions& options) override {
    CUZK_RETURN_IF_ERROR(health());
    auto mine = std::dynamic_pointer_cast<const CudaParameters>(parameters);
    if (!mine || mine->card() != id_)
      return absl::FailedPreconditionError("the parameters were loaded on another device");
    if (mine->shape() != witness.shared_shape() && mine->shape()->counts != witness.shape().counts) {
      return absl::FailedPreconditionError("the witness is not of the circuit of the parameters");
    }
    DeviceGuard guard(id_);
    CUZK_RETURN_IF_ERROR(Observe(guard.status()));
    StatusOr<Worker*> worker = WorkerOf(options.worker);
    if (!worker.ok()) return Observe(worker.status());
    CUZK_ASSIGN_OR_RETURN(Partition::Ticket ticket, mine->sweeps().Enter(options.urgency, options.stop));
    const CardServices services{context_, shared_, [this](Status status) { return Observe(std::move(status)); }};
    auto partition = std::make_unique<Partition>(services, std::move(mine), **worker, std::move(ticket), options);
    Status status = partition->Start(std::move(witness));
    if (!status.ok()) return Observe(std::move(status));
    return partition;
  }

 private:
  /// Parameters by `make`, which is given the plan.
  template <class Make>
  StatusOr<std::shared_ptr<const prover::ResidentParameters>> Place(const r1cs::Shape& shape,
                                                                    const prover::LoadOptions& options, Make make) {
    CUZK_RETURN_IF_ERROR(health());
    DeviceGuard guard(id_);
    CUZK_RETURN_IF_ERROR(Observe(guard.status()));
    StatusOr<CircuitPlan> plan = PlanInDetail(shape, options.plan);
    if (!plan.ok()) return Observe(plan.status());
    const uint64_t loading = CudaParameters::LoadingBytes(groth16::SectionCounts::Of(shape));
    CUZK_RETURN_IF_ERROR(shared_.MakeRoom(plan->plan.parameter_device_bytes + loading, options.stop));
    auto made = make(*std::move(plan));
    if (!made.ok()) return Observe(made.status());
    return *std::move(made);
  }

  StatusOr<Worker*> WorkerOf(unsigned number) {
    std::lock_guard lock(mutex_);
    auto& worker = workers_[number];
    if (worker == nullptr) {
      CUZK_ASSIGN_OR_RETURN(worker, Worker::Create(context_));
    }
    return worker.get();
  }

  const DeviceId id_;
  const std::string name_;
  const prover::DeviceIdentity identity_;
  const uint64_t total_;
  DeviceMemory memory_;
  PinnedAllocator pinned_;
  prover::DeviceClaims claims_;
  CardMemory shared_;
  std::atomic<uint64_t> copied_{0};
  const CardContext context_;
  mutable std::mutex mutex_;
  Status lost_;                                          // guarded by mutex_
  std::map<unsigned, std::unique_ptr<Worker>> workers_;  // guarded by mutex_; never removed
};

}  // namespace

StatusOr<std::unique_ptr<CudaDevice>> MakeCudaDevice(const CudaDeviceOptions& options) {
  CUZK_CHECK(options.pool != nullptr);
  cudaDeviceProp properties;
  Status status = CUZK_CUDA_STATUS(cudaGetDeviceProperties(&properties, options.ordinal));
  if (!status.ok()) return Annotate(std::move(status), StrCat("card ", options.ordinal));
  DeviceGuard guard(static_cast<DeviceId>(options.ordinal));
  CUZK_RETURN_IF_ERROR(guard.status());
  CUZK_ASSIGN_OR_RETURN(const prover::CardLimits limits, CurrentCardLimits());
  // Waiting threads sleep: the processor belongs to synthesis.
  Ignore(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  return std::make_unique<Card>(options, properties, limits);
}

StatusOr<int> CudaDeviceCount() {
  int count = 0;
  CUZK_CUDA(cudaGetDeviceCount(&count));
  return count;
}

}  // namespace cuzk::gpu
