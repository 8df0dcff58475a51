#pragma once
// Circuits small enough for unit tests, with every kind of variable: the toy circuit of the reference vectors, and a
// mixture of bits, field elements, inputs in and out of use, and variables that occur in one matrix only.

#include <memory>
#include <vector>

#include "core/r1cs/checker.h"
#include "core/r1cs/recorder.h"
#include "core/r1cs/witness.h"

namespace cuzk::testing_support {

/// A circuit with values, read by the recorder and by the checker.
class SmallCircuit {
 public:
  virtual ~SmallCircuit() = default;
  virtual void Record(r1cs::ShapeRecorder& system) const = 0;
  virtual void Assign(r1cs::Checker& system) const = 0;

  std::shared_ptr<const r1cs::Shape> MakeShape() const;
  /// Sends the rows to the sink; what the generator takes as RowSource.
  Status Stream(r1cs::RowSink& sink) const;
  r1cs::Witness MakeWitness(std::shared_ptr<const r1cs::Shape> shape, r1cs::Layout layout, memory::Lease lease) const;
  /// In a lease of its own, from the system's memory.
  r1cs::Witness MakeWitness(std::shared_ptr<const r1cs::Shape> shape, r1cs::Layout layout) const;
  /// Without ONE.
  std::vector<r1cs::Fr> PublicInputs() const;
};

/// Makes both readings of a class that has `template <class Cs> void Build(Cs&) const`.
template <class Circuit>
class BothReadings : public SmallCircuit {
 public:
  void Record(r1cs::ShapeRecorder& system) const override { static_cast<const Circuit*>(this)->Build(system); }
  void Assign(r1cs::Checker& system) const override { static_cast<const Circuit*>(this)->Build(system); }
};

/// x y = z; (x + 3) y = t; t = d with x = 7, y = 9.
std::unique_ptr<SmallCircuit> ToyCircuit();

/// `size` groups of rows, values from `seed`; `wrong` makes one row not hold.
struct MixedCircuitOptions {
  uint32_t size = 40;
  uint64_t seed = 1;
  bool wrong = false;
  bool unconstrained_aux = false;
  uint32_t more_bits = 0;  ///< in every group, so that few variables are whole
};
std::unique_ptr<SmallCircuit> MixedCircuit(const MixedCircuitOptions& options);

}  // namespace cuzk::testing_support
