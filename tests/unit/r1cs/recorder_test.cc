#include "core/r1cs/recorder.h"

#include <gtest/gtest.h>

#include "core/r1cs/checker.h"

namespace cuzk::r1cs {
namespace {

TEST(BitList, AppendsAtAnyShift) {
  for (uint64_t first : {0, 1, 63, 64, 65, 130}) {
    for (uint64_t second : {0, 1, 63, 64, 65, 200}) {
      BitList a, b, want;
      for (uint64_t i = 0; i < first; ++i) a.Push(i % 3 == 0), want.Push(i % 3 == 0);
      for (uint64_t i = 0; i < second; ++i) b.Push(i % 5 == 0), want.Push(i % 5 == 0);
      a.Append(b);
      EXPECT_EQ(a.size(), want.size());
      EXPECT_EQ(a.words(), want.words()) << first << " + " << second;
    }
  }
}

/// Two inputs, three aux, four rows that show each property once.
template <class Cs, class Scalar, class Flag>
void SmallCircuit(Cs& cs, Scalar x, Flag flag) {
  const auto input = cs.AllocateInput(x);
  const auto num = cs.AllocateNum(x);
  const auto bit = cs.AllocateBit(flag);
  const auto unused_in_a = cs.AllocateBit(flag);
  using Lc = typename Cs::Lc;
  auto scope = cs.Scope("small");
  cs.Enforce(std::move(Lc().Add(input)), std::move(Lc().AddOne()), std::move(Lc().Add(num)));
  cs.Enforce(std::move(Lc().AddOne().Add(bit, -1)), std::move(Lc().Add(bit)), Lc());
  // num cancels: it occurs in no A.
  cs.Enforce(std::move(Lc().Add(num).Add(num, -1)), std::move(Lc().Add(unused_in_a)), Lc());
  cs.Enforce(std::move(Lc().Add(bit)), std::move(Lc().AddOne()), std::move(Lc().Add(unused_in_a)));
}

TEST(ShapeRecorder, CountsDensitiesAndClasses) {
  ShapeRecorder recorder;
  SmallCircuit(recorder, NoScalar{}, NoFlag{});
  ShapeBuilder builder;
  builder.Append(std::move(recorder).Take());
  const Shape shape = std::move(builder).Finish();
  EXPECT_EQ(shape.counts, (ShapeCounts{2, 3, 4, {4, 4, 2}}));
  EXPECT_EQ(shape.a_aux.ToList(), (std::vector<uint32_t>{1}));
  EXPECT_EQ(shape.b_aux.ToList(), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(shape.b_input.ToList(), (std::vector<uint32_t>{0}));
  EXPECT_EQ(shape.boolean_aux.ToList(), (std::vector<uint32_t>{1, 2}));
  // The rows of the inputs stand at the end: ONE is narrow, the other is not.
  EXPECT_EQ(shape.wide[0].ToList(), (std::vector<uint32_t>{0, 2, 5}));
  EXPECT_EQ(shape.wide[1].ToList(), (std::vector<uint32_t>{}));
  EXPECT_EQ(shape.wide[2].ToList(), (std::vector<uint32_t>{0}));
}

class Rows : public RowSink {
 public:
  void OnRow(const Row& row) override {
    for (const auto& side : row.sides) lengths.push_back(side.size());
  }
  std::vector<size_t> lengths;
};

TEST(ShapeRecorder, StreamsMergedRows) {
  ShapeRecorder recorder;
  Rows rows;
  recorder.set_sink(&rows);
  SmallCircuit(recorder, NoScalar{}, NoFlag{});
  EXPECT_EQ(rows.lengths, (std::vector<size_t>{1, 1, 1, 2, 1, 0, 0, 1, 0, 1, 1, 1}));
}

TEST(Checker, NamesTheFirstRowThatDoesNotHold) {
  Checker good;
  SmallCircuit(good, Fr::FromU64(5), true);
  EXPECT_TRUE(good.status().ok());
  struct Lying : Checker {
    Num<Checker> AllocateInput(const Fr& x) { return Checker::AllocateInput(x + Fr::One()); }
  } bad;
  const auto input = bad.AllocateInput(Fr::FromU64(5));
  const auto num = bad.AllocateNum(Fr::FromU64(5));
  auto scope = bad.Scope("small", 3);
  bad.Enforce(Checker::Lc(), Checker::Lc(), Checker::Lc());
  bad.Enforce(std::move(Checker::Lc().Add(input)), std::move(Checker::Lc().AddOne()),
              std::move(Checker::Lc().Add(num)));
  EXPECT_EQ(bad.status().message(), "row 1 (small 3) does not hold");
}

}  // namespace
}  // namespace cuzk::r1cs
