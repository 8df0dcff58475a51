#include "core/circuit/poseidon/poseidon_gadget.h"

#include "core/circuit/poseidon/prepared_hashes.h"

namespace cuzk::circuit {
namespace {

struct RowTrace {
  r1cs::WitnessWriter& cs;

  void Ensure(const Fr& l) {
    cs.a().Push(l);
    cs.b().Push(int8_t{1});
    cs.c().Push(l);
    cs.aux().PushWide(l);
  }
  void Power(const Fr& x, const Fr& x2, const Fr& x4, const Fr& x5, const Fr& out) {
    cs.a().Push(x);
    cs.b().Push(x);
    cs.c().Push(x2);
    cs.a().Push(x2);
    cs.b().Push(x2);
    cs.c().Push(x4);
    cs.a().Push(x);
    cs.b().Push(x4);
    cs.c().Push(x5);
    cs.aux().PushWide(x2);
    cs.aux().PushWide(x4);
    cs.aux().PushWide(out);
  }
};

}  // namespace

Fr WritePoseidon(r1cs::WitnessWriter& cs, const PoseidonRows& rows, std::span<const Fr> preimage, const Fr& tag) {
  RowTrace trace{cs};
  auto* prepared = static_cast<PreparedHashes*>(cs.prepared());
  Fr digest;
  if (prepared != nullptr && tag == MerkleTag(rows.constants->arity) && prepared->Replay(preimage, trace, &digest)) {
    return digest;
  }
  return PoseidonPermutation(*rows.constants, preimage, tag, trace);
}

}  // namespace cuzk::circuit
