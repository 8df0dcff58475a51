#pragma once
// A device with little memory of its own, over one that works.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "tests/doubles/faulty_device.h"

namespace cuzk::testing_support {

/// Parameters of a card; they give their memory back when they go.
class CardParameters final : public prover::ResidentParameters {
 public:
  CardParameters(std::shared_ptr<const prover::ResidentParameters> inner, prover::Plan plan,
                 std::atomic<uint64_t>& used)
      : inner_(std::move(inner)), plan_(std::move(plan)), used_(used) {}
  ~CardParameters() override { used_ -= plan_.parameter_device_bytes; }
  const groth16::VerifyingKey& verifying_key() const override { return inner_->verifying_key(); }
  const std::shared_ptr<const r1cs::Shape>& shape() const override { return inner_->shape(); }
  const prover::Plan& plan() const override { return plan_; }

 private:
  std::shared_ptr<const prover::ResidentParameters> inner_;
  const prover::Plan plan_;
  std::atomic<uint64_t>& used_;
};

/// Plans as a card does: points in its own memory if they fit in what is free, else streamed from host memory, if it
/// may. Load plans anew.
class SmallCard final : public FaultyDevice {
 public:
  SmallCard(prover::Device& inner, uint64_t capacity, bool streams)
      : FaultyDevice(inner), capacity_(capacity), streams_(streams) {}

  prover::MemoryInfo memory() const override { return {capacity_, capacity_ - used_}; }

  StatusOr<prover::Plan> MakePlan(const r1cs::Shape& shape, const prover::PlanOptions& options) const override {
    {
      std::lock_guard lock(mutex_);
      ++plans_;
    }
    changed_.notify_all();
    return Place(shape, options);
  }

  StatusOr<std::shared_ptr<const prover::ResidentParameters>> Load(std::shared_ptr<const groth16::ParameterFile> file,
                                                                   std::shared_ptr<const r1cs::Shape> shape,
                                                                   const prover::LoadOptions& options) override {
    {
      // Whoever can plan beside a load does it now.
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::seconds(1), [&] { return plans_ >= plans_to_await_; });
    }
    used_ += taken_meanwhile_.exchange(0);
    CUZK_ASSIGN_OR_RETURN(prover::Plan plan, Place(*shape, options.plan));
    CUZK_ASSIGN_OR_RETURN(auto inner, FaultyDevice::Load(std::move(file), std::move(shape), options));
    used_ += plan.parameter_device_bytes;
    EXPECT_LE(used_, capacity_);
    return std::make_shared<CardParameters>(std::move(inner), std::move(plan), used_);
  }

  /// The first loads wait, for a while, until so many plans were made.
  void AwaitPlans(unsigned plans) { plans_to_await_ = plans; }
  /// The next Load finds so much less free than the plan before it.
  void TakeMeanwhile(uint64_t bytes) { taken_meanwhile_ = bytes; }
  uint64_t used() const { return used_; }

 private:
  StatusOr<prover::Plan> Place(const r1cs::Shape& shape, const prover::PlanOptions& options) const {
    CUZK_ASSIGN_OR_RETURN(prover::Plan plan, FaultyDevice::MakePlan(shape, options));
    const uint64_t points = std::exchange(plan.parameter_host_bytes, 0);
    if (points <= capacity_ - used_) {
      plan.placement = prover::Placement::kResident;
      plan.parameter_device_bytes = points;
      return plan;
    }
    if (!streams_) return absl::ResourceExhaustedError("device memory is short");
    plan.placement = prover::Placement::kPinnedStreamed;
    plan.parameter_host_bytes = points;
    return plan;
  }

  const uint64_t capacity_;
  const bool streams_;
  unsigned plans_to_await_ = 0;
  std::atomic<uint64_t> used_ = 0, taken_meanwhile_ = 0;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable unsigned plans_ = 0;  // guarded by mutex_
};

}  // namespace cuzk::testing_support
