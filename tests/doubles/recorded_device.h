#pragma once
// A device that proves each partition once and answers with the recorded sums ever after, as slowly as it is told to:
// thousands of true proofs of real circuits in the time of a few.

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "core/base/bytes.h"
#include "core/prover/device/device.h"
#include "core/prover/device/device_lease.h"

namespace cuzk::testing_support {

/// What was proved so far; several devices may share one. Thread-safe.
class ProofRecords {
 public:
  std::optional<groth16::MsmResults> Find(const Bytes32& public_inputs) const;
  void Add(const Bytes32& public_inputs, const groth16::MsmResults& results);

 private:
  mutable std::mutex mutex_;
  std::map<Bytes32, groth16::MsmResults> results_;  // by the digest of the public inputs; guarded by mutex_
};

/// Thread-safe. What a partition is shows in its public inputs: partitions with equal ones are taken for equal.
class RecordedDevice : public prover::Device {
 public:
  explicit RecordedDevice(prover::Device& inner,
                          std::shared_ptr<ProofRecords> records = std::make_shared<ProofRecords>())
      : inner_(inner), records_(std::move(records)) {}

  /// How long an answer takes in the compute region, where one partition is at a time.
  void set_compute(std::chrono::milliseconds compute) { compute_ = compute; }
  /// From now on the partition that is in the compute region stays there, until ReleaseCompute.
  void HoldCompute() {
    std::lock_guard lock(held_mutex_);
    held_ = std::stop_source();
  }
  void ReleaseCompute() { held().request_stop(); }
  /// Partitions that wait for the compute region.
  size_t waiting() const { return region_.waiting(); }
  /// Partitions that are in the compute region: 0 or 1.
  int computing() const { return computing_; }
  /// Every n-th partition of a circuit of at most 2^log2_domain rows is proved in full although it was recorded; 0:
  /// none.
  void set_prove_every(uint64_t n, unsigned log2_domain) {
    prove_every_ = n;
    log2_domain_ = log2_domain;
  }
  /// Partitions that were proved in full, and that were answered from the record.
  uint64_t proved() const { return proved_; }
  uint64_t answered() const { return answered_; }

  std::string_view name() const override { return inner_.name(); }
  int ordinal() const override { return inner_.ordinal(); }
  prover::MemoryInfo memory() const override { return inner_.memory(); }
  Status health() const override { return inner_.health(); }
  memory::HostAllocator& host_allocator() override { return inner_.host_allocator(); }
  StatusOr<prover::Plan> MakePlan(const r1cs::Shape& shape, const prover::PlanOptions& options) const override {
    return inner_.MakePlan(shape, options);
  }
  StatusOr<std::shared_ptr<const prover::ResidentParameters>> Load(std::shared_ptr<const groth16::ParameterFile> file,
                                                                   std::shared_ptr<const r1cs::Shape> shape,
                                                                   const prover::LoadOptions& options) override {
    return inner_.Load(std::move(file), std::move(shape), options);
  }
  StatusOr<std::unique_ptr<prover::Pending>> Start(std::shared_ptr<const prover::ResidentParameters> parameters,
                                                   r1cs::Witness witness, const prover::StartOptions& options) override;

 private:
  class Proved;
  class Answer;
  std::stop_source held() const {
    std::lock_guard lock(held_mutex_);
    return held_;
  }
  StatusOr<std::unique_ptr<prover::Pending>> Answered(const groth16::MsmResults& results,
                                                      const prover::StartOptions& options);

  prover::Device& inner_;
  std::atomic<std::chrono::milliseconds> compute_{};
  mutable std::mutex held_mutex_;
  std::stop_source held_{std::nostopstate};  // requested: released; without a state: never held; guarded by held_mutex_
  std::atomic<int> computing_ = 0;
  const std::shared_ptr<ProofRecords> records_;
  std::atomic<uint64_t> prove_every_ = 0, small_starts_ = 0, proved_ = 0, answered_ = 0;
  std::atomic<unsigned> log2_domain_ = 0;
  prover::ComputeRegion region_;
};

}  // namespace cuzk::testing_support
