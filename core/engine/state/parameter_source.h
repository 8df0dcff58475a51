#pragma once
// Where the engine gets parameters from: files in one folder, through the parameter store.

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/status.h"
#include "core/filecoin/types/registry.h"
#include "core/prover/parameters/parameter_store.h"
#include "core/r1cs/shape.h"

namespace cuzk::engine {

/// What is to be loaded, and how urgently.
struct Wanted {
  const filecoin::Circuit& circuit;
  std::shared_ptr<const r1cs::Shape> shape;
  prover::LoadUrgency urgency;
};

/// Thread-safe.
class ParameterSource {
 public:
  virtual ~ParameterSource() = default;
  /// Whether the circuit's parameters are loaded on a device, or there is a file to load that its size and first bytes
  /// do not rule out. Quick.
  virtual bool Available(const filecoin::Circuit& circuit) const = 0;
  /// FAILED_PRECONDITION, saying what is missing, how large it is, and how to get it; or that the file is not the
  /// published one, as its size or its first bytes show. Quick: no circuit is recorded.
  virtual Status Missing(const filecoin::Circuit& circuit) const = 0;
  /// The parameters, loaded if they are not; blocks until they are. Errors of prover::ParameterStore::Get, and
  /// Missing().
  virtual StatusOr<std::shared_ptr<const prover::ResidentParameters>> Get(prover::Device& device, const Wanted& wanted,
                                                                          std::stop_token stop,
                                                                          const Progress& progress) = 0;
  /// As prover::ParameterStore.
  virtual StatusOr<bool> Evict(const std::string& circuit_id) = 0;
  virtual void Forget(const prover::Device& device) = 0;
  virtual std::vector<prover::ParameterStatus> Snapshot() const = 0;
};

/// Files by the registry's names in one folder.
class FileParameters final : public ParameterSource {
 public:
  FileParameters(std::filesystem::path directory, const prover::ParameterStoreOptions& options);
  bool Available(const filecoin::Circuit& circuit) const override;
  Status Missing(const filecoin::Circuit& circuit) const override;
  StatusOr<std::shared_ptr<const prover::ResidentParameters>> Get(prover::Device& device, const Wanted& wanted,
                                                                  std::stop_token stop,
                                                                  const Progress& progress) override;
  StatusOr<bool> Evict(const std::string& circuit_id) override { return store_.Evict(circuit_id); }
  void Forget(const prover::Device& device) override { store_.Forget(device); }
  std::vector<prover::ParameterStatus> Snapshot() const override { return store_.Snapshot(); }

 private:
  const std::filesystem::path directory_;
  prover::ParameterStore store_;
};

}  // namespace cuzk::engine
