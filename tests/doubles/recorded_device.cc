#include "tests/doubles/recorded_device.h"

#include <condition_variable>
#include <utility>

#include "core/base/hash.h"

namespace cuzk::testing_support {

using groth16::MsmResults;
using prover::Pending;
using prover::TimelineEvent;
using Clock = std::chrono::steady_clock;

namespace {

Bytes32 DigestOf(const r1cs::Witness& witness) {
  Hasher hasher(HashKind::kSha256);
  auto inputs = witness.inputs();
  hasher.Update({reinterpret_cast<const uint8_t*>(inputs.data()), inputs.size_bytes()});
  return hasher.Finish32();
}

}  // namespace

std::optional<MsmResults> ProofRecords::Find(const Bytes32& public_inputs) const {
  std::lock_guard lock(mutex_);
  auto found = results_.find(public_inputs);
  return found == results_.end() ? std::nullopt : std::optional(found->second);
}

void ProofRecords::Add(const Bytes32& public_inputs, const MsmResults& results) {
  std::lock_guard lock(mutex_);
  results_.insert_or_assign(public_inputs, results);
}

/// Records what the inner device found.
class RecordedDevice::Proved final : public Pending {
 public:
  Proved(RecordedDevice& device, const Bytes32& digest, std::unique_ptr<Pending> inner)
      : device_(device), digest_(digest), inner_(std::move(inner)) {}
  StatusOr<MsmResults> Finish() override {
    StatusOr<MsmResults> results = inner_->Finish();
    if (!results.ok()) return results;
    device_.proved_++;
    device_.records_->Add(digest_, *results);
    return results;
  }
  const prover::Timeline& timeline() const override { return inner_->timeline(); }

 private:
  RecordedDevice& device_;
  const Bytes32 digest_;
  const std::unique_ptr<Pending> inner_;
};

class RecordedDevice::Answer final : public Pending {
 public:
  Answer(const MsmResults& results, prover::Timeline timeline) : results_(results), timeline_(std::move(timeline)) {}
  StatusOr<MsmResults> Finish() override { return results_; }
  const prover::Timeline& timeline() const override { return timeline_; }

 private:
  const MsmResults results_;
  const prover::Timeline timeline_;
};

StatusOr<std::unique_ptr<Pending>> RecordedDevice::Answered(const MsmResults& results,
                                                            const prover::StartOptions& options) {
  auto asked = Clock::now();
  CUZK_ASSIGN_OR_RETURN(prover::DeviceLease lease, region_.Enter(options.stop, options.urgency));
  auto entered = Clock::now();
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  ++computing_;
  never.wait_for(lock, options.stop, compute_.load(), [] { return false; });
  if (const std::stop_source hold = held(); hold.stop_possible()) {
    std::stop_source either;
    auto go_on = [&] { either.request_stop(); };
    std::stop_callback released(hold.get_token(), go_on), cancelled(options.stop, go_on);
    never.wait(lock, either.get_token(), [] { return false; });
  }
  --computing_;
  if (options.stop.stop_requested()) return absl::CancelledError("cancelled while the partition was being proved");
  answered_++;
  if (options.progress) options.progress(1, 1);
  return std::make_unique<Answer>(results, prover::Timeline{{prover::stage::kLeaseWait, asked, entered},
                                                            {prover::stage::kTransforms, entered, Clock::now()}});
}

StatusOr<std::unique_ptr<Pending>> RecordedDevice::Start(std::shared_ptr<const prover::ResidentParameters> parameters,
                                                         r1cs::Witness witness, const prover::StartOptions& options) {
  const Bytes32 digest = DigestOf(witness);
  const uint64_t every = prove_every_;
  const bool small = every != 0 && witness.shape().counts.log2_domain() <= log2_domain_;
  const bool in_full = small && ++small_starts_ % every == 0;
  if (auto results = records_->Find(digest); results && !in_full) {
    witness.ReleaseLease();
    return Answered(*results, options);
  }
  CUZK_ASSIGN_OR_RETURN(std::unique_ptr<Pending> inner,
                        inner_.Start(std::move(parameters), std::move(witness), options));
  return std::make_unique<Proved>(*this, digest, std::move(inner));
}

}  // namespace cuzk::testing_support
