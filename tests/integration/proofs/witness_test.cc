// From recorded requests to witnesses: assignment, rows and densities as the reference recorded them, in both layouts,
// with the first chunk that differs and the name of its first row where they do not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/circuit/circuit.h"
#include "core/filecoin/format/recorded_witness.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/request_directory.h"
#include "core/memory/host_allocator.h"
#include "tests/fixtures.h"

namespace cuzk::filecoin {
namespace {

using algebra::Fr;
using simdjson::dom::element;
using testing_support::Fixtures;
using testing_support::Vectors;

std::string Text(element from) { return std::string(from.get_string().value()); }

/// Gives the elements [begin, begin + out.size()) of a vector.
using Fill = std::function<void(uint64_t begin, std::span<Fr> out)>;

/// Where a vector first differs from what was recorded.
struct Difference {
  std::string text;      // empty: none
  uint64_t element = 0;  // first of the first chunk that differs
};

/// Compares length, every chunk that was recorded, and the whole.
Difference Compare(element recorded, uint64_t chunk, uint64_t length, const Fill& fill, ThreadPool& pool) {
  if (recorded["len"].get_uint64().value() != length) return {"length", 0};
  simdjson::dom::array chunks;
  bool chunked = recorded["chunks"].get(chunks) == simdjson::SUCCESS;
  Hasher whole(HashKind::kBlake2s256);
  std::vector<Fr> elements;
  std::vector<uint8_t> bytes;
  for (uint64_t begin = 0, k = 0; begin < length; begin += chunk, ++k) {
    elements.resize(std::min(chunk, length - begin));
    bytes.resize(32 * elements.size());
    fill(begin, elements);
    pool.ParallelFor(elements.size(), 4096, [&](size_t from, size_t to) {
      for (size_t i = from; i < to; ++i) std::ranges::copy(elements[i].ToBytesLe(), bytes.data() + 32 * i);
    });
    whole.Update(bytes);
    if (chunked && ToHex(Blake2s256(bytes)) != Text(chunks.at(k).value())) return {StrCat("chunk ", k), begin};
  }
  if (ToHex(whole.Finish32()) != Text(recorded["blake2s"])) return {"whole", 0};
  return {};
}

void ExpectDensity(element partition, std::string_view name, const r1cs::IndexSet& set) {
  element recorded;
  if (partition[name].get(recorded) != simdjson::SUCCESS) return;
  EXPECT_EQ(recorded["len"].get_uint64().value(), set.size()) << name;
  EXPECT_EQ(recorded["ones"].get_uint64().value(), set.count()) << name;
  ByteSpan bytes(reinterpret_cast<const uint8_t*>(set.words().data()), (set.size() + 7) / 8);
  EXPECT_EQ(Text(recorded["blake2s_of_bitmap"]), ToHex(Blake2s256(bytes))) << name;
}

class WitnessTest : public ::testing::Test {
 protected:
  /// Writes the partition's witness in a layout and compares everything.
  void Check(const ParsedRequest& parsed, uint32_t partition, element recorded, uint64_t chunk, r1cs::Layout layout) {
    SCOPED_TRACE(StrCat("partition ", partition, ", ", r1cs::LayoutName(layout)));
    circuit::CircuitSpec spec = SpecOf(*parsed.proof->circuit);
    auto lease = memory::Lease::Standalone(allocator_, r1cs::LeaseLayout::For(*shape_, layout).bytes);
    ASSERT_TRUE(lease.ok()) << lease.status();
    auto witness =
        circuit::WriteWitness(spec, parsed.partitions.at(partition).inputs, {shape_, layout, *std::move(lease)}, pool_);
    ASSERT_TRUE(witness.ok()) << witness.status();
    const std::vector<Fr>& inputs = parsed.partitions[partition].public_inputs;
    EXPECT_TRUE(std::ranges::equal(witness->inputs().subspan(1), inputs));
    Fill fill_inputs = [&](uint64_t begin, std::span<Fr> out) {
      std::ranges::copy(witness->inputs().subspan(begin, out.size()), out.begin());
    };
    EXPECT_EQ(Compare(recorded["inputs"], chunk, witness->inputs().size(), fill_inputs, pool_).text, "");
    Fill fill_aux = [&](uint64_t begin, std::span<Fr> out) { witness->ExpandAux(begin, out); };
    EXPECT_EQ(Compare(recorded["aux"], chunk, shape_->counts.aux, fill_aux, pool_).text, "");
    const std::pair<const char*, r1cs::Matrix> matrices[] = {
        {"a", r1cs::Matrix::kA}, {"b", r1cs::Matrix::kB}, {"c", r1cs::Matrix::kC}};
    for (auto [name, matrix] : matrices) {
      Fill fill = [&, m = matrix](uint64_t begin, std::span<Fr> out) { witness->ExpandRows(m, begin, out); };
      Difference found = Compare(recorded[name], chunk, shape_->counts.rows_with_inputs(), fill, pool_);
      if (found.text.empty()) continue;
      auto row = circuit::NameOfRow(spec, found.element);
      ADD_FAILURE() << name << ": " << found.text << ", which begins in "
                    << (row.ok() ? *row : row.status().ToString());
    }
    ExpectDensity(recorded, "a_aux_density", shape_->a_aux);
    ExpectDensity(recorded, "b_aux_density", shape_->b_aux);
    ExpectDensity(recorded, "b_input_density", shape_->b_input);
  }

