#include <gtest/gtest.h>

#include "core/base/hash.h"
#include "core/circuit/poseidon/poseidon.h"
#include "core/filecoin/challenges.h"
#include "core/filecoin/graph.h"
#include "core/filecoin/types/identifiers.h"

namespace cuzk::filecoin {
namespace {

using algebra::Fr;
using Numbers = std::vector<uint64_t>;

Bytes32 Repeated(uint8_t byte) {
  Bytes32 bytes;
  bytes.fill(byte);
  return bytes;
}

TEST(Identifiers, ProverId) {
  EXPECT_EQ(ProverId(0), Bytes32{});
  EXPECT_EQ(ToHex(ProverId(1000)).substr(0, 8), "e8070000");
  EXPECT_EQ(ToHex(ProverId(3751)).substr(0, 8), "a71d0000");
  EXPECT_EQ(ToHex(ProverId(127)).substr(0, 4), "7f00");
  EXPECT_EQ(ToHex(ProverId(128)).substr(0, 6), "800100");
  EXPECT_EQ(ToHex(ProverId(UINT64_MAX)).substr(0, 22), "ffffffffffffffffff0100");
}

TEST(Identifiers, ReplicaId) {
  EXPECT_EQ(ToHex(ReplicaId({1000, 42, Repeated(4), Repeated(5), PorepId(8)})),
            "72046d1c0414c531c96eb0ac94091361ff34f12ebb8b0ceca103609ff2e03a2a");
}

TEST(Challenges, Interactive) {
  PorepChallengeFacts facts{Repeated(1), {}, Repeated(2), uint64_t{1} << 30, PorepFeature::kNone};
  EXPECT_EQ(PorepChallenges(facts, 0, 4), (Numbers{662943100, 671502451, 889118164, 856793739}));
  EXPECT_EQ(PorepChallenges(facts, 9 * 18, 2), (Numbers{7322227, 902451246}));
}

TEST(Challenges, NonInteractive) {
  PorepChallengeFacts facts{Repeated(1), Repeated(3), {}, uint64_t{1} << 30, PorepFeature::kNonInteractive};
  EXPECT_EQ(PorepChallenges(facts, 0, 4), (Numbers{473519801, 472798836, 242824578, 938889662}));
}

TEST(Challenges, Synthetic) {
  Bytes32 replica_id = Fr::FromU64(55).ToBytesLe(), comm_r = Fr::FromU64(101).ToBytesLe();
  Numbers pool = SyntheticPool(replica_id, comm_r, 1024, 21);
  EXPECT_EQ(pool, (Numbers{178, 297, 869, 211, 875, 477, 94,  781, 124, 332, 856,
                           801, 176, 692, 429, 691, 290, 204, 986, 210, 973}));
  Numbers chosen;
  for (uint64_t index : SyntheticSelection(replica_id, Repeated(1), 21, 10)) chosen.push_back(pool[index]);
  EXPECT_EQ(chosen, (Numbers{176, 781, 801, 986, 290, 211, 692, 856, 986, 332}));
  // Both steps in one, with the pool that 1024 nodes have.
  Numbers whole = SyntheticPool(replica_id, comm_r, 1024, 1024), expected;
  for (uint64_t index : SyntheticSelection(replica_id, Repeated(1), 1024, 10)) expected.push_back(whole[index]);
  PorepChallengeFacts facts{replica_id, comm_r, Repeated(1), 1024, PorepFeature::kSynthetic};
  EXPECT_EQ(PorepChallenges(facts, 0, 10), expected);
  EXPECT_EQ(PorepChallenges(facts, 4, 6), Numbers(expected.begin() + 4, expected.end()));
}

TEST(Challenges, Post) {
  uint64_t nodes = uint64_t{1} << 30;
  Numbers golden = {707914199, 439148358,  967788220, 548708700,  1061661429,
                    6202012,   1055504637, 389535735, 1000069704, 600088878};
  for (uint64_t n = 0; n < 10; ++n) EXPECT_EQ(PostChallenge({}, 1, n, nodes), golden[n]);
  Numbers shifted = {291723858, 44462740, 302391615}, first = {446661868, 510190519, 318606759};
  for (uint64_t n = 0; n < 3; ++n) {
    EXPECT_EQ(PostChallenge(Repeated(6), 42, 10 + n, nodes), shifted[n]);
    EXPECT_EQ(PostChallenge(Repeated(6), 42, n, nodes), first[n]);
  }
}

TEST(Challenges, Update) {
  struct Row {
    const char* size;
    uint32_t partition;
    Numbers first;
  };
  const Row kRows[] = {
      {"2KiB", 0, {53, 51, 56, 3, 0}},
      {"32KiB", 1, {542, 666, 955, 927, 911}},
      {"8MiB", 1, {78878, 130797, 112892, 93994, 78379}},
      {"512MiB", 15, {16388544, 15794686, 16637142, 16319148, 16328348}},
      {"32GiB", 0, {1019125, 27985696, 15282860, 11586600, 44651330}},
      {"32GiB", 1, {109168525, 127316247, 80331041, 97065716, 72310052}},
      {"32GiB", 14, {990420169, 955146989, 968005601, 976863263, 944650706}},
      {"64GiB", 1, {243386253, 197875851, 204632136, 171516766, 247789010}},
      {"64GiB", 15, {2045262457, 2036941247, 2136653521, 2091356007, 2147167623}},
  };
  Fr comm_r_new = *Fr::FromBytesLe(*Bytes32FromHex("101cbe4b9c42604f04c703c396f788c6cb2d6d7d58f45430b12eb2edd640076c"));
  for (const Row& row : kRows) {
    Numbers challenges = UpdateChallenges(comm_r_new, row.partition, *FindSize(row.size));
    EXPECT_EQ(challenges.size(), UpdateCountsOf(*FindSize(row.size)).challenges);
    EXPECT_EQ(Numbers(challenges.begin(), challenges.begin() + 5), row.first) << row.size;
  }
}

TEST(Challenges, Phi) {
  EXPECT_EQ(ToHex(UpdatePhi(Fr::FromU64(1), Fr::FromU64(2)).ToBytesLe()),
            "3c2fe9b59c5f0de453bbb6db5c84af5448c7d4c1fbf41830ab05dbaf9b872c70");
}

/// SHA-256 of the parent cache: for each node its 14 parents, u32 little-endian.
std::string CacheDigest(const RegisteredProof& seal) {
  Graph graph(seal);
  Hasher hasher(HashKind::kSha256);
  for (uint64_t node = 0; node < graph.nodes(); ++node) {
    Parents parents = graph.ParentsOf(node);
    uint8_t bytes[14 * 4];
    for (size_t i = 0; i < 14; ++i) {
      uint64_t parent = i < kDrgParents ? parents.drg[i] : parents.expander[i - kDrgParents];
      StoreLe(bytes + 4 * i, static_cast<uint32_t>(parent));
    }
    hasher.Update(bytes);
  }
  return ToHex(hasher.Finish32());
}

TEST(Graph, DrgParentsAreBelowAndExpanderParentsCoverTheSector) {
  for (uint64_t number : {0, 5, 10, 15}) {
    Graph graph(*FindRegisteredProof(Kind::kPorep, number));
    std::vector<unsigned> children(graph.nodes());
    for (uint64_t node = 0; node < graph.nodes(); ++node) {
      Parents parents = graph.ParentsOf(node);
      for (uint64_t parent : parents.drg) EXPECT_TRUE(node < 2 ? parent == 0 : parent < node);
      EXPECT_EQ(parents.drg[number == 0 ? 5 : 0], node < 2 ? 0 : node - 1);
      for (uint64_t parent : parents.expander) ++children[parent];
    }
    // The edges are a permutation: every node is the expander parent of eight.
    EXPECT_EQ(children, std::vector<unsigned>(graph.nodes(), 8));
  }
}

TEST(Graph, VersionsDiffer) {
  EXPECT_NE(CacheDigest(*FindRegisteredProof(Kind::kPorep, 0)), CacheDigest(*FindRegisteredProof(Kind::kPorep, 5)));
}

}  // namespace
}  // namespace cuzk::filecoin
