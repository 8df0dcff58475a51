// Whole small circuits: the two bodies and the two layouts of the writer against the checker, and relations that do not
// hold.
#include <gtest/gtest.h>

#include "core/circuit/circuit.h"
#include "core/circuit/kinds.h"
#include "core/circuit/witness_stream.h"
#include "core/circuit/write.h"
#include "core/memory/host_allocator.h"
#include "tests/unit/circuit/instances.h"

namespace cuzk::circuit {
namespace {

using r1cs::Layout;
using r1cs::Matrix;

struct Instance {
  const char* name;
  CircuitSpec spec;
  PartitionInputs inputs;
};

std::vector<Instance> Instances() {
  const PorepSpec porep = SmallPorep({8, 8, 0, 0}), deep = SmallPorep({64, 8, 4, 2});
  PorepSpec two = SmallPorep({16, 8, 2, 0});
  two.challenges = 2;
  return {{"Porep800", porep, MakePorep(porep, 1)},
          {"Porep842", deep, MakePorep(deep, 2)},
          {"PorepTwoChallenges", two, MakePorep(two, 3)},
          {"Post", SmallPost(), MakePost(SmallPost(), 4)},
          {"Update", SmallUpdate(), MakeUpdate(SmallUpdate(), 5)}};
}

class WholeCircuit : public testing::TestWithParam<Instance> {
 protected:
  using Write =
      std::function<StatusOr<r1cs::Witness>(const CircuitSpec&, const PartitionInputs&, WitnessPlace, ThreadPool&)>;
  StatusOr<r1cs::Witness> Run(const Write& write, Layout layout, size_t threads, const PartitionInputs& inputs) {
    const CircuitSpec& spec = GetParam().spec;
    ThreadPool pool(threads);
    if (!shape_) {
      CUZK_ASSIGN_OR_RETURN(shape_, MakeShape(spec));
    }
    CUZK_ASSIGN_OR_RETURN(memory::Lease lease,
                          memory::Lease::Standalone(allocator_, r1cs::LeaseLayout::For(*shape_, layout).bytes));
    // Whatever was there before must not matter.
    std::memset(lease.bytes().data(), 0xa5, lease.bytes().size());
    return write(spec, inputs, {shape_, layout, std::move(lease)}, pool);
  }

