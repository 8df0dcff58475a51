#include "core/filecoin/samples/made_request.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/filecoin/merkle.h"
#include "core/filecoin/samples/made_tree.h"
#include "tests/unit/filecoin/samples.h"

namespace cuzk::filecoin {
namespace {

using testing_support::ParseAndCheck;

/// A folder of the test's own, removed at the end.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / StrCat("cuzk-made-", getpid())) {}
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class MadeRequests : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(MadeRequests, AreReadBackAndHoldEveryRelation) {
  auto [kind, size] = GetParam();
  const RegisteredProof* proof = *ProofToMake(**CircuitByNames(kind, size));
  auto made = MakeRequest(*proof, {.seed = 7, .sectors = proof->kind == Kind::kWindow ? 2u : 0u});
  ASSERT_TRUE(made.ok()) << made.status();
  Folder folder;
  ASSERT_TRUE(WriteRequestDirectory(*made, folder.path()).ok());
  auto read = ReadRequestDirectory(folder.path());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->request.vanilla_proof, made->request.vanilla_proof);
  EXPECT_EQ(read->request.vanilla_proofs, made->request.vanilla_proofs);
  auto parsed = ParseAndCheck(read->request);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  auto verification = ReadVerification(folder.path());
  ASSERT_TRUE(verification.ok()) << verification.status();
  for (size_t k = 0; k < parsed->partitions.size(); ++k) {
    EXPECT_TRUE(parsed->partitions[k].public_inputs == verification->public_inputs.at(k));
  }
}

INSTANTIATE_TEST_SUITE_P(AllKinds, MadeRequests,
                         ::testing::Combine(::testing::Values("porep", "window", "winning", "snap"),
                                            ::testing::Values("2KiB", "8MiB", "512MiB")),
                         [](const auto& info) { return StrCat(std::get<0>(info.param), std::get<1>(info.param)); });

TEST(MadeRequest, LargestShapes) {
  // The 8-8-2 trees, few sectors.
  for (const char* kind : {"window", "winning"}) {
    auto made = MakeRequest(**ProofToMake(**CircuitByNames(kind, "64GiB")), {.sectors = 1});
    EXPECT_TRUE(made.ok()) << made.status();
  }
}

TEST(MadeRequest, FollowsTheSeed) {
  const RegisteredProof& proof = **ProofToMake(**CircuitByNames("porep", "2KiB"));
  auto a = MakeRequest(proof, {.seed = 1}), b = MakeRequest(proof, {.seed = 1}), c = MakeRequest(proof, {.seed = 2});
  EXPECT_EQ(a->request.vanilla_proof, b->request.vanilla_proof);
  EXPECT_NE(a->request.vanilla_proof, c->request.vanilla_proof);
}

TEST(MadeRequest, WindowOfTheFirstVersionHasAPartitionIndex) {
  const RegisteredProof& proof = *FindRegisteredProof(Kind::kWindow, 6);
  auto made = MakeRequest(proof, {.sectors = 1, .partition_index = 3});
  ASSERT_TRUE(made.ok()) << made.status();
  VanillaRequest other = made->request;
  other.partition_index = 0;
  EXPECT_NE(std::string(ParseRequest(other).status().message()).find("are those of partition_index 3"),
            std::string::npos);
}

TEST(MadeRequest, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(MakeRequest(*FindRegisteredProof(Kind::kPorep, 15), {}).ok());
  EXPECT_FALSE(MakeRequest(*FindRegisteredProof(Kind::kWindow, 10), {.sectors = 3}).ok());
  EXPECT_FALSE(ProofToMake(**CircuitByNames("porep", "16KiB")).ok());
}

TEST(MadeTree, SparseAndRunTreesAgreeWithHashing) {
  circuit::TreeShape tree = FindSize("32KiB")->replica_tree();
  std::map<uint64_t, Fr> leaves = {{0, Fr::FromU64(5)}, {777, Fr::FromU64(6)}, {1023, Fr::FromU64(7)}};
  SparseTree sparse(tree, Fr::FromU64(1), leaves);
  RunTree runs(tree, {Fr::FromU64(1), Fr::FromU64(2), Fr::FromU64(3), Fr::FromU64(4)});
  for (uint64_t leaf : {0, 1, 255, 256, 512, 777, 1023}) {
    MerkleProof proof = sparse.Prove(leaf);
    EXPECT_TRUE(RootOf(tree, proof.leaf, proof.path) == sparse.root());
    EXPECT_TRUE(proof.leaf == (leaves.contains(leaf) ? leaves[leaf] : Fr::FromU64(1)));
    proof = runs.Prove(leaf);
    EXPECT_TRUE(RootOf(tree, proof.leaf, proof.path) == runs.root());
    EXPECT_TRUE(proof.leaf == Fr::FromU64(leaf / 256 + 1));
  }
}

}  // namespace
}  // namespace cuzk::filecoin
