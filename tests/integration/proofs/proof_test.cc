// From the request as Curio sends it to the bytes of the proof: everything that the reference recorded on the way.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/algebra/curve/point_io.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/circuit/circuit.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/request_directory.h"
#include "core/groth16/verifier.h"
#include "core/prover/cpu/cpu_device.h"
#include "core/prover/cpu/quotient.h"
#include "tests/fixtures.h"

namespace cuzk {
namespace {

using algebra::Fr;
using simdjson::dom::element;

algebra::Arithmetic ChosenArithmetic() {
  return algebra::ResolveArithmetic(std::getenv("CUZK_CPU_ARITHMETIC")).value();
}

Fr Scalar(std::string_view hex) { return algebra::FrFromBytes(Bytes32FromHex(hex).value(), "scalar").value(); }
std::string Compressed(const algebra::G1& p) { return ToHex(algebra::WriteG1Compressed(ToAffine(p))); }
std::string Compressed(const algebra::G2& p) { return ToHex(algebra::WriteG2Compressed(ToAffine(p))); }

/// BLAKE2s-256 over the canonical bytes of elements that `fill(begin, out)` gives.
template <class Fill>
std::string DigestOf(uint64_t count, ThreadPool& pool, Fill fill) {
  constexpr uint64_t kPiece = uint64_t{1} << 18;
  Hasher hasher(HashKind::kBlake2s256);
  std::vector<Fr> elements;
  std::vector<uint8_t> bytes;
  for (uint64_t begin = 0; begin < count; begin += kPiece) {
    elements.resize(std::min(kPiece, count - begin));
    bytes.resize(elements.size() * 32);
    fill(begin, std::span<Fr>(elements));
    pool.ParallelFor(elements.size(), 4096, [&](size_t from, size_t to) {
      for (size_t i = from; i < to; ++i) std::ranges::copy(elements[i].ToBytesLe(), bytes.data() + i * 32);
    });
    hasher.Update(bytes);
  }
  return ToHex(hasher.Finish32());
}

std::string DigestOf(const r1cs::IndexSet& set) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(set.words().data());
  return ToHex(Blake2s256({bytes, (set.size() + 7) / 8}));
}

/// Directories of a kind with recorded sums: of the repository, and where it exists of the full set.
std::vector<std::filesystem::path> Directories(std::string_view kind, std::string_view size) {
  std::vector<std::filesystem::path> roots = {testing_support::Vectors() / "filecoin"};
  if (auto fixtures = testing_support::Fixtures()) roots.push_back(*fixtures);
  std::vector<std::filesystem::path> out;
  std::set<std::string> seen;
  for (const auto& root : roots) {
    if (!std::filesystem::exists(root / kind)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(root / kind)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(StrCat(size, "-")) || name.find("-ni-") != std::string::npos) continue;
      if (std::filesystem::exists(entry.path() / "expected.json") && seen.insert(name).second)
        out.push_back(entry.path());
    }
  }
  return out;
}

class ProofTest : public testing::Test {
 protected:
  /// Proves every recorded partition of a kind and compares all that was recorded.
  void ProveAll(const std::string& kind, const std::string& size, r1cs::Layout layout) {
    const filecoin::Circuit* circuit = filecoin::CircuitByNames(kind, size).value();
    spec_ = filecoin::SpecOf(*circuit);
    shape_ = circuit::MakeShape(spec_).value();
    auto file = groth16::ParameterFile::Open(std::filesystem::path(CUZK_TEST_PARAMETERS) / circuit->params_file(),
                                             groth16::SectionCounts::Of(*shape_));
    ASSERT_TRUE(file.ok()) << file.status();
    parameters_ = device_->Load(*file, shape_, {}).value();
    const auto directories = Directories(kind, size);
    if (size != "2KiB" && directories.empty()) GTEST_SKIP() << "needs the full set of ground truth";
    ASSERT_FALSE(directories.empty());
    for (const auto& directory : directories) {
      SCOPED_TRACE(directory.filename().string());
      ProveDirectory(directory, layout);
    }
  }

 private:
  void ProveDirectory(const std::filesystem::path& directory, r1cs::Layout layout) {
    auto request = filecoin::ReadRequestDirectory(directory);
    ASSERT_TRUE(request.ok()) << request.status();
    auto parsed = filecoin::ParseRequest(std::move(request->request));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    simdjson::dom::parser parser;
    element expected = parser.load((directory / "expected.json").string());
    std::vector<element> recorded;
    for (element partition : expected["partitions"].get_array()) recorded.push_back(partition);
    ASSERT_EQ(recorded.size(), parsed->partitions.size());
    std::vector<groth16::Statement> statements;
    for (size_t k = 0; k < recorded.size(); ++k) {
      SCOPED_TRACE(k);
      ProvePartition(parsed->partitions[k], recorded[k], layout, statements);
    }
    const groth16::Verifier verifier(parameters_->verifying_key());
    EXPECT_THAT(verifier.FindWrong(statements, pool_).value(), testing::IsEmpty());
  }