  void MakeShape(const Circuit& circuit) {
    if (shape_circuit_ == &circuit) return;
    auto shape = circuit::MakeShape(SpecOf(circuit));
    ASSERT_TRUE(shape.ok()) << shape.status();
    shape_ = *std::move(shape);
    shape_circuit_ = &circuit;
  }

  StatusOr<ParsedRequest> Parse(const std::filesystem::path& directory) {
    CUZK_ASSIGN_OR_RETURN(DirectoryRequest read, ReadRequestDirectory(directory));
    return ParseRequest(std::move(read.request), {.allow_non_interactive = true});
  }

  /// Every directory of the kind that has recorded values.
  void CheckKind(const char* kind) {
    std::vector<std::filesystem::path> roots = {Vectors() / "filecoin"};
    if (auto fixtures = Fixtures()) roots.push_back(*fixtures);
    std::set<std::filesystem::path> seen;
    for (const auto& root : roots) {
      for (const auto& entry : std::filesystem::directory_iterator(root / kind)) {
        if (!std::filesystem::exists(entry.path() / "expected.json")) continue;
        if (seen.insert(entry.path().filename()).second) CheckDirectory(entry.path());
      }
    }
    EXPECT_FALSE(seen.empty());
  }

  void CheckDirectory(const std::filesystem::path& directory) {
    SCOPED_TRACE(directory.string());
    auto parsed = Parse(directory);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    MakeShape(*parsed->proof->circuit);
    simdjson::dom::parser parser;
    element root = parser.load((directory / "expected.json").string());
    simdjson::dom::array partitions = root["partitions"].get_array();
    ASSERT_EQ(partitions.size(), parsed->partitions.size());
    for (uint32_t k = 0; k < partitions.size(); ++k) {
      Check(*parsed, k, partitions.at(k).value(), 65536, r1cs::Layout::kNarrow);
      if (k == 0) Check(*parsed, k, partitions.at(k).value(), 65536, r1cs::Layout::kPlain);
    }
  }

  /// Digests of one partition, streamed.
  RecordedWitness Digest(const ParsedRequest& parsed, uint32_t partition, uint64_t chunk) {
    RecordedWitness made{.chunk_elements = chunk, .digest = {}};
    circuit::WitnessDigestOptions options{.chunk_elements = chunk, .progress = {}};
    auto digest = circuit::DigestWitness(
        {SpecOf(*parsed.proof->circuit), *shape_, parsed.partitions.at(partition).inputs}, options, pool_);
    EXPECT_TRUE(digest.ok()) << digest.status();
    if (digest.ok()) made.digest = *std::move(digest);
    return made;
  }

