#include "core/circuit/poseidon/poseidon_many.h"

#include <array>
#include <memory>
#include <mutex>

#include "core/base/check.h"
#include "core/circuit/poseidon/poseidon_ifma.h"
#include "core/circuit/poseidon/poseidon_permutation.h"

namespace cuzk::circuit {
namespace {

using algebra::Arithmetic;
constexpr size_t kLanes = 8;
static_assert(sizeof(PoseidonSBoxValues) == 4 * sizeof(Fr));

PoseidonLaneConstant LaneForm(const Fr& x) {
  // Memory holds x 2^256.
  Fr y = x.Double().Double().Double().Double();
  const uint64_t* w = y.limb;
  constexpr uint64_t kMask = (uint64_t{1} << 52) - 1;
  return {{w[0] & kMask, (w[0] >> 52 | w[1] << 12) & kMask, (w[1] >> 40 | w[2] << 24) & kMask,
           (w[2] >> 28 | w[3] << 36) & kMask, w[3] >> 16}};
}
std::vector<PoseidonLaneConstant> LaneForm(const std::vector<Fr>& x) {
  std::vector<PoseidonLaneConstant> out;
  out.reserve(x.size());
  for (const Fr& e : x) out.push_back(LaneForm(e));
  return out;
}

/// The constants of one arity for the lanes.
struct LaneConstants {
  std::vector<PoseidonLaneConstant> keys, mds, pre_sparse, w_hat, v_rest;
  PoseidonLaneTable table;

  explicit LaneConstants(const PoseidonConstants& c)
      : keys(LaneForm(c.keys)),
        mds(LaneForm(c.mds)),
        pre_sparse(LaneForm(c.pre_sparse_columns)),
        w_hat(LaneForm(c.w_hat)),
        v_rest(LaneForm(c.v_rest)),
        table{c.width,    c.full_rounds / 2, c.partial_rounds, keys.data(),
              mds.data(), pre_sparse.data(), w_hat.data(),     v_rest.data()} {}

  /// Made once for each arity, immutable from then on.
  static const PoseidonLaneTable& ForArity(uint32_t arity) {
    struct Slot {
      std::once_flag once;
      std::unique_ptr<const LaneConstants> constants;
    };
    static std::array<Slot, kMaxPoseidonWidth> slots;
    CUZK_CHECK(arity < slots.size());
    Slot& slot = slots[arity];
    std::call_once(slot.once,
                   [&] { slot.constants = std::make_unique<LaneConstants>(PoseidonConstants::ForArity(arity)); });
    return slot.constants->table;
  }
};

/// Collects what a permutation shows.
struct BoxTrace {
  PoseidonSBoxValues* next;
  void Ensure(const Fr&) {}
  void Power(const Fr& x, const Fr& x2, const Fr& x4, const Fr&, const Fr& out) { *next++ = {x, x2, x4, out}; }
};

/// Preimages, one after another, and where their digests and, if not null, the values of their S-boxes go.
struct Batch {
  std::span<const Fr> preimages;
  std::span<Fr> digests;
  PoseidonSBoxValues* values;
};

void Run(const Batch& batch, const PoseidonConstants& constants, const Fr& tag, Arithmetic arithmetic) {
  const auto& [preimages, digests, values] = batch;
  const size_t arity = constants.arity, boxes = PoseidonShownBoxes(constants);
  CUZK_CHECK(preimages.size() == arity * digests.size());
  size_t i = 0;
  if (arithmetic == Arithmetic::kIfma && digests.size() >= kLanes) {
    const PoseidonLaneTable& table = LaneConstants::ForArity(constants.arity);
    const PoseidonLaneConstant lane_tag = LaneForm(tag);
    for (; i + kLanes <= digests.size(); i += kLanes) {
      IfmaPoseidonEight(table, lane_tag,
                        {.preimages = &preimages[i * arity],
                         .digests = &digests[i],
                         .values = values != nullptr ? values + i * boxes : nullptr,
                         .boxes = boxes});
    }
  }
  for (; i < digests.size(); ++i) {
    auto preimage = preimages.subspan(i * arity, arity);
    if (values == nullptr) {
      digests[i] = PoseidonHash(preimage, tag);
    } else {
      BoxTrace trace{values + i * boxes};
      digests[i] = PoseidonPermutation(constants, preimage, tag, trace);
    }
  }
}

}  // namespace

uint32_t PoseidonShownBoxes(const PoseidonConstants& constants) {
  return constants.full_rounds * constants.width - 1 + constants.partial_rounds;
}

void PoseidonHashMany(std::span<const Fr> preimages, uint32_t arity, const Fr& tag, std::span<Fr> digests,
                      Arithmetic arithmetic) {
  Run({preimages, digests, nullptr}, PoseidonConstants::ForArity(arity), tag, arithmetic);
}

PoseidonTraces::PoseidonTraces(std::span<const Fr> preimages, uint32_t arity, const Fr& tag, Arithmetic arithmetic)
    : constants_(PoseidonConstants::ForArity(arity)),
      boxes_(PoseidonShownBoxes(constants_)),
      values_(preimages.size() / arity * boxes_),
      digests_(preimages.size() / arity) {
  Run({preimages, digests_, values_.data()}, constants_, tag, arithmetic);
}

const Fr* PoseidonTraces::KeyOf(uint32_t box) const {
  // Keys in the order of their use: `width` before round 0, then one an S-box until the last full round, which has
  // none. The first S-box of round 0 is not shown.
  const uint32_t used = constants_.width + box + 1;
  return used < constants_.keys.size() ? &constants_.keys[used] : nullptr;
}

}  // namespace cuzk::circuit
