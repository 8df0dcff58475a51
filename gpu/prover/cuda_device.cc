#include "gpu/prover/cuda_device.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "core/base/check.h"
#include "core/prover/device_lease.h"
#include "gpu/prover/card_identity.h"
#include "gpu/prover/cuda_parameters.h"
#include "gpu/prover/partition.h"

namespace cuzk::gpu {
namespace {

using prover::DeviceLease;
using Clock = std::chrono::steady_clock;

/// Units of progress of one partition.
constexpr uint64_t kCopied = 1, kEnqueued = 2, kFinished = 10;

class Card;

class CudaPending final : public prover::Pending {
 public:
  CudaPending(Card& card, std::shared_ptr<const CudaParameters> parameters, Worker& worker, Progress progress)
      : card_(card), parameters_(std::move(parameters)), worker_(worker), progress_(std::move(progress)) {}
  ~CudaPending() override;
  StatusOr<groth16::MsmResults> Finish() override;
  const prover::Timeline& timeline() const override { return timeline_; }

  Card& card_;
  std::shared_ptr<const CudaParameters> parameters_;
  Worker& worker_;
  const Progress progress_;
  std::unique_ptr<PartitionRun> run_;
  std::optional<DeviceLease> lease_;
  prover::Timeline timeline_;

 private:
  StatusOr<groth16::MsmResults> Wait();
};

class Card final : public CudaDevice {
 public:
  Card(const CudaDeviceOptions& options, const cudaDeviceProp& properties)
      : id_(static_cast<DeviceId>(options.ordinal)),
        name_(properties.name),
        identity_(IdentityOf(properties)),
        total_(properties.totalGlobalMem),
        memory_(options.memory_cap),
        pinned_(id_),
        context_{id_, &memory_, &pinned_, options.pool, &claims_} {}
  ~Card() override {
    DeviceGuard guard(id_);
    workers_.clear();
    workspace_.Reset();
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
    CUZK_ASSIGN_OR_RETURN(CircuitPlan plan, Plan(shape, options));
    return plan.plan;
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
    auto pending = std::make_unique<CudaPending>(*this, std::move(mine), **worker, options.progress);
    Status status = Begin(*pending, std::move(witness), options);
    if (!status.ok()) return Observe(std::move(status));
    return pending;
  }

  DeviceId id() const { return id_; }

 private:
  /// Parameters by `make`, which is given the plan.
  template <class Make>
  StatusOr<std::shared_ptr<const prover::ResidentParameters>> Place(const r1cs::Shape& shape,
                                                                    const prover::LoadOptions& options, Make make) {
    CUZK_RETURN_IF_ERROR(health());
    DeviceGuard guard(id_);
    CUZK_RETURN_IF_ERROR(Observe(guard.status()));
    StatusOr<CircuitPlan> plan = Plan(shape, options.plan);
    if (!plan.ok()) return Observe(plan.status());
    CUZK_RETURN_IF_ERROR(TrimWorkspace(plan->workspace_bytes, options.stop));
    auto made = make(*std::move(plan));
    if (!made.ok()) return Observe(made.status());
    return *std::move(made);
  }

  StatusOr<CircuitPlan> Plan(const r1cs::Shape& shape, const prover::PlanOptions& options) const {
    DeviceGuard guard(id_);
    CUZK_RETURN_IF_ERROR(guard.status());
    CUZK_ASSIGN_OR_RETURN(uint64_t available, memory_.Available());
    {
      std::lock_guard lock(mutex_);
      available += workspace_bytes_;  // it grows with the plan, serves it, or is trimmed to it
    }
    if (options.memory_cap != 0) available = std::min(available, options.memory_cap);
    // The driver and the pieces of loading want some.
    const uint64_t reserve = std::min<uint64_t>(available / 16, uint64_t{1} << 30);
    return PlanCircuit(shape, available - reserve, claims_.Most(), options);
  }

  StatusOr<Worker*> WorkerOf(unsigned number) {
    std::lock_guard lock(mutex_);
    auto& worker = workers_[number];
    if (worker == nullptr) {
      CUZK_ASSIGN_OR_RETURN(worker, Worker::Create(context_));
    }
    return worker.get();
  }

