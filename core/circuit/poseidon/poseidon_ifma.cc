// Poseidon on lanes. Built with the flags of AVX-512 IFMA; computes what poseidon_permutation.h does.
//
// Values stay carried and are bounded instead of reduced: an S-box gives less than 3 r, a row of a matrix adds up 0.06
// r for each such entry and r once, and the entries that a partial round only adds to are brought below 2 r now and
// then. No value comes near 35 r, the limit of fr_lanes.h.

#include "core/circuit/poseidon/poseidon_ifma.h"

#include "core/algebra/field/fr_lanes.h"

namespace cuzk::circuit {
namespace {

using algebra::Broadcast;
using algebra::BroadcastFactor;
using algebra::Constant52;
using algebra::Fr;
using algebra::FrLaneParams;
using algebra::FrWide;
using algebra::FrX8;
using algebra::LaneFactor;
using algebra::Long;
using algebra::MontgomeryProduct;
using algebra::MontgomeryReduce;

constexpr uint32_t kMaxWidth = 37;
constexpr size_t kFrsOfBox = 4;  // PoseidonSBoxValues

FrWide ProductWith(const FrWide& a, const FrWide& b) {
  return Carried(MontgomeryProduct<FrLaneParams>(a, LaneFactor<5>{b}));
}
FrWide ProductWith(const FrWide& a, const PoseidonLaneConstant& b) {
  return MontgomeryProduct<FrLaneParams>(a, BroadcastFactor{b.limb});
}
FrWide SquareOf(const FrWide& a) { return Carried(MontgomeryReduce<FrLaneParams>(LongSquare(a))); }
FrWide PlusConstant(const FrWide& a, const PoseidonLaneConstant& c) {
  Constant52<5> k{{c.limb[0], c.limb[1], c.limb[2], c.limb[3], c.limb[4]}};
  return Carried(AddConstant(a, k));
}

/// Sum of state[i] constants[i]: one reduction for all. Even and odd terms have sums of their own, which keeps the
/// chains of dependent additions short.
FrWide Dot(const FrWide* state, const PoseidonLaneConstant* constants, uint32_t n) {
  Long<5> sum[2];
  for (Long<5>& s : sum) {
#pragma GCC unroll 16
    for (size_t k = 0; k < 10; ++k) s.limb[k] = _mm512_setzero_si512();
  }
  auto accumulate = [&](Long<5>& s, uint32_t i) {
#pragma GCC unroll 8
    for (size_t j = 0; j < 5; ++j) {
      __m512i c = Broadcast(constants[i].limb[j]);
#pragma GCC unroll 8
      for (size_t k = 0; k < 5; ++k) {
        s.limb[j + k] = _mm512_madd52lo_epu64(s.limb[j + k], state[i].limb[k], c);
        s.limb[j + k + 1] = _mm512_madd52hi_epu64(s.limb[j + k + 1], state[i].limb[k], c);
      }
    }
  };
  uint32_t i = 0;
  for (; i + 2 <= n; i += 2) {
    accumulate(sum[0], i);
    accumulate(sum[1], i + 1);
  }
  if (i < n) accumulate(sum[0], i);
#pragma GCC unroll 16
  for (size_t k = 0; k < 10; ++k) sum[0].limb[k] = _mm512_add_epi64(sum[0].limb[k], sum[1].limb[k]);
  return Carried(MontgomeryReduce<FrLaneParams>(sum[0]));
}

void Dense(const PoseidonLaneConstant* columns, uint32_t t, FrWide* state) {
  FrWide old[kMaxWidth];
  for (uint32_t i = 0; i < t; ++i) old[i] = state[i];
  for (uint32_t j = 0; j < t; ++j) state[j] = Dot(old, columns + size_t{j} * t, t);
}

/// Where the S-boxes' values go: lane i writes to its own permutation's array.
struct LaneTrace {
  Fr* next;  // of lane 0, or null
  size_t lane_stride;

  void Put(const FrWide& x) {
    FrX8{x}.ToMemory(next, lane_stride);
    ++next;
  }
};

/// x^5 plus the key, where there is one.
FrWide SBox(const FrWide& x, const PoseidonLaneConstant* key, LaneTrace& trace) {
  FrWide x2 = SquareOf(x), x4 = SquareOf(x2);
  FrWide out = ProductWith(x4, x);
  if (key != nullptr) out = PlusConstant(out, *key);
  if (trace.next != nullptr) {
    trace.Put(x);
    trace.Put(x2);
    trace.Put(x4);
    trace.Put(out);
  }
  return out;
}

void PartialRounds(const PoseidonLaneTable& table, const PoseidonLaneConstant* key, FrWide* state, LaneTrace& trace) {
  const uint32_t t = table.width;
  for (uint32_t k = 0; k < table.partial_rounds; ++k) {
    const PoseidonLaneConstant* v = table.v_rest + size_t{k} * (t - 1);
    const FrWide s0 = SBox(state[0], key++, trace);
    state[0] = s0;
    state[0] = Dot(state, table.w_hat + size_t{k} * t, t);
    for (uint32_t j = 1; j < t; ++j) state[j] = Carried(Add(state[j], ProductWith(s0, v[j - 1])));
    if (k % 8 == 7) {
      for (uint32_t j = 1; j < t; ++j) state[j] = BelowTwice(state[j]);
    }
  }
}

}  // namespace

void IfmaPoseidonEight(const PoseidonLaneTable& table, const PoseidonLaneConstant& tag, const PoseidonEight& eight) {
  const uint32_t t = table.width;
  LaneTrace trace{reinterpret_cast<Fr*>(eight.values), eight.boxes * kFrsOfBox}, folded{nullptr, 0};
  const PoseidonLaneConstant* key = table.keys;
  FrWide state[kMaxWidth];
  state[0] = PlusConstant(PlusConstant(FrX8::Zero().wide, tag), key[0]);
  for (uint32_t i = 1; i < t; ++i)
    state[i] = PlusConstant(FrX8::FromMemory(eight.preimages + i - 1, t - 1).wide, key[i]);
  key += t;
  for (uint32_t round = 0; round < table.half_rounds; ++round) {
    for (uint32_t i = 0; i < t; ++i) state[i] = SBox(state[i], key + i, round == 0 && i == 0 ? folded : trace);
    key += t;
    Dense(round + 1 < table.half_rounds ? table.mds : table.pre_sparse, t, state);
  }
  PartialRounds(table, key, state, trace);
  key += table.partial_rounds;
  for (uint32_t round = 0; round < table.half_rounds; ++round) {
    const bool keyed = round + 1 < table.half_rounds;
    for (uint32_t i = 0; i < t; ++i) state[i] = SBox(state[i], keyed ? key + i : nullptr, trace);
    if (!keyed) break;
    key += t;
    Dense(table.mds, t, state);
  }
  FrX8{Dot(state, table.mds + t, t)}.ToMemory(eight.digests, 1);
}

}  // namespace cuzk::circuit
