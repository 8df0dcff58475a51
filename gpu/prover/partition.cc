#include "gpu/prover/partition.h"

#include <algorithm>

#include "core/base/check.h"

namespace cuzk::gpu {
namespace {

using algebra::Fr;

/// Units of progress of one partition.
constexpr uint64_t kCopied = 1, kEnqueued = 2, kFinished = 10;

WitnessSource OnHost(const r1cs::Witness& witness) {
  return {.layout = witness.layout(), .host = witness.bytes().data()};
}

}  // namespace

Partition::Partition(const CardServices& card, std::shared_ptr<const CudaParameters> parameters, Worker& worker,
                     Ticket ticket, const prover::StartOptions& options)
    : card_(card),
      parameters_(std::move(parameters)),
      plan_(parameters_->circuit_plan()),
      worker_(worker),
      ticket_(std::move(ticket)),
      options_(options) {
  worker_.sums.Clear();
}

Partition::~Partition() {
  DeviceGuard guard(parameters_->card());
  AwaitStreams();
}

void Partition::AwaitStreams() const {
  for (cudaStream_t stream : {worker_.copy.get(), worker_.compute.get(), worker_.side.get()}) {
    Ignore(cudaStreamSynchronize(stream));
  }
}

Status Partition::Start(r1cs::Witness witness) {
  Status status = Begin(witness);
  // The witness goes with this call: nothing may still read it.
  if (!status.ok()) AwaitStreams();
  return status;
}

Status Partition::Begin(r1cs::Witness& witness) {
  CUZK_ASSIGN_OR_RETURN(
      held_, card_.memory.Hold(std::max(plan_.held_bytes, plan_.whole_witness ? witness.layout().bytes : 0)));
  CUZK_RETURN_IF_ERROR(plan_.whole_witness ? StartWhole(witness) : StartInPieces(witness));
  if (options_.progress) options_.progress(kEnqueued, kFinished);
  return absl::OkStatus();
}

Status Partition::StartWhole(r1cs::Witness& witness) {
  const auto begin = Clock::now();
  const uint64_t bytes = witness.layout().bytes;
  CUZK_CUDA(cudaMemcpyAsync(held_.data(), witness.bytes().data(), bytes, cudaMemcpyHostToDevice, worker_.copy.get()));
  CUZK_RETURN_IF_ERROR(worker_.copy.view().Synchronize());
  *card_.context.copied += bytes;
  const WitnessSource source{.layout = witness.layout(), .device = held_.data()};
  witness.ReleaseLease();
  timeline_.push_back({prover::stage::kHostToDevice, begin, Clock::now()});
  if (options_.progress) options_.progress(kCopied, kFinished);

  CUZK_RETURN_IF_ERROR(EnterRegion(source));
  const StreamView compute = worker_.compute;
  assignment_.inputs = source.On<Fr>(source.device, source.layout.inputs);
  if (source.narrow()) {
    assignment_.bits = source.On<uint64_t>(source.device, source.layout.aux.narrow);
    assignment_.values = source.On<Fr>(source.device, source.layout.aux.wide);
  } else {
    const r1cs::Shape& shape = *parameters_->shape();
    Arena arena = workspace_->narrowed();
    auto* bits = arena.Take<uint64_t>((shape.counts.aux + 63) / 64);
    Fr* values = arena.Take<Fr>(shape.wide_aux_count());
    if (arena.overrun()) return absl::ResourceExhaustedError("no room to narrow a plain witness");
    const PlainAux all{.values = source.On<Fr>(source.device, source.layout.aux.wide), .count = shape.counts.aux};
    CUZK_RETURN_IF_ERROR(NarrowAux(all, parameters_->tables().boolean(), bits, values, compute));
    assignment_.bits = bits;
    assignment_.values = values;
  }
  QuotientSum quotient(Part(), source, options_.stop);
  if (!workspace_->has_side()) {
    CUZK_RETURN_IF_ERROR(quotient.Transform(*lease_));
    CUZK_RETURN_IF_ERROR(quotient.Sum(*lease_));
    CUZK_RETURN_IF_ERROR(EnqueueVariables(compute, compute, workspace_->main(), nullptr));
    return events_->Finish(compute);
  }
  CUZK_ASSIGN_OR_RETURN(Event narrowed, Event::Create());
  CUZK_RETURN_IF_ERROR(narrowed.Record(compute));
  CUZK_RETURN_IF_ERROR(narrowed.Wait(worker_.side));
  CUZK_RETURN_IF_ERROR(quotient.Transform(*lease_));
  // Beside the transforms, whose blocks come and go: those of the sum of h stay to its end, all of them at once.
  CUZK_RETURN_IF_ERROR(EnqueueVariables(worker_.side, worker_.side, workspace_->side(), nullptr));
  CUZK_RETURN_IF_ERROR(events_->AwaitLast(compute));
  CUZK_RETURN_IF_ERROR(quotient.Sum(*lease_));
  return events_->Finish(compute);
}

Status Partition::StartInPieces(r1cs::Witness& witness) {
  const WitnessSource source = OnHost(witness);
  const auto begin = Clock::now();
  CUZK_RETURN_IF_ERROR(HoldAssignment(source));
  CUZK_RETURN_IF_ERROR(EnterRegion(source));
  QuotientSum quotient(Part(), source, options_.stop);
  CUZK_RETURN_IF_ERROR(quotient.Transform(*lease_));
  CUZK_RETURN_IF_ERROR(quotient.Sum(*lease_));
  if (!source.narrow()) CUZK_RETURN_IF_ERROR(NarrowHeld(source));
  CUZK_RETURN_IF_ERROR(events_->Finish(worker_.compute));
  awaits_sweep_ = plan_.keeps_values;
  if (!plan_.keeps_values) {
    // The lease is read to the end. Others may go between the parts.
    CUZK_RETURN_IF_ERROR(LeaveRegion());
    CUZK_RETURN_IF_ERROR(EnterRegion(source));
    CUZK_RETURN_IF_ERROR(EnqueueVariables(worker_.side, worker_.compute, workspace_->main(), &source));
    CUZK_RETURN_IF_ERROR(events_->Finish(worker_.compute));
  }
  CUZK_RETURN_IF_ERROR(worker_.copy.view().Synchronize());
  if (!source.narrow()) CUZK_RETURN_IF_ERROR(worker_.compute.view().Synchronize());
  witness.ReleaseLease();
  timeline_.push_back({prover::stage::kHostToDevice, begin, Clock::now()});
  if (options_.progress) options_.progress(kCopied, kFinished);
  return absl::OkStatus();
}

/// Bits, inputs and, if planned, whole values go to the partition's own memory; of a plain witness inputs alone, see
/// NarrowHeld.
Status Partition::HoldAssignment(const WitnessSource& source) {
  const r1cs::Shape& shape = *parameters_->shape();
  Arena arena(held_.data(), plan_.held_bytes);
  auto* bits = arena.Take<uint64_t>((shape.counts.aux + 63) / 64);
  Fr* inputs = arena.Take<Fr>(shape.counts.inputs);
  Fr* values = plan_.keeps_values ? arena.Take<Fr>(shape.wide_aux_count()) : nullptr;
  if (arena.overrun()) return absl::ResourceExhaustedError("a partition's memory on the card is smaller than the plan");
  assignment_ = {bits, inputs, values};
  auto copy = [&](void* to, const r1cs::Plane& plane) {
    if (plane.bytes == 0) return absl::OkStatus();
    *card_.context.copied += plane.bytes;
    return CUZK_CUDA_STATUS(
        cudaMemcpyAsync(to, source.host + plane.offset, plane.bytes, cudaMemcpyHostToDevice, worker_.copy.get()));
  };
  CUZK_RETURN_IF_ERROR(copy(inputs, source.layout.inputs));
  if (!source.narrow()) return absl::OkStatus();
  CUZK_RETURN_IF_ERROR(copy(bits, source.layout.aux.narrow));
  return values != nullptr ? copy(values, source.layout.aux.wide) : absl::OkStatus();
}

/// The aux of a plain lease, in pieces through the workspace, after everything that used it.
Status Partition::NarrowHeld(const WitnessSource& source) {
  const StreamView compute = worker_.compute;
  CUZK_ASSIGN_OR_RETURN(Event free, Event::Create());
  CUZK_RETURN_IF_ERROR(free.Record(compute));
  CUZK_RETURN_IF_ERROR(free.Wait(worker_.copy));
  Arena arena = workspace_->main();
  const uint64_t slot = plan_.row_slot_bytes / 256 * 256;
  std::byte* memory = arena.Take<std::byte>(2 * slot);
  const r1cs::Shape& shape = *parameters_->shape();
  // Values that the sums read from the lease are dropped here.
  Fr* dropped = arena.Take<Fr>(plan_.keeps_values ? 0 : slot / sizeof(Fr));
  if (arena.overrun()) return absl::ResourceExhaustedError("no room to narrow a plain witness");
  CUZK_ASSIGN_OR_RETURN(auto slots, DoubleBuffer::Create(memory, slot, worker_.copy, card_.context.copied));
  const Fr* plane = source.On<Fr>(source.host, source.layout.aux.wide);
  const prover::QueryIndex& index = parameters_->tables().index();
  const uint64_t piece = std::max<uint64_t>(slots.slot_bytes() / sizeof(Fr) / 64 * 64, 64);
  for (uint64_t begin = 0; begin < shape.counts.aux; begin += piece) {
    const uint64_t count = std::min<uint64_t>(piece, shape.counts.aux - begin), before = index.WholeBefore(begin);
    const DoubleBuffer::Piece copy{plane + begin, count * sizeof(Fr), 0};
    CUZK_ASSIGN_OR_RETURN(std::byte * values, slots.Fill({&copy, 1}, compute));
    Fr* to = plan_.keeps_values ? const_cast<Fr*>(assignment_.values) + before : dropped;
    CUZK_RETURN_IF_ERROR(NarrowAux({reinterpret_cast<const Fr*>(values), begin, count, before},
                                   parameters_->tables().boolean(), const_cast<uint64_t*>(assignment_.bits), to,
                                   compute));
    CUZK_RETURN_IF_ERROR(slots.Release(compute));
  }
  return absl::OkStatus();
}

Status Partition::EnterRegion(const WitnessSource& source) {
  const auto begin = Clock::now();
  CUZK_ASSIGN_OR_RETURN(prover::DeviceLease lease, card_.memory.region().Enter(options_.stop, options_.urgency));
  timeline_.push_back({prover::stage::kLeaseWait, begin, Clock::now()});
  const r1cs::Shape& shape = *parameters_->shape();
  const bool narrows = plan_.whole_witness && !source.narrow();
  const uint64_t narrowed = narrows ? Workspace::Align((shape.counts.aux + 63) / 64 * sizeof(uint64_t)) +
                                          Workspace::Align(shape.wide_aux_count() * sizeof(Fr))
                                    : 0;
  // The plan has room for it only if plain leases were expected.
  const uint64_t more = narrows && !plan_.plain_leases ? narrowed : 0;
  CUZK_ASSIGN_OR_RETURN(std::span<std::byte> memory, card_.memory.Workspace(lease, plan_.workspace_bytes + more,
                                                                            plan_.least_workspace_bytes + more));
  workspace_.emplace(memory, plan_, narrowed);
  events_.emplace();
  lease_.emplace(std::move(lease));
  // What was copied for this part is there before it begins.
  CUZK_ASSIGN_OR_RETURN(Event copied, Event::Create());
  CUZK_RETURN_IF_ERROR(copied.Record(worker_.copy));
  CUZK_RETURN_IF_ERROR(copied.Wait(worker_.compute));
  return absl::OkStatus();
}

SweepMember Partition::Member(const WitnessSource* lease) {
  return {assignment_, lease, &worker_.sums, &timeline_, options_.stop};
}

Status Partition::EnqueueVariables(StreamView points, StreamView sums, Arena arena, const WitnessSource* lease) {
  const SweepMember member = Member(lease);
  VariableSums variables(Part(), points, sums, arena);
  return variables.Enqueue(*lease_, {&member, 1});
}

/// Waits for what was enqueued since the region was entered.
Status Partition::LeaveRegion() {
  Status status = worker_.compute.view().Synchronize();
  const auto end = Clock::now();
  if (!status.ok()) return status;
  CUZK_ASSIGN_OR_RETURN(prover::Timeline stages, events_->Times(end));
  timeline_.insert(timeline_.end(), stages.begin(), stages.end());
  workspace_.reset();
  events_.reset();
  lease_.reset();
  return absl::OkStatus();
}

/// The second part of all members, on this partition's streams.
Status Partition::Sweep(std::span<SweepMember* const> members) {
  const CardServices& card = card_;
  CUZK_ASSIGN_OR_RETURN(prover::DeviceLease lease, card.memory.region().Enter({}, options_.urgency));
  auto enqueue = [&]() -> StatusOr<prover::Timeline> {
    CUZK_ASSIGN_OR_RETURN(std::span<std::byte> memory,
                          card.memory.Workspace(lease, plan_.workspace_bytes, plan_.least_workspace_bytes));
    const Workspace workspace(memory, plan_, 0);
    StageEvents events;
    std::vector<SweepMember> all;
    for (const SweepMember* member : members) all.push_back(*member);
    const StreamView sums = worker_.compute;
    const StreamView points = plan_.is_resident(groth16::Query::kL) ? sums : worker_.side.view();
    VariableSums variables({*parameters_, card.context, worker_, workspace, events}, points, sums, workspace.main());
    CUZK_RETURN_IF_ERROR(variables.Enqueue(lease, all));
    CUZK_RETURN_IF_ERROR(events.Finish(sums));
    CUZK_RETURN_IF_ERROR(sums.Synchronize());
    return events.Times(Clock::now());
  };
  const StatusOr<prover::Timeline> stages = enqueue();
  AwaitStreams();  // before others use the workspace
  if (!stages.ok()) return stages.status();
  for (SweepMember* member : members) {
    member->timeline->insert(member->timeline->end(), stages->begin(), stages->end());
  }
  return absl::OkStatus();
}

StatusOr<groth16::MsmResults> Partition::Finish() {
  auto results = Wait();
  if (!results.ok()) return card_.observe(results.status());
  return results;
}

StatusOr<groth16::MsmResults> Partition::Wait() {
  CUZK_CHECK(lease_.has_value());
  DeviceGuard guard(parameters_->card());
  CUZK_RETURN_IF_ERROR(guard.status());
  CUZK_RETURN_IF_ERROR(LeaveRegion());
  if (awaits_sweep_) {
    SweepMember member = Member(nullptr);
    if (plan_.sweeps()) {
      CUZK_RETURN_IF_ERROR(parameters_->sweeps().Await(
          ticket_, member, options_.stop, [this](std::span<SweepMember* const> members) { return Sweep(members); }));
    } else {
      SweepMember* alone = &member;
      CUZK_RETURN_IF_ERROR(Sweep({&alone, 1}));
    }
  }
  const auto end = Clock::now();
  groth16::MsmResults results = worker_.sums.Total();
  timeline_.push_back({prover::stage::kDeviceToHost, end, Clock::now()});
  if (options_.progress) options_.progress(kFinished, kFinished);
  return results;
}

}  // namespace cuzk::gpu