  /// Copies in, gives the lease home, enters the compute region, enqueues.
  Status Begin(CudaPending& pending, r1cs::Witness witness, const prover::StartOptions& options) {
    Worker& worker = pending.worker_;
    const r1cs::Layout layout = witness.layout().layout;
    const uint64_t bytes = witness.layout().bytes;
    auto begin = Clock::now();
    if (worker.witness.size() < bytes) {
      worker.witness.Reset();
      CUZK_ASSIGN_OR_RETURN(worker.witness, Buffer<std::byte>::Allocate(memory_, bytes));
    }
    CUZK_CUDA(cudaMemcpyAsync(worker.witness.data(), witness.bytes().data(), bytes, cudaMemcpyHostToDevice,
                              worker.copy.get()));
    CUZK_RETURN_IF_ERROR(worker.copy.view().Synchronize());
    witness.ReleaseLease();
    auto copied = Clock::now();
    pending.timeline_.push_back({prover::stage::kHostToDevice, begin, copied});
    if (options.progress) options.progress(kCopied, kFinished);
    CUZK_ASSIGN_OR_RETURN(DeviceLease lease, region_.Enter(options.stop, options.urgency));
    pending.timeline_.push_back({prover::stage::kLeaseWait, copied, Clock::now()});
    CUZK_RETURN_IF_ERROR(EnsureWorkspace(lease, pending.parameters_->circuit_plan().workspace_bytes));
    pending.run_ = std::make_unique<PartitionRun>(*pending.parameters_, layout, worker, workspace_.span());
    pending.lease_.emplace(std::move(lease));
    CUZK_RETURN_IF_ERROR(pending.run_->Enqueue(*pending.lease_, context_, options.stop));
    if (options.progress) options.progress(kEnqueued, kFinished);
    return absl::OkStatus();
  }

  /// Only in the compute region: nobody else uses the workspace.
  Status EnsureWorkspace(const DeviceLease&, uint64_t bytes) {
    if (workspace_.size() >= bytes) return absl::OkStatus();
    workspace_.Reset();
    SetWorkspaceBytes(0);
    CUZK_ASSIGN_OR_RETURN(workspace_, Buffer<std::byte>::Allocate(memory_, bytes));
    SetWorkspaceBytes(bytes);
    return absl::OkStatus();
  }
  /// Gives back a workspace that is larger than `bytes` and than anyone claims: the plan counted it as free.
  Status TrimWorkspace(uint64_t bytes, const std::stop_token& stop) {
    bytes = std::max(bytes, claims_.Most().workspace);
    {
      std::lock_guard lock(mutex_);
      if (workspace_bytes_ <= bytes) return absl::OkStatus();
    }
    CUZK_ASSIGN_OR_RETURN(DeviceLease lease, region_.Enter(stop));
    workspace_.Reset();
    SetWorkspaceBytes(0);
    return absl::OkStatus();
  }
  void SetWorkspaceBytes(uint64_t bytes) {
    std::lock_guard lock(mutex_);
    workspace_bytes_ = bytes;
  }

  const DeviceId id_;
  const std::string name_;
  const prover::DeviceIdentity identity_;
  const uint64_t total_;
  DeviceMemory memory_;
  PinnedAllocator pinned_;
  prover::DeviceClaims claims_;
  const CardContext context_;
  prover::ComputeRegion region_;
  Buffer<std::byte> workspace_;  // guarded by the compute region
  mutable std::mutex mutex_;
  Status lost_;                                          // guarded by mutex_
  uint64_t workspace_bytes_ = 0;                         // guarded by mutex_
  std::map<unsigned, std::unique_ptr<Worker>> workers_;  // guarded by mutex_; never removed
};

CudaPending::~CudaPending() {
  if (!lease_.has_value()) return;
  DeviceGuard guard(card_.id());
  static_cast<void>(cudaStreamSynchronize(worker_.copy.get()));
  static_cast<void>(cudaStreamSynchronize(worker_.compute.get()));
  static_cast<void>(cudaStreamSynchronize(worker_.side.get()));
}

StatusOr<groth16::MsmResults> CudaPending::Finish() {
  auto results = Wait();
  if (!results.ok()) return card_.Observe(results.status());
  return results;
}

StatusOr<groth16::MsmResults> CudaPending::Wait() {
  CUZK_CHECK(lease_.has_value());
  DeviceGuard guard(card_.id());
  CUZK_RETURN_IF_ERROR(guard.status());
  Status status = worker_.compute.view().Synchronize();
  auto end = Clock::now();
  lease_.reset();
  CUZK_RETURN_IF_ERROR(status);
  CUZK_ASSIGN_OR_RETURN(prover::Timeline stages, run_->StageTimes(end));
  timeline_.insert(timeline_.end(), stages.begin(), stages.end());
  groth16::MsmResults results = run_->Collect();
  timeline_.push_back({prover::stage::kDeviceToHost, end, Clock::now()});
  if (progress_) progress_(kFinished, kFinished);
  return results;
}

}  // namespace

StatusOr<std::unique_ptr<CudaDevice>> MakeCudaDevice(const CudaDeviceOptions& options) {
  CUZK_CHECK(options.pool != nullptr);
  cudaDeviceProp properties;
  Status status = CUZK_CUDA_STATUS(cudaGetDeviceProperties(&properties, options.ordinal));
  if (!status.ok()) return absl::UnavailableError(StrCat("CUDA device ", options.ordinal, ": ", status.ToString()));
  DeviceGuard guard(static_cast<DeviceId>(options.ordinal));
  CUZK_RETURN_IF_ERROR(guard.status());
  // Waiting threads sleep: the processor belongs to synthesis.
  static_cast<void>(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  static_cast<void>(cudaGetLastError());
  return std::make_unique<Card>(options, properties);
}

int CudaDeviceCount() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  return count;
}

}  // namespace cuzk::gpu
