#pragma once
// What the engine needs from the rooms that know about proofs, as an interface, so that the engine can be tested
// without them.

#include <memory>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/status.h"
#include "core/base/thread_pool.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/types/request.h"
#include "core/memory/pinned_pool.h"
#include "core/r1cs/shape.h"
#include "core/r1cs/witness.h"

namespace cuzk::engine {

/// Thread-safe.
class ProofWork {
 public:
  virtual ~ProofWork() = default;
  /// Checks the message's fields and returns what they say. Quick.
  virtual StatusOr<filecoin::RequestFacts> Check(const filecoin::VanillaRequest& request) const = 0;
  /// The circuit of a request that Check found acceptable; null where only parsing shows it. Quick.
  virtual const filecoin::Circuit* CircuitOf(const filecoin::RequestFacts& facts,
                                             const filecoin::VanillaRequest& request) const = 0;
  /// An upper bound of the bytes that Parse's result holds, from the bytes of the request's payload.
  virtual uint64_t ParsedBytes(uint64_t payload_bytes) const = 0;
  virtual StatusOr<filecoin::ParsedRequest> Parse(filecoin::VanillaRequest request) = 0;
  /// Records the circuit, which takes seconds; the engine keeps the result.
  virtual StatusOr<std::shared_ptr<const r1cs::Shape>> MakeShape(const filecoin::Circuit& circuit) = 0;
  /// Writes the witness into the lease. Fails if a relation does not hold, or if the resulting public inputs differ
  /// from the partition's.
  virtual StatusOr<r1cs::Witness> Write(const filecoin::Circuit& circuit, std::shared_ptr<const r1cs::Shape> shape,
                                        const filecoin::Partition& partition, memory::Lease lease,
                                        ThreadPool& pool) = 0;
};

/// core/filecoin and core/circuit.
class FilecoinWork final : public ProofWork {
 public:
  explicit FilecoinWork(r1cs::Layout layout, algebra::Arithmetic arithmetic = algebra::BestArithmetic())
      : layout_(layout), arithmetic_(arithmetic) {}
  StatusOr<filecoin::RequestFacts> Check(const filecoin::VanillaRequest& request) const override;
  const filecoin::Circuit* CircuitOf(const filecoin::RequestFacts& facts,
                                     const filecoin::VanillaRequest& request) const override;
  uint64_t ParsedBytes(uint64_t payload_bytes) const override;
  StatusOr<filecoin::ParsedRequest> Parse(filecoin::VanillaRequest request) override;
  StatusOr<std::shared_ptr<const r1cs::Shape>> MakeShape(const filecoin::Circuit& circuit) override;
  StatusOr<r1cs::Witness> Write(const filecoin::Circuit& circuit, std::shared_ptr<const r1cs::Shape> shape,
                                const filecoin::Partition& partition, memory::Lease lease, ThreadPool& pool) override;

 private:
  const r1cs::Layout layout_;
  const algebra::Arithmetic arithmetic_;
};

}  // namespace cuzk::engine
