#pragma once
// A device that misbehaves on demand, over one that works: what the engine's and the daemon's tests inject.

#include <array>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/prover/device/device.h"

namespace cuzk::testing_support {

/// Where a fault strikes.
enum class FaultPoint { kLoad, kStart, kFinish };

enum class FaultKind {
  kOutOfMemory,  ///< ResourceExhausted; the device goes on
  kLost,         ///< Unavailable from now on, everywhere
  kInternal,     ///< another error of the device
  kCorruptH,     ///< Finish succeeds with a wrong sum h
  kCorruptB      ///< Finish succeeds with a wrong sum b_g2
};

/// Strikes at the calls number [first, first + count) of its point, counted from 0.
struct Fault {
  FaultPoint point = FaultPoint::kFinish;
  FaultKind kind = FaultKind::kInternal;
  uint64_t first = 0;
  uint64_t count = 1;
};

/// Thread-safe. Passes on whatever no fault strikes.
class FaultyDevice : public prover::Device {
 public:
  /// Without a UUID it has the inner device's.
  explicit FaultyDevice(prover::Device& inner, std::string uuid = "") : inner_(inner), uuid_(std::move(uuid)) {}

  void Add(const Fault& fault);
  void ClearFaults();
  /// Every Start sleeps this long inside, after the witness went home; ends early when it is stopped (Cancelled).
  void set_delay(std::chrono::milliseconds delay);
  /// What every partition's timeline says from now on, instead of the inner device's.
  void set_timeline(prover::Timeline timeline);
  /// While held, every Start waits inside, after the witness went home, until released or stopped (Cancelled).
  void Hold();
  /// The same, but nothing ends the wait before Release: a card that hangs.
  void Hang();
  /// From now on partitions are proved to their end although they were stopped, which ends Hold and the delay still.
  void IgnoreStops();
  /// While held, every Load waits before it begins, until released or stopped (Cancelled).
  void HoldLoads();
  /// The Load of that number, counted from 0 since the device was made, is not held.
  void LetLoadThrough(uint64_t number);
  void ReleaseLoads();
  /// Ends both.
  void Release();
  /// The device is lost from now on; who waits inside hears it.
  void Lose();
  /// Calls of a point so far.
  uint64_t calls(FaultPoint point) const;
  /// Starts that wait in Hold or in the delay now.
  uint64_t waiting() const;
  /// Loads that wait now.
  uint64_t waiting_loads() const;

  std::string_view name() const override { return inner_.name(); }
  int ordinal() const override { return inner_.ordinal(); }
  prover::DeviceIdentity identity() const override {
    return uuid_.empty() ? inner_.identity() : prover::DeviceIdentity{.uuid = uuid_};
  }
  prover::MemoryInfo memory() const override { return inner_.memory(); }
  Status health() const override;
  memory::HostAllocator& host_allocator() override { return inner_.host_allocator(); }
  StatusOr<prover::Plan> MakePlan(const r1cs::Shape& shape, const prover::PlanOptions& options) const override {
    return inner_.MakePlan(shape, options);
  }
  StatusOr<std::shared_ptr<const prover::ResidentParameters>> Load(std::shared_ptr<const groth16::ParameterFile> file,
                                                                   std::shared_ptr<const r1cs::Shape> shape,
                                                                   const prover::LoadOptions& options) override;
  StatusOr<std::unique_ptr<prover::Pending>> Start(std::shared_ptr<const prover::ResidentParameters> parameters,
                                                   r1cs::Witness witness, const prover::StartOptions& options) override;

 private:
  class FaultyPending;
  /// Counts a call; the fault that strikes it, or the loss of the device.
  Status Strike(FaultPoint point, std::optional<FaultKind>* corruption);
  std::optional<prover::Timeline> Timeline() const;
  Status WaitInside(std::stop_token stop);
  Status WaitToLoad(std::stop_token stop);

  prover::Device& inner_;
  const std::string uuid_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::vector<Fault> faults_;        // guarded by mutex_
  std::array<uint64_t, 3> calls_{};  // by FaultPoint; guarded by mutex_
  // Guarded by mutex_.
  bool lost_ = false, held_ = false, hangs_ = false, ignores_stops_ = false, loads_held_ = false;
  uint64_t waiting_ = 0, waiting_loads_ = 0, loads_ = 0;
  std::set<uint64_t> loads_through_;
  std::chrono::milliseconds delay_{0};        // guarded by mutex_
  std::optional<prover::Timeline> timeline_;  // guarded by mutex_
};

}  // namespace cuzk::testing_support
