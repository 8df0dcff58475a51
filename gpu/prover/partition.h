#pragma once
// One partition on a card, from the witness to the five sums.

#include <functional>
#include <memory>
#include <optional>

#include "gpu/prover/card_memory.h"
#include "gpu/prover/variable_sums.h"

namespace cuzk::gpu {

/// What a partition uses of its card; outlives it.
struct CardServices {
  const CardContext& context;
  CardMemory& memory;
  /// Treats a status as if the card had answered it, and gives it back or what is to be said instead.
  std::function<Status(Status)> observe;
};

/// The first part, and where nothing is to be waited for the second one too, is enqueued by Start; the compute region
/// is held from there to the end of what was enqueued. Where points cross the bus for the second part, Finish leaves
/// the region and waits for the sweep of all partitions that are there.
class Partition final : public prover::Pending {
 public:
  using Ticket = prover::SweepGroup<SweepMember>::Ticket;

  Partition(const CardServices& card, std::shared_ptr<const CudaParameters> parameters, Worker& worker, Ticket ticket,
            const prover::StartOptions& options);
  ~Partition() override;

  /// Takes the witness to the card and begins. Errors of prover::Device::Start, not observed yet.
  Status Start(r1cs::Witness witness);

  StatusOr<groth16::MsmResults> Finish() override;
  const prover::Timeline& timeline() const override { return timeline_; }

 private:
  using Clock = std::chrono::steady_clock;
  Status Begin(r1cs::Witness& witness);
  Status StartWhole(r1cs::Witness& witness);
  Status StartInPieces(r1cs::Witness& witness);
  Status HoldAssignment(const WitnessSource& source);
  Status NarrowHeld(const WitnessSource& source);
  Status EnterRegion(const WitnessSource& source);
  Status EnqueueVariables(StreamView points, StreamView sums, Arena arena, const WitnessSource* lease);
  Status LeaveRegion();
  Status Sweep(std::span<SweepMember* const> members);
  StatusOr<groth16::MsmResults> Wait();
  SweepMember Member(const WitnessSource* lease);
  PartContext Part() { return {*parameters_, card_.context, worker_, *workspace_, *events_}; }
  void AwaitStreams() const;

  const CardServices card_;
  const std::shared_ptr<const CudaParameters> parameters_;
  const CircuitPlan& plan_;
  Worker& worker_;
  const Ticket ticket_;
  const prover::StartOptions options_;
  CardMemory::Held held_;
  Assignment assignment_;
  std::optional<prover::DeviceLease> lease_;
  std::optional<Workspace> workspace_;  // while the region is held
  std::optional<StageEvents> events_;   // of what was enqueued since the region was entered
  bool awaits_sweep_ = false;
  prover::Timeline timeline_;
};

}  // namespace cuzk::gpu