  memory::AlignedAllocator allocator_;
  std::shared_ptr<const r1cs::Shape> shape_;
};

TEST_P(WholeCircuit, IsSatisfied) {
  const Status status = CheckSatisfied(GetParam().spec, GetParam().inputs);
  EXPECT_TRUE(status.ok()) << status;
}

/// Everything that a checker assigned and evaluated.
r1cs::Checker Check(const CircuitSpec& spec, const PartitionInputs& inputs) {
  r1cs::Checker checker;
  std::visit(
      [&](const auto& one) {
        using K = Kind<std::decay_t<decltype(one)>>;
        MakeAll(typename K::template Circuit<r1cs::Checker>(one, &std::get<typename K::Inputs>(inputs)), checker);
      },
      spec);
  return checker;
}

TEST_P(WholeCircuit, EveryWriterEqualsTheChecker) {
  const r1cs::Checker checker = Check(GetParam().spec, GetParam().inputs);
  std::vector<Write> writers = {&WriteWitnessPlainBodies};
  for (const auto arithmetic : {algebra::Arithmetic::kScalar, algebra::Arithmetic::kIfma}) {
    if (!algebra::IsSupported(arithmetic)) continue;
    writers.push_back([arithmetic](const auto& spec, const auto& inputs, WitnessPlace place, ThreadPool& pool) {
      return WriteWitness(spec, inputs, std::move(place), pool, arithmetic);
    });
  }
  for (const Write& write : writers) {
    for (Layout layout : {Layout::kPlain, Layout::kNarrow}) {
      const auto witness = Run(write, layout, 3, GetParam().inputs);
      ASSERT_TRUE(witness.ok()) << witness.status();
      ASSERT_EQ(shape_->counts.aux, checker.aux().size());
      EXPECT_TRUE(std::ranges::equal(witness->inputs(), checker.inputs()));
      std::vector<Fr> aux(shape_->counts.aux);
      witness->ExpandAux(0, aux);
      EXPECT_TRUE(aux == checker.aux()) << LayoutName(layout);
      for (size_t m = 0; m < r1cs::kMatrixCount; ++m) {
        std::vector<Fr> want = checker.rows()[m];
        for (const Fr& input : checker.inputs()) want.push_back(m == 0 ? input : Fr::Zero());
        std::vector<Fr> rows(want.size());
        witness->ExpandRows(static_cast<Matrix>(m), 0, rows);
        EXPECT_TRUE(rows == want) << "matrix " << m << ", " << LayoutName(layout);
      }
    }
  }
}

/// The digest of a vector the direct way.
VectorDigest HashOf(const std::vector<Fr>& values, uint64_t chunk) {
  VectorDigest digest;
  digest.length = values.size();
  std::vector<uint8_t> bytes;
  for (const Fr& x : values) {
    const Fr::Bytes le = x.ToBytesLe();
    bytes.insert(bytes.end(), le.begin(), le.end());
  }
  digest.blake2s = Blake2s256(bytes);
  for (size_t i = 0; i < bytes.size(); i += 32 * chunk) {
    digest.chunks.push_back(Blake2s256(ByteSpan(bytes).subspan(i, std::min<size_t>(32 * chunk, bytes.size() - i))));
  }
  return digest;
}

void ExpectSame(const VectorDigest& got, const VectorDigest& want) {
  EXPECT_EQ(got.length, want.length);
  EXPECT_EQ(got.blake2s, want.blake2s);
  EXPECT_EQ(got.chunks, want.chunks);
}

TEST_P(WholeCircuit, StreamedDigestIsThatOfTheCheckersValues) {
  const r1cs::Checker checker = Check(GetParam().spec, GetParam().inputs);
  ThreadPool pool(2);
  const auto shape = MakeShape(GetParam().spec);
  ASSERT_TRUE(shape.ok());
  constexpr uint64_t kChunk = 10000;
  const auto digest =
      DigestWitness({GetParam().spec, **shape, GetParam().inputs}, {.chunk_elements = kChunk, .progress = {}}, pool);
  ASSERT_TRUE(digest.ok()) << digest.status();
  EXPECT_TRUE(digest->inputs == checker.inputs());
  ExpectSame(digest->inputs_digest, HashOf(checker.inputs(), kChunk));
  ExpectSame(digest->aux, HashOf(checker.aux(), kChunk));
  for (size_t m = 0; m < r1cs::kMatrixCount; ++m) {
    std::vector<Fr> rows = checker.rows()[m];
    for (const Fr& input : checker.inputs()) rows.push_back(m == 0 ? input : Fr::Zero());
    ExpectSame(digest->rows[m], HashOf(rows, kChunk));
  }
}

TEST_P(WholeCircuit, StretchesOfAnySizeShowTheSame) {
  ThreadPool pool(2);
  const auto shape = MakeShape(GetParam().spec);
  ASSERT_TRUE(shape.ok());
  for (Layout layout : {Layout::kPlain, Layout::kNarrow}) {
    std::vector<std::vector<Fr>> seen;
    for (uint64_t bytes : {uint64_t{1}, uint64_t{3} << 20, uint64_t{1} << 40}) {
      std::vector<Fr>& all = seen.emplace_back();
      auto sink = [&all](const r1cs::WitnessView& view) {
        std::vector<Fr> piece(view.end().aux - view.begin().aux);
        view.ExpandAux(view.begin().aux, piece);
        all.insert(all.end(), piece.begin(), piece.end());
      };
      const StreamOptions options{.layout = layout, .stretch_bytes = bytes};
      ASSERT_TRUE(StreamWitness({GetParam().spec, **shape, GetParam().inputs}, options, sink, pool).ok());
    }
    EXPECT_EQ(seen[0].size(), (*shape)->counts.aux);
    EXPECT_TRUE(seen[0] == seen[1]);
    EXPECT_TRUE(seen[0] == seen[2]);
  }
}

TEST_P(WholeCircuit, ShapeIsThatOfOneRecorderThroughout) {
  const auto by_blocks = MakeShape(GetParam().spec);
  ASSERT_TRUE(by_blocks.ok());
  r1cs::ShapeRecorder recorder;
  ASSERT_TRUE(RecordCircuit(GetParam().spec, recorder).ok());
  r1cs::ShapeBuilder builder;
  builder.Append(std::move(recorder).Take());
  const r1cs::Shape whole = std::move(builder).Finish();
  EXPECT_EQ((*by_blocks)->counts, whole.counts);
  EXPECT_EQ((*by_blocks)->a_aux, whole.a_aux);
  EXPECT_EQ((*by_blocks)->b_aux, whole.b_aux);
  EXPECT_EQ((*by_blocks)->b_input, whole.b_input);
  EXPECT_EQ((*by_blocks)->boolean_aux, whole.boolean_aux);
  EXPECT_EQ((*by_blocks)->wide, whole.wide);
}

INSTANTIATE_TEST_SUITE_P(Small, WholeCircuit, testing::ValuesIn(Instances()),
                         [](const auto& info) { return std::string(info.param.name); });

/// What the writer says of an instance in which something was changed.
template <class Inputs, class Spec>
std::string Refusal(const Spec& spec, Inputs inputs, void (*change)(Inputs&)) {
  change(inputs);
  ThreadPool pool(2);
  memory::AlignedAllocator allocator;
  const auto shape = MakeShape(spec);
  if (!shape.ok()) return shape.status().ToString();
  auto lease = memory::Lease::Standalone(allocator, r1cs::LeaseLayout::For(**shape, Layout::kNarrow).bytes);
  const auto witness = WriteWitness(spec, inputs, {*shape, Layout::kNarrow, *std::move(lease)}, pool);
  // The circuit must agree that it does not hold.
  EXPECT_FALSE(CheckSatisfied(spec, inputs).ok());
  return witness.ok() ? "accepted" : std::string(witness.status().message());
}

TEST(BrokenRelation, OfPorepIsNamed) {
  PorepSpec spec = SmallPorep({16, 8, 2, 0});
  spec.challenges = 2;
  const PorepInputs good = MakePorep(spec, 7);
  struct Case {
    void (*change)(PorepInputs&);
    const char* text;
  };
  const Case cases[] = {
      {[](PorepInputs& p) { p.comm_r += Fr::One(); }, "comm_r: is not the hash of comm_c and comm_r_last"},
      {[](PorepInputs& p) { p.challenges[1].comm_d_path.siblings[2] += Fr::One(); },
       "challenge 1: comm_d path: does not lead to its root"},
      {[](PorepInputs& p) { p.challenges[0].parents[3].labels[1] += Fr::One(); },
       "challenge 0: column hash of drg parent 3: is not the leaf of its inclusion proof"},
      {[](PorepInputs& p) { p.challenges[0].parents[7].comm_c_path.leaf_index ^= 1; },
       "challenge 0: comm_c path of expander parent 1: does not lead to its root"},
      {[](PorepInputs& p) { p.challenges[1].comm_r_last_path.siblings[0] += Fr::One(); },
       "challenge 1: comm_r_last path: does not lead to its root"},
      {[](PorepInputs& p) { p.challenges[1].comm_c_path.siblings[7] += Fr::One(); },
       "challenge 1: comm_c path: does not lead to its root"},
      // Another node makes other labels.
      {[](PorepInputs& p) { p.challenges[1].challenge ^= 1; },
       "challenge 1: label of layer 1: is not the one that its parents give"},
      {[](PorepInputs& p) { p.challenges[0].claimed_labels[1] += Fr::One(); },
       "challenge 0: label of layer 2: is not the one that its parents give"},
      {[](PorepInputs& p) { *p.challenges[1].claimed_column_hash += Fr::One(); },
       "challenge 1: column hash: is not the leaf of its inclusion proof"},
      {[](PorepInputs& p) { *p.challenges[1].parents[12].claimed_hash += Fr::One(); },
       "challenge 1: column hash of expander parent 6: is not the leaf of its inclusion proof"},
  };
  for (const Case& one : cases) EXPECT_EQ(Refusal(spec, good, one.change), one.text);

  // Without claims the rows tell, a step later.
  PorepInputs unclaimed = good;
  for (PorepChallenge& challenge : unclaimed.challenges) {
    challenge.claimed_labels.clear();
    challenge.claimed_column_hash.reset();
    for (PorepColumn& parent : challenge.parents) parent.claimed_hash.reset();
  }
  const Case later[] = {
      {[](PorepInputs& p) { p.challenges[0].parents[3].labels[1] += Fr::One(); },
       "challenge 0: comm_c path of drg parent 3: does not lead to its root"},
      {[](PorepInputs& p) { p.challenges[1].challenge ^= 1; },
       "challenge 1: comm_r_last path: does not lead to its root"},
  };
  for (const Case& one : later) EXPECT_EQ(Refusal(spec, unclaimed, one.change), one.text);
}

TEST(BrokenRelation, OfPostIsNamed) {
  const PostInputs good = MakePost(SmallPost(), 8);
  EXPECT_EQ(Refusal<PostInputs>(SmallPost(), good, [](PostInputs& p) { p.sectors[2].comm_c += Fr::One(); }),
            "sector 102 (item 2), comm_r: is not the hash of comm_c and comm_r_last");
  EXPECT_EQ(Refusal<PostInputs>(SmallPost(), good, [](PostInputs& p) { p.sectors[1].challenges[4].leaf += Fr::One(); }),
            "sector 101 (item 1), comm_r_last path of challenge 4: does not lead to its root");
  EXPECT_EQ(Refusal<PostInputs>(SmallPost(), good,
                                [](PostInputs& p) {
                                  p.sectors[0].challenges[1].leaf += Fr::One();
                                  p.sectors[2].comm_c += Fr::One();
                                }),
            "2 sectors are bad: 100, 102; sector 100 (item 0), comm_r_last path of challenge 1: does not lead to its "
            "root; sector 102 (item 2), comm_r: is not the hash of comm_c and comm_r_last");
  // The last sector stands for the missing ones: they all break with it, and it is named once.
  EXPECT_EQ(Refusal<PostInputs>(SmallPost(), good,
                                [](PostInputs& p) {
                                  p.sectors.resize(2);
                                  p.sectors[1].comm_c += Fr::One();
                                }),
            "sector 101 (item 1), comm_r: is not the hash of comm_c and comm_r_last");
}

TEST(BrokenRelation, OfUpdateIsNamed) {
  const UpdateInputs good = MakeUpdate(SmallUpdate(), 9);
  struct Case {
    void (*change)(UpdateInputs&);
    const char* text;
  };
  const Case cases[] = {
      {[](UpdateInputs& u) { u.root_r_old += Fr::One(); }, "comm_r_old: is not the hash of comm_c and the old root"},
      {[](UpdateInputs& u) { u.root_r_new += Fr::One(); }, "comm_r_new: is not the hash of comm_c and the new root"},
      {[](UpdateInputs& u) { u.apex_leaves[5] += Fr::One(); }, "apex leaves: do not lead to comm_d_new"},
      {[](UpdateInputs& u) { u.challenges[3].leaf_old += Fr::One(); },
       "challenge 3: new leaf: is not old + data * rho"},
      {[](UpdateInputs& u) { u.challenges[3].path_old.siblings[0] += Fr::One(); },
       "challenge 3: old replica path: does not lead to its root"},
      {[](UpdateInputs& u) { u.challenges[3].path_new.siblings[0] += Fr::One(); },
       "challenge 3: new replica path: does not lead to its root"},
      {[](UpdateInputs& u) { u.challenges[9].data_path.siblings[1] += Fr::One(); },
       "challenge 9: data path: does not lead to its apex leaf"},
  };
  for (const Case& one : cases) EXPECT_EQ(Refusal(SmallUpdate(), good, one.change), one.text);
}

TEST(WriteWitness, RefusesInputsOfOtherLengths) {
  const PostSpec spec = SmallPost();
  ThreadPool pool(1);
  memory::AlignedAllocator allocator;
  const auto shape = MakeShape(spec);
  ASSERT_TRUE(shape.ok());
  auto refusal = [&](const PartitionInputs& inputs) {
    auto lease = memory::Lease::Standalone(allocator, r1cs::LeaseLayout::For(**shape, Layout::kNarrow).bytes);
    const auto witness = WriteWitness(spec, inputs, {*shape, Layout::kNarrow, *std::move(lease)}, pool);
    return witness.ok() ? "accepted" : std::string(witness.status().message());
  };
  PostInputs inputs = MakePost(spec, 10);
  inputs.sectors[1].challenges[2].comm_r_last_path.siblings.pop_back();
  EXPECT_EQ(refusal(inputs), "sector 101 (item 1), comm_r_last path of challenge 2: siblings: 10 instead of 11");
  inputs = MakePost(spec, 10);
  inputs.sectors[0].challenges[0].comm_r_last_path.leaf_index = 64;
  EXPECT_EQ(refusal(inputs), "sector 100 (item 0), comm_r_last path of challenge 0: leaf index 64 is not below 64");
  inputs = MakePost(spec, 10);
  inputs.sectors[2].challenges.pop_back();
  EXPECT_EQ(refusal(inputs), "sector 102 (item 2), challenges: 4 instead of 5");
  inputs.sectors.clear();
  EXPECT_EQ(refusal(inputs), "sectors: 0 instead of 1 to 3");
  EXPECT_EQ(refusal(UpdateInputs{}), "the inputs belong to another kind of circuit");
}

TEST(WriteWitness, RepeatsTheLastSector) {
  const PostSpec spec = SmallPost();
  PostInputs inputs = MakePost(spec, 11);
  inputs.sectors.resize(2);
  EXPECT_TRUE(CheckSatisfied(spec, inputs).ok());
}

TEST(CheckSpec, RefusesWhatMakesNoCircuit) {
  auto message = [](const CircuitSpec& spec) { return std::string(CheckSpec(spec).message()); };
  EXPECT_EQ(message(PostSpec{{100, 8, 0, 0}, 1, 1}), "there is no tree of 100 leaves and arities 8-0-0");
  EXPECT_EQ(message(PostSpec{{16, 8, 0, 0}, 1, 1}), "arities 8-0-0 do not give 16 leaves");
  EXPECT_EQ(message(PostSpec{{8, 8, 0, 0}, 0, 1}), "a circuit has at least one sector and challenge");
  EXPECT_EQ(message(PorepSpec{{8, 2, 0, 0}, {8, 8, 0, 0}, 3, 1}), "there is no circuit of 3 layers");
}

TEST(NameOfRow, IsThePathToTheRow) {
  const PorepSpec spec = SmallPorep({8, 8, 0, 0});
  EXPECT_EQ(*NameOfRow(spec, 0), "replica_id/public input");
  EXPECT_EQ(*NameOfAux(spec, 0), "replica_id/public input");
  EXPECT_EQ(NameOfAux(spec, uint64_t{1} << 31).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(NameOfRow(spec, uint64_t{1} << 40).status().code(), absl::StatusCode::kNotFound);
}

/// Names every row as one recorder would see it, and every aux by the row that follows it.
class NamesSink : public r1cs::RowSink {
 public:
  explicit NamesSink(const r1cs::ShapeRecorder& recorder) : recorder_(recorder) {}
  void OnRow(const r1cs::Row&) override {
    rows.push_back(recorder_.names().Text());
    aux.resize(recorder_.position().aux, rows.back());
  }
  std::vector<std::string> rows, aux;

 private:
  const r1cs::ShapeRecorder& recorder_;
};

TEST(NameOfRow, IsThatOfTheWholeCircuitInEveryBlock) {
  PostSpec post = SmallPost();
  for (const CircuitSpec& spec : {CircuitSpec(post), CircuitSpec(SmallUpdate())}) {
    r1cs::ShapeRecorder recorder;
    NamesSink names(recorder);
    recorder.set_sink(&names);
    ASSERT_TRUE(RecordCircuit(spec, recorder).ok());
    for (uint64_t i = 0; i < 13; ++i) {
      const uint64_t row = i * names.rows.size() / 13, aux = i * names.aux.size() / 13;
      EXPECT_EQ(*NameOfRow(spec, row), names.rows[row]);
      EXPECT_EQ(*NameOfAux(spec, aux), names.aux[aux]);
    }
    EXPECT_EQ(*NameOfRow(spec, names.rows.size() - 1), names.rows.back());
    EXPECT_EQ(*NameOfAux(spec, names.aux.size() - 1), names.aux.back());
    EXPECT_EQ(NameOfRow(spec, names.rows.size()).status().code(), absl::StatusCode::kNotFound);
  }
}

}  // namespace
}  // namespace cuzk::circuit