  /// A production-size request: its digests are the recorded ones, and the text is the recorded one to the byte.
  void CheckBig(const char* name, std::vector<uint32_t> partitions) {
    auto fixtures = Fixtures();
    if (!fixtures) GTEST_SKIP() << "needs the full set of ground truth";
    std::filesystem::path directory = *fixtures / "big" / name;
    auto parsed = Parse(directory);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    MakeShape(*parsed->proof->circuit);
    for (uint32_t k : partitions) {
      const std::filesystem::path path = directory / StrCat("witness-", k, ".json");
      auto recorded = ReadWitnessJson(path, k);
      ASSERT_TRUE(recorded.ok()) << recorded.status();
      const RecordedWitness made = Digest(*parsed, k, recorded->chunk_elements);
      EXPECT_THAT(*Differences(SpecOf(*parsed->proof->circuit), made, *recorded), ::testing::IsEmpty());
      auto text = ReadFile(path);
      ASSERT_TRUE(text.ok());
      EXPECT_EQ(WitnessJson(made), *text);
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    EXPECT_LT(usage.ru_maxrss, 8 << 20) << "KiB at the peak";
  }

  memory::AlignedAllocator allocator_;
  ThreadPool pool_{0};
  std::shared_ptr<const r1cs::Shape> shape_;
  const Circuit* shape_circuit_ = nullptr;
};

TEST_F(WitnessTest, Porep) { CheckKind("porep"); }
TEST_F(WitnessTest, Window) { CheckKind("window"); }
TEST_F(WitnessTest, Winning) { CheckKind("winning"); }
TEST_F(WitnessTest, Snap) { CheckKind("snap"); }

/// What is said where chunk `k` of a vector is recorded otherwise.
std::vector<std::string> AfterChange(const circuit::CircuitSpec& spec, const RecordedWitness& made,
                                     circuit::VectorDigest circuit::WitnessDigest::*vector, size_t k) {
  RecordedWitness changed = made;
  (changed.digest.*vector).chunks.at(k)[31] ^= 1;
  return *Differences(spec, made, changed);
}

TEST_F(WitnessTest, TheFirstChunkThatDiffersIsNamed) {
  auto parsed = Parse(Vectors() / "filecoin" / "porep" / "2KiB-v1_1-1000-84");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  MakeShape(*parsed->proof->circuit);
  const circuit::CircuitSpec spec = SpecOf(*parsed->proof->circuit);
  const RecordedWitness made = Digest(*parsed, 0, 65536);
  EXPECT_THAT(*Differences(spec, made, made), ::testing::IsEmpty());

  // Through the text and back.
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / StrCat("witness-", getpid(), ".json");
  ASSERT_TRUE(WriteFile(path, AsBytes(WitnessJson(made))).ok());
  auto read = ReadWitnessJson(path, 0);
  std::filesystem::remove(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(WitnessJson(*read), WitnessJson(made));
  EXPECT_THAT(*Differences(spec, made, *read), ::testing::IsEmpty());

  RecordedWitness changed = made;
  changed.digest.rows[0].chunks.at(2)[0] ^= 1;
  changed.digest.rows[0].chunks.at(30)[0] ^= 1;
  const std::string row = circuit::NameOfRow(spec, 2 * 65536).value();
  EXPECT_THAT(row, ::testing::StartsWith("challenge 0/comm_d path/level 2/sha256/block "));
  EXPECT_THAT(*Differences(spec, made, changed),
              ::testing::ElementsAre(StrCat("a: chunk 2 differs, which begins with row 131072, in ", row)));
  EXPECT_THAT(AfterChange(spec, made, &circuit::WitnessDigest::aux, 40),
              ::testing::ElementsAre(::testing::AllOf(
                  ::testing::StartsWith("aux: chunk 40 differs, which begins with aux 2621440, in challenge 1/"),
                  ::testing::HasSubstr("label of layer 2/sha256/block "))));
  EXPECT_THAT(AfterChange(spec, made, &circuit::WitnessDigest::inputs_digest, 0),
              ::testing::ElementsAre("inputs: chunk 0 differs, which begins with input 0"));
  changed = made;
  changed.digest.inputs[5] += Fr::One();
  changed.digest.rows[2].length += 1;
  changed.digest.rows[1].blake2s[0] ^= 1;
  EXPECT_THAT(*Differences(spec, made, changed),
              ::testing::ElementsAre("public input 5 differs", "b: differs as a whole, though no chunk does",
                                     "c: has 2687961 elements instead of 2687962"));
}

TEST_F(WitnessTest, BigPorep) { CheckBig("porep-32GiB-a", {0, 7}); }
TEST_F(WitnessTest, BigWindow) { CheckBig("window-32GiB-a", {0}); }
TEST_F(WitnessTest, BigSnap) { CheckBig("snap-32GiB-a", {5}); }

}  // namespace
}  // namespace cuzk::filecoin
