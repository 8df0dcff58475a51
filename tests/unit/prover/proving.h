#pragma once
// A circuit with its parameters on disk, ready for a device.

#include <gtest/gtest.h>

#include "core/groth16/verifier.h"
#include "core/prover/cpu/cpu_device.h"
#include "tests/unit/groth16/setup.h"

namespace cuzk::testing_support {

class Proving {
 public:
  explicit Proving(std::unique_ptr<SmallCircuit> circuit)
      : circuit_(std::move(circuit)), shape_(circuit_->MakeShape()) {
    auto made = Generate(*circuit_, groth16::ToxicWaste::Random(), path(), pool_);
    EXPECT_TRUE(made.ok()) << made.status();
  }

  const SmallCircuit& circuit() const { return *circuit_; }
  const std::shared_ptr<const r1cs::Shape>& shape() const { return shape_; }
  std::filesystem::path path() const { return dir_ / "circuit.params"; }
  ThreadPool& pool() { return pool_; }
  std::shared_ptr<const groth16::ParameterFile> Open() const {
    return groth16::ParameterFile::Open(path(), groth16::SectionCounts::Of(*shape_)).value();
  }
  StatusOr<std::shared_ptr<const prover::ResidentParameters>> Load(prover::Device& device) const {
    return device.Load(Open(), shape_, {});
  }
  r1cs::Witness Witness(r1cs::Layout layout = r1cs::Layout::kNarrow) const {
    return circuit_->MakeWitness(shape_, layout);
  }
  /// Whether a proof of these sums verifies.
  bool Verifies(const groth16::VerifyingKey& key, const groth16::MsmResults& sums) {
    auto proof = groth16::Assemble(key, sums, groth16::Blinding::Random());
    EXPECT_TRUE(proof.ok()) << proof.status();
    return groth16::Verifier(key).Verify({*proof, circuit_->PublicInputs()}, pool_).value();
  }

 private:
  ScratchDir dir_;
  ThreadPool pool_{3};
  std::unique_ptr<SmallCircuit> circuit_;
  std::shared_ptr<const r1cs::Shape> shape_;
};

}  // namespace cuzk::testing_support