  void ProvePartition(const filecoin::Partition& partition, element recorded, r1cs::Layout layout,
                      std::vector<groth16::Statement>& statements) {
    auto lease = memory::Lease::Standalone(device_->host_allocator(), r1cs::LeaseLayout::For(*shape_, layout).bytes);
    auto witness = circuit::WriteWitness(spec_, partition.inputs, {shape_, layout, *std::move(lease)}, pool_);
    ASSERT_TRUE(witness.ok()) << witness.status();
    ExpectWitness(*witness, recorded);
    std::vector<Fr> public_inputs;
    for (std::string_view input : recorded["public_inputs"].get_array()) public_inputs.push_back(Scalar(input));
    EXPECT_TRUE(partition.public_inputs == public_inputs);

    auto pending = device_->Start(parameters_, *std::move(witness), {});
    ASSERT_TRUE(pending.ok()) << pending.status();
    const groth16::MsmResults sums = (*pending)->Finish().value();
    auto sum = [&](const char* query) { return std::string(std::string_view(recorded["msm"][query])); };
    EXPECT_EQ(Compressed(sums.h), sum("h"));
    EXPECT_EQ(Compressed(sums.l), sum("l"));
    EXPECT_EQ(Compressed(sums.a), sum("a"));
    EXPECT_EQ(Compressed(sums.b_g1), sum("b_g1"));
    EXPECT_EQ(Compressed(sums.b_g2), sum("b_g2"));
    const groth16::Blinding blinding{Scalar(recorded["r"]), Scalar(recorded["s"])};
    auto proof = groth16::Assemble(parameters_->verifying_key(), sums, blinding);
    ASSERT_TRUE(proof.ok()) << proof.status();
    EXPECT_EQ(ToHex(proof->ToBytes()), std::string(std::string_view(recorded["proof"])));
    statements.push_back({*proof, public_inputs});
  }

  void ExpectWitness(const r1cs::Witness& witness, element recorded) {
    auto digest = [&](const char* of) { return std::string(std::string_view(recorded[of]["blake2s"])); };
    auto bitmap = [&](const char* of) { return std::string(std::string_view(recorded[of]["blake2s_of_bitmap"])); };
    const r1cs::ShapeCounts& counts = shape_->counts;
    auto rows = [&](r1cs::Matrix matrix) {
      return DigestOf(counts.rows_with_inputs(), pool_,
                      [&](uint64_t begin, std::span<Fr> out) { witness.ExpandRows(matrix, begin, out); });
    };
    EXPECT_EQ(rows(r1cs::Matrix::kA), digest("a"));
    EXPECT_EQ(rows(r1cs::Matrix::kB), digest("b"));
    EXPECT_EQ(rows(r1cs::Matrix::kC), digest("c"));
    EXPECT_EQ(DigestOf(counts.aux, pool_, [&](uint64_t begin, std::span<Fr> out) { witness.ExpandAux(begin, out); }),
              digest("aux"));
    EXPECT_EQ(DigestOf(counts.inputs, pool_,
                       [&](uint64_t begin, std::span<Fr> out) {
                         std::ranges::copy(witness.inputs().subspan(begin, out.size()), out.begin());
                       }),
              digest("inputs"));
    EXPECT_EQ(DigestOf(shape_->a_aux), bitmap("a_aux_density"));
    EXPECT_EQ(DigestOf(shape_->b_aux), bitmap("b_aux_density"));
    EXPECT_EQ(DigestOf(shape_->b_input), bitmap("b_input_density"));

    const algebra::Domain domain(counts.log2_domain(), ChosenArithmetic());
    auto h = prover::QuotientOf(witness, domain, {.allocator = &device_->host_allocator(), .pool = &pool_});
    ASSERT_TRUE(h.ok()) << h.status();
    EXPECT_EQ(DigestOf(domain.size() - 1, pool_,
                       [&](uint64_t begin, std::span<Fr> out) {
                         std::ranges::copy(h->span().subspan(begin, out.size()), out.begin());
                       }),
              digest("h"));
    EXPECT_TRUE(h->span().back().IsZero());
  }

  ThreadPool pool_{0};
  std::unique_ptr<prover::Device> device_ = prover::MakeCpuDevice({.pool = &pool_, .arithmetic = ChosenArithmetic()});
  circuit::CircuitSpec spec_;
  std::shared_ptr<const r1cs::Shape> shape_;
  std::shared_ptr<const prover::ResidentParameters> parameters_;
};

TEST_F(ProofTest, Window2KiB) { ProveAll("window", "2KiB", r1cs::Layout::kNarrow); }
TEST_F(ProofTest, Window2KiBPlainLayout) { ProveAll("window", "2KiB", r1cs::Layout::kPlain); }
TEST_F(ProofTest, Winning2KiB) { ProveAll("winning", "2KiB", r1cs::Layout::kNarrow); }
TEST_F(ProofTest, Window8MiB) { ProveAll("window", "8MiB", r1cs::Layout::kNarrow); }
TEST_F(ProofTest, Winning8MiB) { ProveAll("winning", "8MiB", r1cs::Layout::kNarrow); }
TEST_F(ProofTest, Snap2KiB) { ProveAll("snap", "2KiB", r1cs::Layout::kNarrow); }
TEST_F(ProofTest, Porep2KiB) { ProveAll("porep", "2KiB", r1cs::Layout::kNarrow); }

}  // namespace
}  // namespace cuzk
