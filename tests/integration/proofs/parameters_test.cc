// The lengths of parameter files that the table says, counted again from the circuits.

#include <gtest/gtest.h>

#include "core/circuit/circuit.h"
#include "core/filecoin/parameter_bytes.h"
#include "core/filecoin/partition.h"
#include "core/groth16/parameter_file.h"

namespace cuzk::filecoin {
namespace {

bool IsBig(const Circuit& circuit) { return circuit.size->bytes > uint64_t{1} << 23; }

void ExpectCounted(bool big) {
  for (const Circuit& circuit : Circuits()) {
    if (!circuit.size->published) {
      EXPECT_EQ(ParameterBytes(circuit), 0u) << circuit.id;
      continue;
    }
    if (IsBig(circuit) != big) continue;
    const auto shape = circuit::MakeShape(SpecOf(circuit));
    ASSERT_TRUE(shape.ok()) << shape.status();
    EXPECT_EQ(ParameterBytes(circuit), groth16::SectionCounts::Of(**shape).FileBytes()) << circuit.id;
  }
}

TEST(ParameterBytes, AreThoseOfTheCircuits) { ExpectCounted(false); }
TEST(ParameterBytes, BigOnesToo) { ExpectCounted(true); }

}  // namespace
}  // namespace cuzk::filecoin
