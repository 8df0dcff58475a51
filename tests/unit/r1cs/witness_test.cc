// Streams, layouts and reading back: what is written at known places is what is read, in either layout, from one
// stretch or several, and nothing beside it is touched.
#include "core/r1cs/witness.h"

#include <gtest/gtest.h>

#include <random>

#include "core/r1cs/recorder.h"
#include "core/r1cs/writer.h"

namespace cuzk::r1cs {
namespace {

/// A circuit of `blocks` equal blocks with bits, nums and rows of both classes at odd places.
template <class Cs>
void Block(Cs& cs, uint64_t seed) {
  std::mt19937_64 random(seed);
  using Lc = typename Cs::Lc;
  cs.AllocateInput(Given<Cs>([&] { return Fr::FromU64(random()); }));
  for (int i = 0; i < 77; ++i) {
    const uint64_t drawn = random();
    const auto bit = cs.AllocateBit(GivenFlag<Cs>([&] { return (drawn & 1) != 0; }));
    cs.Enforce(std::move(Lc().AddOne().Add(bit, -3)), std::move(Lc().Add(bit)), Lc());
    if (i % 7 != 0) continue;
    const auto num = cs.AllocateNum(Given<Cs>([&] { return Fr::FromU64(drawn); }));
    cs.Enforce(std::move(Lc().Add(num)), std::move(Lc().AddOne(-2)), std::move(Lc().Add(num, -2)));
  }
}

constexpr uint64_t kBlocks = 5;

std::shared_ptr<const Shape> ShapeOfBlocks() {
  ShapeBuilder builder;
  Position at{1, 0, 0};
  builder.Append(ShapeRecorder(at, at).Take());
  for (uint64_t i = 0; i < kBlocks; ++i) {
    ShapeRecorder recorder(Position{1, 0, 0}, at);
    Block(recorder, 0);
    at = recorder.position();
    builder.Append(std::move(recorder).Take());
  }
  return std::make_shared<const Shape>(std::move(builder).Finish());
}

void Write(const Shape& shape, const LeaseLayout& layout, std::byte* memory, const std::vector<uint64_t>& order) {
  for (const Position& p : shape.blocks) ClearSharedWord(layout, Position{}, memory, p);
  for (uint64_t i : order) {
    const Position& begin = shape.blocks[i];
    PlainBodyWriter writer(shape, WriterStreams::At(shape, layout, Position{}, memory, begin), begin);
    Block(writer, i);
    writer.Finish(WriterStreams::At(shape, layout, Position{}, memory, shape.blocks[i + 1]));
  }
}

memory::Lease LeaseOf(memory::HostAllocator& allocator, uint64_t bytes) {
  auto lease = memory::Lease::Standalone(allocator, bytes);
  std::fill(lease->bytes().begin(), lease->bytes().end(), std::byte{0x5a});
  return *std::move(lease);
}

TEST(Witness, IsTheSameInBothLayoutsAndAnyOrderOfBlocks) {
  const auto shape = ShapeOfBlocks();
  memory::AlignedAllocator allocator;
  std::vector<Witness> witnesses;
  for (Layout which : {Layout::kPlain, Layout::kNarrow}) {
    for (const auto& order : {std::vector<uint64_t>{0, 1, 2, 3, 4}, std::vector<uint64_t>{4, 2, 0, 3, 1}}) {
      const LeaseLayout layout = LeaseLayout::For(*shape, which);
      memory::Lease lease = LeaseOf(allocator, layout.bytes);
      Write(*shape, layout, lease.bytes().data(), order);
      witnesses.emplace_back(shape, which, std::move(lease));
    }
  }
  std::vector<Fr> want(shape->counts.aux), got(shape->counts.aux);
  witnesses[0].ExpandAux(0, want);
  for (const Witness& witness : witnesses) {
    witness.ExpandAux(0, got);
    EXPECT_TRUE(got == want) << LayoutName(witness.layout().layout);
    for (size_t m = 0; m < kMatrixCount; ++m) {
      std::vector<Fr> rows(shape->counts.rows), other(shape->counts.rows);
      witnesses[0].ExpandRows(static_cast<Matrix>(m), 0, rows);
      witness.ExpandRows(static_cast<Matrix>(m), 0, other);
      EXPECT_TRUE(rows == other);
      // A piece from the middle.
      std::vector<Fr> piece(100);
      witness.ExpandRows(static_cast<Matrix>(m), 150, piece);
      EXPECT_TRUE(std::equal(piece.begin(), piece.end(), rows.begin() + 150));
    }
  }
}

TEST(LeaseLayout, PlanesAreApartAndAsLargeAsTheShapeSays) {
  const auto shape = ShapeOfBlocks();
  const LeaseLayout plain = LeaseLayout::For(*shape, Layout::kPlain),
                    narrow = LeaseLayout::For(*shape, Layout::kNarrow);
  EXPECT_EQ(plain.rows[0].wide.bytes, 32 * shape->counts.rows_with_inputs());
  EXPECT_EQ(plain.aux.wide.bytes, 32u * shape->counts.aux);
  EXPECT_EQ(plain.rows[0].narrow.bytes, 0u);
  EXPECT_EQ(narrow.rows[1].narrow.bytes, shape->counts.rows_with_inputs());
  EXPECT_EQ(narrow.rows[1].wide.bytes, 32 * shape->wide[1].count());
  EXPECT_EQ(narrow.aux.wide.bytes, 32 * shape->wide_aux_count());
  EXPECT_EQ(narrow.inputs.bytes, 32u * shape->counts.inputs);
  uint64_t end = 0;
  for (const Plane& plane :
       {narrow.rows[0].narrow, narrow.rows[0].wide, narrow.rows[1].narrow, narrow.rows[1].wide, narrow.rows[2].narrow,
        narrow.rows[2].wide, narrow.aux.narrow, narrow.aux.wide, narrow.inputs}) {
    EXPECT_EQ(plane.offset % 256, 0u);
    EXPECT_GE(plane.offset, end);
    end = plane.offset + plane.bytes;
  }
  EXPECT_GE(narrow.bytes, end);
  EXPECT_LT(narrow.bytes, plain.bytes);
}

TEST(WriterStreams, LeaveNeighboursAlone) {
  const auto shape = ShapeOfBlocks();
  const LeaseLayout layout = LeaseLayout::For(*shape, Layout::kNarrow);
  memory::AlignedAllocator allocator;
  memory::Lease all = LeaseOf(allocator, layout.bytes), one = LeaseOf(allocator, layout.bytes);
  Write(*shape, layout, all.bytes().data(), {0, 1, 2, 3, 4});
  // Block 2 once more over the others must change nothing.
  std::copy(all.bytes().begin(), all.bytes().end(), one.bytes().begin());
  const Position& begin = shape->blocks[2];
  PlainBodyWriter writer(*shape, WriterStreams::At(*shape, layout, Position{}, one.bytes().data(), begin), begin);
  Block(writer, 2);
  writer.Finish(WriterStreams::At(*shape, layout, Position{}, one.bytes().data(), shape->blocks[3]));
  EXPECT_TRUE(std::ranges::equal(all.bytes(), one.bytes()));
}

using WriterDeathTest = testing::Test;

TEST(WriterDeathTest, EndsTheProcessWhenABlockIsShorterThanTheShape) {
  const auto shape = ShapeOfBlocks();
  const LeaseLayout layout = LeaseLayout::For(*shape, Layout::kNarrow);
  memory::AlignedAllocator allocator;
  memory::Lease lease = LeaseOf(allocator, layout.bytes);
  const Position& begin = shape->blocks[0];
  PlainBodyWriter writer(*shape, WriterStreams::At(*shape, layout, Position{}, lease.bytes().data(), begin), begin);
  EXPECT_DEATH(writer.Finish(WriterStreams::At(*shape, layout, Position{}, lease.bytes().data(), shape->blocks[1])),
               "");
}

}  // namespace
}  // namespace cuzk::r1cs
