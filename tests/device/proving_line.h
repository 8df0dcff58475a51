#pragma once
// Proving many partitions of one circuit on one device with one or two workers, as the engine does, with nothing else
// around: what full-size benches run. Any device will do.

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "core/filecoin/partition.h"
#include "core/prover/device/device.h"

namespace cuzk::gpu::testing {

using Clock = std::chrono::steady_clock;
inline double Seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

/// A circuit and the partitions of one request for it.
struct Workload {
  const filecoin::Circuit* circuit = nullptr;
  circuit::CircuitSpec spec;
  std::shared_ptr<const r1cs::Shape> shape;
  std::vector<filecoin::Partition> partitions;
};

/// Witness memory that is written once and lent out any number of times, so that a device can be measured alone.
class KeptWitness {
 public:
  /// Writes the partition's witness into memory of `allocator`, which outlives this.
  static StatusOr<std::unique_ptr<KeptWitness>> Write(const Workload& work, uint32_t partition, r1cs::Layout layout,
                                                      memory::HostAllocator& allocator, ThreadPool& pool);
  ~KeptWitness();

  /// The witness again; several may be out at once.
  StatusOr<r1cs::Witness> Lend();
  uint32_t partition() const { return partition_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const r1cs::LeaseLayout& layout() const { return layout_; }

 private:
  /// Gives out the kept memory and never frees it.
  class Lender final : public memory::HostAllocator {
   public:
    explicit Lender(KeptWitness& owner) : owner_(owner) {}
    StatusOr<std::byte*> Allocate(size_t) override { return owner_.data_; }
    void Free(std::byte*, size_t) noexcept override {}

   private:
    KeptWitness& owner_;
  };
  explicit KeptWitness(memory::HostAllocator& allocator) : allocator_(allocator) {}

  memory::HostAllocator& allocator_;
  Lender lender_{*this};
  std::shared_ptr<const r1cs::Shape> shape_;
  r1cs::LeaseLayout layout_;
  uint32_t partition_ = 0;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

struct Proved {
  uint32_t partition = 0;
  unsigned worker = 0;
  groth16::MsmResults sums;
  prover::Timeline timeline;
  Clock::time_point taken, done;
};

/// Gives the next witness and its partition, nothing at the end. Called by the workers, one at a time.
struct NextWitness {
  uint32_t partition = 0;
  r1cs::Witness witness;
};
using WitnessSource = std::function<StatusOr<std::optional<NextWitness>>()>;

/// Runs until the source ends; in the order in which partitions were done.
StatusOr<std::vector<Proved>> ProveAll(prover::Device& device,
                                       const std::shared_ptr<const prover::ResidentParameters>& parameters,
                                       unsigned workers, const WitnessSource& source);

/// `times` witnesses, the kept ones in turn.
WitnessSource Repeated(std::vector<KeptWitness*> kept, uint32_t times);

/// A thread writes the workload's partitions, `times` of them in turn, into leases of a pool over `allocator` of at
/// most `leases` leases, while the workers prove.
StatusOr<std::vector<Proved>> ProveWhileWriting(prover::Device& device,
                                                const std::shared_ptr<const prover::ResidentParameters>& parameters,
                                                const Workload& work, uint32_t times, unsigned leases,
                                                ThreadPool& pool);

/// Assembles every proof and verifies it; an error names the first wrong one.
Status VerifyAll(const Workload& work, const groth16::VerifyingKey& key, const std::vector<Proved>& proved,
                 ThreadPool& pool);

/// What a run says about the device. Steady: from the second partition done to the last one.
struct LineTimes {
  double steady_seconds = 0;  ///< a partition
  double busy = 0;            ///< share of that time in which a stage of some partition computed
  double wall = 0;            ///< of the whole run
};
LineTimes Measure(const std::vector<Proved>& proved);
/// A line a partition, and the mean of every stage.
void PrintTimeline(const std::vector<Proved>& proved);

}  // namespace cuzk::gpu::testing
