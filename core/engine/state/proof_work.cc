#include "core/engine/state/proof_work.h"

#include <algorithm>
#include <utility>

#include "core/circuit/circuit.h"
#include "core/filecoin/format/c1_size.h"

namespace cuzk::engine {

StatusOr<filecoin::RequestFacts> FilecoinWork::Check(const filecoin::VanillaRequest& request) const {
  return filecoin::CheckRequest(request);
}

const filecoin::Circuit* FilecoinWork::CircuitOf(const filecoin::RequestFacts& facts,
                                                 const filecoin::VanillaRequest& request) const {
  if (facts.kind != filecoin::Kind::kPorep) return facts.proof->circuit;
  return filecoin::CircuitAtTheEndOf(request.vanilla_proof);
}

uint64_t FilecoinWork::ParsedBytes(uint64_t payload_bytes) const {
  // A 32-byte value takes 32 bytes parsed; on the wire at least as many, in a C1 about 150. Paths carry a little beside
  // their hashes, and small requests have fixed parts.
  return payload_bytes + payload_bytes / 2 + (uint64_t{1} << 20);
}

StatusOr<filecoin::ParsedRequest> FilecoinWork::Parse(filecoin::VanillaRequest request) {
  return filecoin::ParseRequest(std::move(request));
}

StatusOr<std::shared_ptr<const r1cs::Shape>> FilecoinWork::MakeShape(const filecoin::Circuit& circuit) {
  return circuit::MakeShape(filecoin::SpecOf(circuit));
}

StatusOr<r1cs::Witness> FilecoinWork::Write(const filecoin::Circuit& circuit, std::shared_ptr<const r1cs::Shape> shape,
                                            const filecoin::Partition& partition, memory::Lease lease,
                                            ThreadPool& pool) {
  CUZK_ASSIGN_OR_RETURN(r1cs::Witness witness,
                        circuit::WriteWitness(filecoin::SpecOf(circuit), partition.inputs,
                                              {std::move(shape), layout_, std::move(lease)}, pool, arithmetic_));
  auto inputs = witness.inputs();
  if (inputs.size() != partition.public_inputs.size() + 1 ||
      !std::equal(inputs.begin() + 1, inputs.end(), partition.public_inputs.begin())) {
    return absl::InternalError("the public inputs of the witness are not those of the statement");
  }
  return witness;
}

}  // namespace cuzk::engine
