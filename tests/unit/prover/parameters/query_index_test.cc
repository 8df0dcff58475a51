// Counting what lies before a variable, against counting one by one.
#include "core/prover/parameters/query_index.h"

#include <gtest/gtest.h>

namespace cuzk::prover {
namespace {

r1cs::IndexSet RandomSet(uint64_t size, uint64_t seed, unsigned of_eight) {
  std::vector<uint64_t> words((size + 63) / 64);
  uint64_t state = seed;
  for (uint64_t i = 0; i < size; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    if ((state >> 33) % 8 < of_eight) words[i / 64] |= uint64_t{1} << (i % 64);
  }
  return {size, std::move(words)};
}

std::shared_ptr<const r1cs::Shape> ShapeOf(uint32_t aux, unsigned boolean_of_eight) {
  auto shape = std::make_shared<r1cs::Shape>();
  shape->counts.inputs = 5;
  shape->counts.aux = aux;
  shape->a_aux = RandomSet(aux, 1, 6);
  shape->b_aux = RandomSet(aux, 2, 3);
  shape->b_input = r1cs::IndexSet(5, {0b1001});
  shape->boolean_aux = RandomSet(aux, 3, boolean_of_eight);
  return shape;
}

TEST(QueryIndexTest, CountsWhatLiesBefore) {
  for (uint32_t aux : {1u, 63u, 64u, 65u, 700u, 1024u}) {
    auto shape = ShapeOf(aux, 4);
    const QueryIndex index(shape);
    for (Terms t : {Terms::kL, Terms::kA, Terms::kB}) {
      uint64_t points = index.inputs(t).size(), terms = points, whole = 0;
      EXPECT_EQ(points, t == Terms::kL ? 0u : t == Terms::kA ? 5u : 2u);
      for (uint64_t i = 0; i <= aux; ++i) {
        ASSERT_EQ(index.PointsBefore(t, i), points) << aux << " " << i;
        ASSERT_EQ(index.TermsBefore(t, i), terms) << aux << " " << i;
        ASSERT_EQ(index.WholeBefore(i), whole) << aux << " " << i;
        if (i == aux) break;
        const bool member = t == Terms::kL || index.members(t)->Contains(i), bit = shape->boolean_aux.Contains(i);
        points += member ? 1 : 0;
        terms += member && !bit ? 1 : 0;
        whole += bit ? 0 : 1;
      }
    }
  }
}

TEST(QueryIndexTest, PiecesAreAsLargeAsTheyMayBe) {
  for (uint32_t aux : {1u, 64u, 1000u, 4096u}) {
    auto shape = ShapeOf(aux, 4);
    const QueryIndex index(shape);
    for (Terms t : {Terms::kL, Terms::kA, Terms::kB}) {
      for (uint64_t most : {uint64_t{69}, uint64_t{200}, uint64_t{1} << 40}) {
        auto points = [&](uint64_t begin, uint64_t end) {
          return index.PointsBefore(t, end) - (begin == 0 ? 0 : index.PointsBefore(t, begin));
        };
        for (uint64_t begin = 0, end; begin < aux; begin = end) {
          end = index.EndOfPiece(t, begin, most);
          ASSERT_GT(end, begin);
          ASSERT_TRUE(end == aux || end % 64 == 0);
          EXPECT_LE(points(begin, end), most);
          if (end < aux) {
            EXPECT_GT(points(begin, std::min<uint64_t>(end + 64, aux)), most);
          }
        }
      }
    }
    for (uint64_t begin = 0, end; begin < aux; begin = end) {
      end = index.EndOfWholePiece(begin, 100);
      ASSERT_GT(end, begin);
      EXPECT_LE(index.WholeBefore(end) - index.WholeBefore(begin), 100u);
    }
  }
}

TEST(QueryIndexTest, WithoutVariablesThereIsOnePieceForTheInputs) {
  const QueryIndex index(ShapeOf(0, 4));
  EXPECT_EQ(index.EndOfPiece(Terms::kA, 0, 10), 0u);
  EXPECT_EQ(index.EndOfWholePiece(0, 64), 0u);
  EXPECT_EQ(index.TermsBefore(Terms::kA, 0), 5u);
}

}  // namespace
}  // namespace cuzk::prover
