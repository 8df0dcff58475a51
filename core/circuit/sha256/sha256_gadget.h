#pragma once
// SHA-256 as rows, and Filecoin's number-valued wrapper around it.

#include <array>
#include <span>

#include "absl/container/inlined_vector.h"
#include "core/circuit/sha256/word.h"
#include "core/circuit/sha256/word_native.h"
#include "core/circuit/values/bits.h"

namespace cuzk::circuit {

inline constexpr std::array<uint32_t, 8> kSha256Initial = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
inline constexpr std::array<uint32_t, 64> kSha256Rounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

template <class Cs>
using ShaState = std::array<Word<Cs>, 8>;

template <class Cs>
ShaState<Cs> ShaInitialState() {
  return [&]<size_t... I>(std::index_sequence<I...>) { return ShaState<Cs>{Word<Cs>::Constant(kSha256Initial[I])...}; }
  (std::make_index_sequence<8>());
}

/// The 64 words of the message schedule, from 512 booleans in big-endian order.
template <class Cs>
std::vector<Word<Cs>> ShaSchedule(Cs& cs, MultiEq<Cs>& equations, std::span<const Boolean<Cs>> block) {
  using W = Word<Cs>;
  std::vector<W> w;
  w.reserve(64);
  for (unsigned i = 0; i < 16; ++i) w.push_back(W::FromBigEndian(block.subspan(32 * i, 32)));
  for (unsigned i = 16; i < 64; ++i) {
    [[maybe_unused]] auto scope = cs.Scope("schedule word", i);
    W s0 = W::Xor(cs, w[i - 15].RotateRight(7), w[i - 15].RotateRight(18));
    s0 = W::Xor(cs, s0, w[i - 15].ShiftRight(3));
    W s1 = W::Xor(cs, w[i - 2].RotateRight(17), w[i - 2].RotateRight(19));
    s1 = W::Xor(cs, s1, w[i - 2].ShiftRight(10));
    const std::array<W, 4> operands = {w[i - 16], s0, w[i - 7], s1};
    w.push_back(W::Sum(cs, equations, operands));
  }
  return w;
}

/// The compression function. Words a and e of the state are kept as unadded operands until they are read, which is what
/// sets the order of rows.
template <class Cs>
ShaState<Cs> ShaCompress(Cs& cs, const ShaState<Cs>& state, std::span<const Boolean<Cs>> block) {
  using W = Word<Cs>;
  MultiEq<Cs> equations(cs);
  const std::vector<W> w = ShaSchedule(cs, equations, block);
  auto add = [&](std::span<const W> operands) { return W::Sum(cs, equations, operands); };
  absl::InlinedVector<W, 8> pending_a = {state[0]}, pending_e = {state[4]};
  W b = state[1], c = state[2], d = state[3], f = state[5], g = state[6], h = state[7];
  for (unsigned i = 0; i < 64; ++i) {
    [[maybe_unused]] auto scope = cs.Scope("round", i);
    const W e = i == 0 ? state[4] : add(pending_e);
    W sum1 = W::Xor(cs, e.RotateRight(6), e.RotateRight(11));
    sum1 = W::Xor(cs, sum1, e.RotateRight(25));
    const W choice = W::Choice(cs, e, f, g);
    const W a = i == 0 ? state[0] : add(pending_a);
    W sum0 = W::Xor(cs, a.RotateRight(2), a.RotateRight(13));
    sum0 = W::Xor(cs, sum0, a.RotateRight(22));
    const W majority = W::Majority(cs, a, b, c);
    pending_e = {h, sum1, choice, W::Constant(kSha256Rounds[i]), w[i]};
    pending_a = pending_e;
    pending_e.push_back(d);
    pending_a.push_back(sum0);
    pending_a.push_back(majority);
    h = g, g = f, f = e, d = c, c = b, b = a;
  }
  [[maybe_unused]] auto scope = cs.Scope("output");
  pending_a.push_back(state[0]);
  pending_e.push_back(state[4]);
  auto pair = [&](const W& x, const W& y) { return add(std::array<W, 2>{x, y}); };
  const W out0 = add(pending_a);
  const W out1 = pair(state[1], b), out2 = pair(state[2], c), out3 = pair(state[3], d);
  const W out4 = add(pending_e);
  const W out5 = pair(state[5], f), out6 = pair(state[6], g), out7 = pair(state[7], h);
  equations.Flush();
  return {out0, out1, out2, out3, out4, out5, out6, out7};
}

/// SHA-256 of whole bytes of bits, most significant bit of each byte first; 256 booleans in the same order.
template <class Cs>
Booleans<Cs> Sha256(Cs& cs, Booleans<Cs> message) {
  const uint64_t length = message.size();
  message.push_back(Boolean<Cs>::Constant(true));
  while (message.size() % 512 != 448) message.push_back(Boolean<Cs>::Constant(false));
  for (unsigned i = 64; i-- > 0;) message.push_back(Boolean<Cs>::Constant(length >> i & 1));
  ShaState<Cs> state = ShaInitialState<Cs>();
  for (size_t i = 0; i < message.size(); i += 512) {
    [[maybe_unused]] auto scope = cs.Scope("block", static_cast<int64_t>(i / 512));
    state = ShaCompress<Cs>(cs, state, std::span<const Boolean<Cs>>(message).subspan(i, 512));
  }
  Booleans<Cs> digest;
  digest.reserve(256);
  for (const Word<Cs>& word : state) word.AppendBigEndian(digest);
  return digest;
}

/// The digest as a number: its bytes little-endian, the two top bits dropped.
template <class Cs>
Num<Cs> Sha256ToNum(Cs& cs, Booleans<Cs> message) {
  [[maybe_unused]] auto scope = cs.Scope("sha256");
  const Booleans<Cs> digest = ReverseBytes<Cs>(Sha256(cs, std::move(message)));
  return PackBits<Cs>(cs, std::span<const Boolean<Cs>>(digest).first(kPackedBits));
}

}  // namespace cuzk::circuit
