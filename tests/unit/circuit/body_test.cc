// The writer's own bodies against the plain ones, over random values and every pattern of constants and negations.
#include <gtest/gtest.h>

#include <random>

#include "core/circuit/merkle_gadget.h"
#include "core/circuit/poseidon/prepared_hashes.h"
#include "core/memory/host_allocator.h"
#include "core/r1cs/recorder.h"
#include "core/r1cs/witness.h"
#include "tests/unit/circuit/instances.h"

namespace cuzk::circuit {
namespace {

using r1cs::GivenFlag;
using r1cs::Layout;
using r1cs::LeaseLayout;
using r1cs::Position;
using r1cs::WriterStreams;

/// Values that a gadget is given: nothing to a recorder.
struct Source {
  std::mt19937_64 engine;
  explicit Source(uint64_t seed) : engine(seed) {}
  Fr Element() { return Fr::FromU64(engine()) * Fr::FromU64(engine()) * Fr::FromU64(engine()) * Fr::FromU64(engine()); }
};

/// Runs `gadget` on a recorder for the shape, then on `Writer`, and gives the bytes of the lease.
template <class Writer, class Gadget>
std::vector<std::byte> Written(const Gadget& gadget, uint64_t seed, Layout layout) {
  r1cs::ShapeRecorder recorder;
  Source pattern(seed);
  gadget(recorder, pattern);
  const Position end = recorder.position();
  r1cs::ShapeBuilder builder;
  builder.Append(std::move(recorder).Take());
  const r1cs::Shape shape = std::move(builder).Finish();
  const Position begin{1, 0, 0};
  const LeaseLayout lease = LeaseLayout::ForRange(shape, layout, begin, end);
  std::vector<std::byte> memory(lease.bytes + 64);
  auto at = [&](const Position& p) { return WriterStreams::At(shape, lease, begin, memory.data(), p); };
  Writer writer(shape, at(begin), begin);
  Source values(seed);
  gadget(writer, values);
  writer.Finish(at(end));
  return memory;
}

template <class Gadget>
void ExpectSameBodies(const Gadget& gadget, uint64_t seeds) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    for (Layout layout : {Layout::kPlain, Layout::kNarrow}) {
      EXPECT_TRUE(Written<r1cs::WitnessWriter>(gadget, seed, layout) ==
                  Written<r1cs::PlainBodyWriter>(gadget, seed, layout))
          << "seed " << seed << ", " << LayoutName(layout);
    }
  }
}

/// A boolean of random form and value. All systems draw alike, so they see the same pattern.
template <class Cs>
Boolean<Cs> RandomBoolean(Cs& cs, Source& source, bool constants) {
  const uint64_t form = source.engine() % (constants ? 4 : 2);
  const bool value = source.engine() & 1;
  if (form >= 2) return Boolean<Cs>::Constant(value);
  const Bit<Cs> bit = AllocateBit(cs, GivenFlag<Cs>([&] { return value; }));
  return form == 0 ? Boolean<Cs>::Is(bit) : Boolean<Cs>::Not(bit);
}
template <class Cs>
Word<Cs> RandomWord(Cs& cs, Source& source, bool constants) {
  Booleans<Cs> bits;
  for (int i = 0; i < 32; ++i) bits.push_back(RandomBoolean(cs, source, constants));
  return Word<Cs>::FromBigEndian(bits);
}

TEST(NativeBodies, OfWordsEqualPlainOnes) {
  for (bool constants : {false, true}) {
    ExpectSameBodies(
        [constants]<class Cs>(Cs& cs, Source& source) {
          using W = Word<Cs>;
          const W a = RandomWord(cs, source, constants), b = RandomWord(cs, source, constants);
          const W c = RandomWord(cs, source, constants);
          MultiEq<Cs> equations(cs);
          const W x = W::Xor(cs, a.RotateRight(7), b.ShiftRight(3));
          const W choice = W::Choice(cs, x, b, c), majority = W::Majority(cs, a, b.RotateRight(1), choice);
          const W constant = W::Constant(0x12345678);
          W sum = W::Sum(cs, equations, std::array<W, 4>{a, x, majority, constant});
          for (int i = 0; i < 12; ++i) sum = W::Sum(cs, equations, std::array<W, 2>{sum, b});
          Booleans<Cs> out;
          W::Xor(cs, W::Choice(cs, sum, constant, a), constant).AppendBigEndian(out);
          equations.Flush();
          PackBits<Cs>(cs, out);
        },
        16);
  }
}

