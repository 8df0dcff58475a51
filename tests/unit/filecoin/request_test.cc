#include "core/filecoin/types/request.h"

#include <gtest/gtest.h>

#include "tests/unit/filecoin/samples.h"

namespace cuzk::filecoin {
namespace {

using absl::StatusCode;
using testing_support::Recorded;

VanillaRequest Window() { return Recorded("window/2KiB-window_v1_2-1000-2of4-part1").request; }
VanillaRequest Winning() { return Recorded("winning/2KiB-winning-1000-a").request; }
VanillaRequest Snap() { return Recorded("snap/2KiB-snap-1000-85").request; }
VanillaRequest Porep() { return Recorded("porep/2KiB-v1_1-1000-84").request; }

/// What CheckRequest says of a request after a change.
template <class Change>
Status After(VanillaRequest request, Change&& change) {
  change(request);
  return CheckRequest(request).status();
}

void ExpectInvalid(const Status& status, std::string_view text) {
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find(text), std::string::npos) << status;
}

TEST(CheckRequest, PassesWhatCurioSends) {
  for (const VanillaRequest& request : {Window(), Winning(), Snap(), Porep()}) {
    auto facts = CheckRequest(request);
    ASSERT_TRUE(facts.ok()) << facts.status();
    EXPECT_EQ(static_cast<uint64_t>(facts->kind), request.kind);
    EXPECT_EQ(facts->proof->number, request.registered_proof);
    VanillaRequest unsized = request;
    unsized.sector_size = 0;
    EXPECT_TRUE(CheckRequest(unsized).ok());
  }
  EXPECT_EQ(ToHex(CheckRequest(Snap())->comm_d_new), ToHex(AsBytes(Snap().comm_d_new)));
}

TEST(CheckRequest, Kinds) {
  ExpectInvalid(After(Window(), [](auto& r) { r.kind = 0; }), "invalid proof_kind: 0");
  ExpectInvalid(After(Window(), [](auto& r) { r.kind = 5; }), "invalid proof_kind: 5");
  ExpectInvalid(After(Window(),
                      [](auto& r) {
                        r.kind = 1;
                        r.registered_proof = 5;
                      }),
                "no vanilla_proof");
}

TEST(CheckRequest, NumbersOfTheWrongFamily) {
  for (uint64_t number = 0; number < 30; ++number) {
    auto set = [number](VanillaRequest& r) { r.registered_proof = number, r.sector_size = 0; };
    EXPECT_EQ(After(Window(), set).code() == StatusCode::kOk, number == 5 || (number >= 6 && number <= 14)) << number;
    EXPECT_EQ(After(Winning(), set).code() == StatusCode::kOk, number <= 4) << number;
    EXPECT_EQ(After(Porep(), set).code(), number <= 14   ? StatusCode::kOk
                                          : number <= 19 ? StatusCode::kUnimplemented
                                                         : StatusCode::kInvalidArgument)
        << number;
  }
  ExpectInvalid(After(Window(), [](auto& r) { r.registered_proof = 3; }),
                "registered_proof 3 is not one of window-post");
  ExpectInvalid(After(Snap(), [](auto& r) { r.registered_proof = 5; }), "registered_proof 5 is not one of snap-update");
}

TEST(CheckRequest, SizesThatDoNotFit) {
  ExpectInvalid(After(Window(), [](auto& r) { r.sector_size = 4096; }), "sector_size 4096");
  ExpectInvalid(After(Porep(), [](auto& r) { r.sector_size = 2047; }), "sector_size 2047");
}

TEST(CheckRequest, RandomnessAndCommitments) {
  ExpectInvalid(After(Window(), [](auto& r) { r.randomness.pop_back(); }), "randomness has 31 bytes");
  ExpectInvalid(After(Winning(), [](auto& r) { r.randomness.clear(); }), "randomness has 0 bytes");
  ExpectInvalid(After(Window(), [](auto& r) { r.randomness[31] = '\xff'; }), "randomness");
  ExpectInvalid(After(Snap(), [](auto& r) { r.comm_r_old += 'x'; }), "comm_r_old has 33 bytes");
  ExpectInvalid(After(Snap(), [](auto& r) { r.comm_r_new[31] = '\x7f'; }), "comm_r_new");
  ExpectInvalid(After(Snap(), [](auto& r) { r.comm_d_new = ""; }), "comm_d_new has 0 bytes");
}

TEST(CheckRequest, ItemsOfPost) {
  ExpectInvalid(After(Window(), [](auto& r) { r.vanilla_proofs.clear(); }), "no vanilla_proofs");
  ExpectInvalid(After(Window(), [](auto& r) { r.vanilla_proofs.push_back(r.vanilla_proofs[0]); }), "at most 2");
  ExpectInvalid(After(Winning(), [](auto& r) { r.vanilla_proofs.push_back(r.vanilla_proofs[0]); }), "at most 1");
  ExpectInvalid(After(Window(), [](auto& r) { std::swap(r.vanilla_proofs[0], r.vanilla_proofs[1]); }), "ascend");
  ExpectInvalid(After(Window(), [](auto& r) { r.vanilla_proofs[1] = r.vanilla_proofs[0]; }), "ascend");
  ExpectInvalid(After(Window(), [](auto& r) { r.vanilla_proofs[0] = "1234567"; }), "too few for a sector id");
}

TEST(CheckRequest, ItemsOfSnapAndPorep) {
  ExpectInvalid(After(Snap(), [](auto& r) { r.vanilla_proofs.clear(); }), "0 vanilla_proofs");
  ExpectInvalid(After(Snap(), [](auto& r) { r.vanilla_proofs.push_back(r.vanilla_proofs[0]); }), "has 1 partitions");
  ExpectInvalid(After(Porep(), [](auto& r) { r.vanilla_proof.clear(); }), "no vanilla_proof");
}

TEST(ParseRequest, TheNameInTheC1Decides) {
  VanillaRequest request = Porep();
  request.registered_proof = 8;
  request.sector_size = 0;
  auto parsed = ParseRequest(std::move(request));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->proof->name, "StackedDrg2KiBV1_1");
  request = Porep();
  request.registered_proof = 6;
  request.sector_size = uint64_t{8} << 20;
  ExpectInvalid(ParseRequest(std::move(request)).status(), "sector_size is 8388608, but the C1 is of");
}

