// Made requests of the middle sizes, every kind: read, every relation checked, and every row of their witnesses.

#include <gtest/gtest.h>

#include "core/circuit/circuit.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/samples/made_request.h"
#include "core/memory/host_allocator.h"

namespace cuzk::filecoin {
namespace {

using algebra::Fr;

class MadeWitness : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  /// Every row: a b = c.
  void ExpectRowsHold(const r1cs::Witness& witness) {
    const uint64_t rows = witness.shape().counts.rows_with_inputs();
    constexpr uint64_t kPiece = 1 << 14;
    std::atomic<uint64_t> wrong{0};
    pool_.ParallelFor((rows + kPiece - 1) / kPiece, 1, [&](size_t first, size_t last) {
      std::vector<Fr> a(kPiece), b(kPiece), c(kPiece);
      for (size_t piece = first; piece < last; ++piece) {
        const uint64_t begin = piece * kPiece, count = std::min(kPiece, rows - begin);
        witness.ExpandRows(r1cs::Matrix::kA, begin, std::span(a).first(count));
        witness.ExpandRows(r1cs::Matrix::kB, begin, std::span(b).first(count));
        witness.ExpandRows(r1cs::Matrix::kC, begin, std::span(c).first(count));
        for (uint64_t i = 0; i < count; ++i) wrong += a[i] * b[i] != c[i];
      }
    });
    EXPECT_EQ(wrong.load(), 0u);
  }

  memory::AlignedAllocator allocator_;
  ThreadPool pool_{0};
};

TEST_P(MadeWitness, HoldsEveryRelationAndEveryRow) {
  auto [kind, size] = GetParam();
  const Circuit& circuit = **CircuitByNames(kind, size);
  auto made = MakeRequest(**ProofToMake(circuit), {.seed = 11});
  ASSERT_TRUE(made.ok()) << made.status();
  auto parsed = ParseRequest(std::move(made->request));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const circuit::CircuitSpec spec = SpecOf(circuit);
  auto shape = circuit::MakeShape(spec);
  ASSERT_TRUE(shape.ok()) << shape.status();
  auto lease = memory::Lease::Standalone(allocator_, r1cs::LeaseLayout::For(**shape, r1cs::Layout::kNarrow).bytes);
  ASSERT_TRUE(lease.ok()) << lease.status();
  for (const Partition& partition : parsed->partitions) {
    auto witness =
        circuit::WriteWitness(spec, partition.inputs, {*shape, r1cs::Layout::kNarrow, *std::move(lease)}, pool_);
    ASSERT_TRUE(witness.ok()) << "partition " << partition.index << ": " << witness.status();
    EXPECT_TRUE(std::ranges::equal(witness->inputs().subspan(1), partition.public_inputs));
    // The partitions of one request are of one circuit: the rows of one tell.
    if (partition.index == 0) ExpectRowsHold(*witness);
    *lease = std::move(*witness).TakeLease();
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, MadeWitness,
                         ::testing::Combine(::testing::Values("porep", "window", "winning", "snap"),
                                            ::testing::Values("8MiB", "512MiB")),
                         [](const auto& info) { return StrCat(std::get<0>(info.param), std::get<1>(info.param)); });

}  // namespace
}  // namespace cuzk::filecoin