TEST(NativeBodies, OfSha256EqualPlainOnes) {
  ExpectSameBodies(
      []<class Cs>(Cs& cs, Source& source) {
        Booleans<Cs> message;
        for (int i = 0; i < 512; ++i) message.push_back(RandomBoolean(cs, source, i % 8 == 0));
        Sha256ToNum(cs, message);
      },
      3);
}

TEST(NativeBodies, OfNumbersAndTreesEqualPlainOnes) {
  for (size_t arity : {2, 4, 8}) {
    ExpectSameBodies(
        [arity]<class Cs>(Cs& cs, Source& source) {
          std::vector<Num<Cs>> siblings;
          auto draw = [&] {
            const Fr value = source.Element();
            return cs.AllocateNum(Given<Cs>([&] { return value; }));
          };
          for (size_t i = 0; i + 1 < arity; ++i) siblings.push_back(draw());
          const Num<Cs> x = draw();
          Booleans<Cs> bits;
          for (int i = 0; i < std::countr_zero(arity); ++i) {
            const bool value = source.engine() & 1;
            bits.push_back(Boolean<Cs>::Is(AllocateBit(cs, GivenFlag<Cs>([&] { return value; }))));
          }
          const Num<Cs> hash = HashGroup<Cs>(cs, TreeHash::kPoseidon, Insert<Cs>(cs, x, bits, siblings));
          PackIntoInputs<Cs>(cs, bits);
          const Num<Cs> pair = PoseidonRandomnessGadget(cs, hash, x);
          ToBits(cs, pair);
          EnforceSame(cs, pair, pair, {"pair"});
        },
        4);
  }
}

TEST(NativeBodies, OfTheColumnHashEqualPlainOnes) {
  ExpectSameBodies(
      []<class Cs>(Cs& cs, Source& source) {
        std::vector<Num<Cs>> labels;
        for (int i = 0; i < 11; ++i) {
          const Fr value = source.Element();
          labels.push_back(cs.AllocateNum(Given<Cs>([&] { return value; })));
        }
        PoseidonMerkle<Cs>(cs, labels);
      },
      4);
}

TEST(PreparedHashes, AreTakenInOrderAndOnlyForTheirOwnPreimage) {
  Source source(1);
  std::vector<Fr> preimages;
  for (int i = 0; i < 5 * 4; ++i) preimages.push_back(source.Element());
  const std::vector<Fr> other(4, Fr::One());
  for (const auto arithmetic : {algebra::Arithmetic::kScalar, algebra::Arithmetic::kIfma}) {
    if (!algebra::IsSupported(arithmetic)) continue;
    PreparedHashes prepared(arithmetic);
    const size_t batch = prepared.Compute(preimages, 4);
    for (size_t i : {3, 0}) prepared.Expect(batch, i);
    NoTrace trace;
    Fr digest;
    EXPECT_FALSE(prepared.Replay(other, trace, &digest));
    EXPECT_FALSE(prepared.Replay(std::span(preimages).first(4), trace, &digest)) << "not the next";
    EXPECT_FALSE(prepared.Replay(std::span(preimages).subspan(12, 2), trace, &digest)) << "another arity";
    for (size_t i : {3, 0}) {
      const auto preimage = std::span<const Fr>(preimages).subspan(4 * i, 4);
      ASSERT_TRUE(prepared.Replay(preimage, trace, &digest));
      EXPECT_EQ(digest, PoseidonHash(preimage));
    }
    EXPECT_FALSE(prepared.Replay(other, trace, &digest)) << "nothing is left";
  }
}

TEST(PreparedHashes, OfPathsLeadToTheRoot) {
  const TreeShape shape{64, 8, 4, 2};
  Source source(2);
  std::vector<Fr> leaves(64);
  for (Fr& leaf : leaves) leaf = source.Element();
  const WholeTree tree(shape, leaves, false);
  std::vector<PathInputs> paths;
  for (uint64_t i = 0; i < 11; ++i) paths.push_back(tree.Path(i * 5 % 64));
  std::vector<PathStart> starts;
  for (const PathInputs& path : paths) starts.push_back({leaves[path.leaf_index], &path});
  PreparedHashes prepared(algebra::BestArithmetic());
  const std::vector<size_t> levels = prepared.ComputePaths(shape, starts);
  ASSERT_EQ(levels.size(), 3u);
  for (size_t i = 0; i < starts.size(); ++i) EXPECT_EQ(prepared.digest(levels.back(), i), tree.root());
}

}  // namespace
}  // namespace cuzk::circuit
