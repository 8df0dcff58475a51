#include "core/r1cs/terms.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/r1cs/recorder.h"

namespace cuzk::r1cs {
namespace {

TEST(TermList, NormalizesLikeAMap) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 200; ++round) {
    TermList list;
    std::map<Variable, Fr> want;
    const size_t length = random() % 60;
    for (size_t i = 0; i < length; ++i) {
      const auto index = static_cast<uint32_t>(random() % 20);
      const Variable variable = random() % 4 == 0 ? Variable::Input(index) : Variable::Aux(index);
      const Fr coefficient = SmallInteger(static_cast<int64_t>(random() % 5) - 2);
      list.Append(variable, coefficient);
      want[variable] += coefficient;
    }
    std::erase_if(want, [](const auto& entry) { return entry.second.IsZero(); });
    std::map<Variable, Fr> got;
    Variable last = kOne;
    for (const Term& term : list.Normalize()) {
      EXPECT_TRUE(got.empty() || last < term.variable) << "inputs by index, then aux by index";
      last = term.variable;
      got[term.variable] = term.coefficient;
    }
    EXPECT_TRUE(got == want);
  }
}

using Lc = ShapeRecorder::Lc;

bool Narrow(const std::function<void(Lc&)>& fill) {
  Lc lc;
  fill(lc);
  return lc.list().IsNarrow();
}

TEST(TermLc, IsNarrowWhileEveryAssignmentFitsInASignedByte) {
  const Bit<ShapeRecorder> bit{Variable::Aux(0), {}};
  const Num<ShapeRecorder> num{Variable::Aux(1), {}};
  EXPECT_TRUE(Narrow([](Lc&) {}));
  EXPECT_TRUE(Narrow([&](Lc& lc) { lc.AddOne(127); }));
  EXPECT_FALSE(Narrow([&](Lc& lc) { lc.AddOne(127).Add(bit); }));
  EXPECT_TRUE(Narrow([&](Lc& lc) { lc.AddOne(127).Add(bit, -1); }));
  EXPECT_TRUE(Narrow([&](Lc& lc) { lc.AddOne(-127).Add(bit, -1); }));
  EXPECT_FALSE(Narrow([&](Lc& lc) { lc.AddOne(-127).Add(bit, -2); }));
  EXPECT_FALSE(Narrow([&](Lc& lc) { lc.Add(num); }));
  EXPECT_FALSE(Narrow([&](Lc& lc) { lc.AddOne(Fr::One()); }));
  // Seven packed bits fit, eight do not.
  auto pack = [&](unsigned bits) {
    return Narrow([&](Lc& lc) {
      for (unsigned i = 0; i < bits; ++i) lc.AddShifted(bit, i);
    });
  };
  EXPECT_TRUE(pack(7));
  EXPECT_FALSE(pack(8));
  EXPECT_FALSE(Narrow([&](Lc& lc) { lc.AddShifted(bit, 100); }));
}

TEST(NamePath, NamesWhatIsOpen) {
  NamePath path;
  EXPECT_EQ(path.Text(), "");
  auto outer = path.Enter("challenge", 7);
  {
    auto inner = path.Enter("encoding", -1);
    EXPECT_EQ(path.Text(), "challenge 7/encoding");
  }
  EXPECT_EQ(path.Text(), "challenge 7");
}

}  // namespace
}  // namespace cuzk::r1cs
