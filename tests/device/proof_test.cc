// From the request as Curio sends it to the bytes of the proof, on the card: the sums and proofs that the reference
// recorded, byte for byte. Parameter files lie in the folder CUZK_TEST_PARAMETERS (made by cuzk_test_parameters); kinds
// whose file is not there are skipped.
#include <simdjson.h>

#include <cstdlib>

#include "core/algebra/curve/point_io.h"
#include "core/base/hash.h"
#include "core/circuit/circuit.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/request_directory.h"
#include "core/groth16/verifier.h"
#include "gpu/prover/cuda_device.h"
#include "tests/device/on_device.h"
#include "tests/device/placements.h"
#include "tests/fixtures.h"

namespace cuzk::gpu::testing {
namespace {

using algebra::Fr;
using simdjson::dom::element;

Fr Scalar(std::string_view hex) { return algebra::FrFromBytes(Bytes32FromHex(hex).value(), "scalar").value(); }
std::string Compressed(const algebra::G1& p) { return ToHex(algebra::WriteG1Compressed(ToAffine(p))); }
std::string Compressed(const algebra::G2& p) { return ToHex(algebra::WriteG2Compressed(ToAffine(p))); }

class RecordedProofs : public ::testing::TestWithParam<std::tuple<const char*, r1cs::Layout>> {
 protected:
  std::vector<std::filesystem::path> Directories(const std::string& kind) {
    std::vector<std::filesystem::path> roots = {testing_support::Vectors() / "filecoin"}, out;
    if (auto fixtures = testing_support::Fixtures()) roots.push_back(*fixtures);
    for (const auto& root : roots) {
      if (!std::filesystem::exists(root / kind)) continue;
      for (const auto& entry : std::filesystem::directory_iterator(root / kind)) {
        std::string name = entry.path().filename().string();
        if (name.starts_with("2KiB-") && name.find("-ni-") == std::string::npos &&
            std::filesystem::exists(entry.path() / "expected.json")) {
          out.push_back(entry.path());
        }
      }
    }
    return out;
  }

  void ProvePartition(const filecoin::Partition& partition, element recorded, r1cs::Layout layout,
                      std::vector<groth16::Statement>& statements) {
    auto lease =
        Must(memory::Lease::Standalone(device_->host_allocator(), r1cs::LeaseLayout::For(*shape_, layout).bytes));
    auto witness = Must(circuit::WriteWitness(spec_, partition.inputs, {shape_, layout, std::move(lease)}, pool_));
    auto pending = Must(device_->Start(parameters_, std::move(witness), {}));
    groth16::MsmResults sums = Must(pending->Finish());
    auto sum = [&](const char* query) { return std::string(std::string_view(recorded["msm"][query])); };
    EXPECT_EQ(Compressed(sums.h), sum("h"));
    EXPECT_EQ(Compressed(sums.l), sum("l"));
    EXPECT_EQ(Compressed(sums.a), sum("a"));
    EXPECT_EQ(Compressed(sums.b_g1), sum("b_g1"));
    EXPECT_EQ(Compressed(sums.b_g2), sum("b_g2"));
    groth16::Blinding blinding{Scalar(recorded["r"]), Scalar(recorded["s"])};
    auto proof = Must(groth16::Assemble(parameters_->verifying_key(), sums, blinding));
    EXPECT_EQ(ToHex(proof.ToBytes()), std::string(std::string_view(recorded["proof"])));
    statements.push_back({proof, partition.public_inputs});
    ++proofs_;
  }

  void ProveDirectory(const std::filesystem::path& directory, r1cs::Layout layout) {
    SCOPED_TRACE(directory.filename().string());
    auto parsed = Must(filecoin::ParseRequest(Must(filecoin::ReadRequestDirectory(directory)).request));
    simdjson::dom::parser parser;
    element expected = parser.load((directory / "expected.json").string());
    std::vector<groth16::Statement> statements;
    size_t k = 0;
    for (element recorded : expected["partitions"].get_array()) {
      ASSERT_LT(k, parsed.partitions.size());
      ProvePartition(parsed.partitions[k++], recorded, layout, statements);
    }
    EXPECT_TRUE(Must(groth16::Verifier(parameters_->verifying_key()).FindWrong(statements, pool_)).empty());
  }

  ThreadPool pool_{0};
  std::unique_ptr<CudaDevice> device_ = Must(MakeCudaDevice({.pool = &pool_}));
  circuit::CircuitSpec spec_;
  std::shared_ptr<const r1cs::Shape> shape_;
  std::shared_ptr<const prover::ResidentParameters> parameters_;
  int proofs_ = 0;
};

TEST_P(RecordedProofs, AreEqualByteForByteInEveryPlacement) {
  auto [kind, layout] = GetParam();
  const filecoin::Circuit* circuit = Must(filecoin::CircuitByNames(kind, "2KiB"));
  const char* folder = std::getenv("CUZK_TEST_PARAMETERS");
  std::filesystem::path path = std::filesystem::path(folder != nullptr ? folder : ".") / circuit->params_file();
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  spec_ = filecoin::SpecOf(*circuit);
  shape_ = Must(circuit::MakeShape(spec_));
  const auto cases = PlacementCases(*device_, *shape_, layout, 2);
  EXPECT_GE(cases.size(), 3u);
  for (const PlacementCase& placement : cases) {
    SCOPED_TRACE(placement.name);
    const int before = proofs_;
    parameters_.reset();
    parameters_ =
        Must(device_->Load(Must(groth16::ParameterFile::Open(path, groth16::SectionCounts::Of(*shape_))), shape_,
                           {.plan = {.workers = placement.workers, .memory_cap = placement.cap, .layout = layout}}));
    for (const auto& directory : Directories(kind)) ProveDirectory(directory, layout);
    EXPECT_GT(proofs_, before);
    std::printf("  %s, %s: %d proofs\n", kind, placement.name.c_str(), proofs_ - before);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, RecordedProofs,
                         ::testing::Combine(::testing::Values("window", "winning", "snap", "porep"),
                                            ::testing::Values(r1cs::Layout::kNarrow, r1cs::Layout::kPlain)));

}  // namespace
}  // namespace cuzk::gpu::testing