TEST(ParseRequest, SectorAndMinerMustBeThoseOfTheReplica) {
  VanillaRequest request = Porep();
  request.sector_number += 1;
  ExpectInvalid(ParseRequest(request).status(), "replica_id does not follow from miner 1000, sector 85");
  request = Porep();
  request.miner_id = 1001;
  ExpectInvalid(ParseRequest(request).status(), "replica_id");
}

TEST(ParseRequest, NonInteractiveWaitsForAggregates) {
  VanillaRequest request = Recorded("porep/2KiB-ni-1000-88").request;
  EXPECT_EQ(CheckRequest(request).status().code(), StatusCode::kUnimplemented);
  request.registered_proof = 5;  // what intake cannot see
  Status status = ParseRequest(request).status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_NE(std::string(status.message()).find("non-interactive PoRep is not supported"), std::string::npos);
}

TEST(ParseRequest, AnotherPartitionIndexIsNamed) {
  VanillaRequest request = Recorded("window/2KiB-window-1000-1of3-part1").request;
  request.partition_index = 7;
  Status status = ParseRequest(request).status();
  ExpectInvalid(status, "sector 142 (item 0), challenge 0: index 23 is not the challenge");
  ExpectInvalid(status, "the challenges are those of partition_index 1, and the request says 7");
  // Since API 1.2 the index does not matter.
  request = Window();
  request.partition_index = 7;
  EXPECT_TRUE(ParseRequest(request).ok());
}

TEST(ParseRequest, WrongValuesAreNamedByPlace) {
  VanillaRequest request = Window();
  request.randomness[0] = static_cast<char>(request.randomness[0] ^ 1);
  ExpectInvalid(ParseRequest(request).status(), "sector 142 (item 0), challenge 0: index");
  request = Snap();
  request.comm_d_new[0] = static_cast<char>(request.comm_d_new[0] ^ 1);
  ExpectInvalid(ParseRequest(request).status(), "partition 0, challenge 0: proof_d_new: root is not comm_d_new");
  request = Snap();
  request.comm_r_old[0] = static_cast<char>(request.comm_r_old[0] ^ 1);
  ExpectInvalid(testing_support::ParseAndCheck(request).status(), "partition 0: comm_r_old is not the hash");
}

}  // namespace
}  // namespace cuzk::filecoin
