// Every field of the message beside the vanilla proofs: numbers changed bit by bit, byte fields cut, flipped, doubled
// and replaced, lists with an item less, more, or in another place. For every kind.

#include <gtest/gtest.h>

#include <cctype>

#include "tests/unit/filecoin/samples.h"

namespace cuzk::filecoin {
namespace {

using testing_support::ParseAndCheck;
using testing_support::Recorded;

/// Changes of the message's own fields. Those that a kind does not read change nothing; of the others each is refused.
class MessageFields : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    request_ = Recorded(GetParam()).request;
    original_ = ParseAndCheck(request_);
    ASSERT_TRUE(original_.ok()) << original_.status();
  }
  /// The changed message is refused, or proves what the original does.
  void Expect(const VanillaRequest& changed, std::string_view what) {
    ++cases_;
    auto parsed = ParseAndCheck(changed);
    if (parsed.ok()) {
      EXPECT_TRUE(testing_support::SamePartitions(*parsed, *original_)) << what;
      return;
    }
    ++refused_;
    EXPECT_TRUE(absl::IsInvalidArgument(parsed.status()) || absl::IsUnimplemented(parsed.status()))
        << what << ": " << parsed.status();
    EXPECT_FALSE(parsed.status().message().empty()) << what;
  }
  void ExpectRefused(const VanillaRequest& changed, std::string_view what) {
    const size_t before = refused_;
    Expect(changed, what);
    EXPECT_EQ(refused_, before + 1) << what;
  }

  VanillaRequest request_;
  StatusOr<ParsedRequest> original_ = absl::UnknownError("");
  size_t cases_ = 0, refused_ = 0;
};

TEST_P(MessageFields, Numbers) {
  struct Field {
    const char* name;
    uint64_t VanillaRequest::*wide;
  };
  const Field kFields[] = {{"kind", &VanillaRequest::kind},
                           {"registered_proof", &VanillaRequest::registered_proof},
                           {"sector_size", &VanillaRequest::sector_size},
                           {"sector_number", &VanillaRequest::sector_number},
                           {"miner_id", &VanillaRequest::miner_id}};
  for (const Field& field : kFields) {
    std::vector<uint64_t> values = {0,
                                    1,
                                    2,
                                    3,
                                    4,
                                    5,
                                    6,
                                    7,
                                    10,
                                    19,
                                    20,
                                    2048,
                                    ~uint64_t{0},
                                    request_.*field.wide + 1,
                                    request_.*field.wide - 1,
                                    request_.*field.wide * 2};
    for (unsigned bit = 0; bit < 64; ++bit) values.push_back(request_.*field.wide ^ uint64_t{1} << bit);
    for (uint64_t value : values) {
      VanillaRequest changed = request_;
      changed.*field.wide = value;
      Expect(changed, StrCat(field.name, " ", value));
    }
  }
  for (unsigned bit = 0; bit < 32; ++bit) {
    VanillaRequest changed = request_;
    changed.partition_index ^= uint32_t{1} << bit;
    Expect(changed, StrCat("partition_index ", changed.partition_index));
  }
  EXPECT_GT(cases_, 400u);
  EXPECT_GT(refused_, cases_ / 3);
}

TEST_P(MessageFields, Bytes) {
  struct Field {
    const char* name;
    std::string VanillaRequest::*bytes;
  };
  const Field kFields[] = {{"randomness", &VanillaRequest::randomness},
                           {"comm_r_old", &VanillaRequest::comm_r_old},
                           {"comm_r_new", &VanillaRequest::comm_r_new},
                           {"comm_d_new", &VanillaRequest::comm_d_new}};
  for (const Field& field : kFields) {
    const std::string& value = request_.*field.bytes;
    VanillaRequest changed = request_;
    auto expect = [&](std::string with) {
      if (with == value) return;
      changed.*field.bytes = std::move(with);
      // Fields of other kinds are empty, and nobody reads them.
      value.empty() ? Expect(changed, field.name) : ExpectRefused(changed, field.name);
    };
    for (size_t length = 0; length < value.size(); ++length) expect(value.substr(0, length));
    for (const std::string& with : {value + value, value + 'x', std::string(32, '\0'), std::string(32, '\xff'),
                                    std::string(33, '\1'), request_.comm_r_old, request_.comm_d_new}) {
      expect(with);
    }
    for (size_t bit = 0; bit < 8 * value.size(); ++bit) {
      std::string flipped = value;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      expect(flipped);
    }
  }
}

TEST_P(MessageFields, Lists) {
  const std::vector<std::string>& items = request_.vanilla_proofs;
  VanillaRequest changed = request_;
  for (size_t i = 0; i < items.size(); ++i) {
    changed.vanilla_proofs = items;
    changed.vanilla_proofs.erase(changed.vanilla_proofs.begin() + static_cast<ptrdiff_t>(i));
    // Without one of its sectors a WindowPoSt is another statement that holds, of fewer sectors.
    if (request_.kind != static_cast<uint64_t>(Kind::kWindow) || changed.vanilla_proofs.empty()) {
      ExpectRefused(changed, StrCat("without item ", i));
    }
    changed.vanilla_proofs = items;
    changed.vanilla_proofs.insert(changed.vanilla_proofs.begin() + static_cast<ptrdiff_t>(i), items[i]);
    ExpectRefused(changed, StrCat("item ", i, " twice"));
    changed.vanilla_proofs = items;
    std::swap(changed.vanilla_proofs[i], changed.vanilla_proofs[(i + 1) % items.size()]);
    if (items.size() > 1) ExpectRefused(changed, StrCat("item ", i, " and its neighbour"));
    changed.vanilla_proofs = items;
    changed.vanilla_proofs[i] = request_.vanilla_proof;
    ExpectRefused(changed, StrCat("item ", i, " of nothing"));
  }
  for (const char* other : {"porep/2KiB-v1_1-1000-84", "window/2KiB-window_v1_2-1000-2of4-part1",
                            "winning/2KiB-winning-1000-a", "snap/2KiB-snap-1000-85"}) {
    const VanillaRequest another = Recorded(other).request;
    if (another.kind == request_.kind) continue;
    changed = request_;
    changed.vanilla_proof = another.vanilla_proof;
    changed.vanilla_proofs = another.vanilla_proofs;
    ExpectRefused(changed, StrCat("payload of ", other));
    changed = another;
    changed.kind = request_.kind;
    ExpectRefused(changed, StrCat(other, " as another kind"));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, MessageFields,
                         ::testing::Values("porep/2KiB-v1_1-1000-84", "window/2KiB-window_v1_2-1000-2of4-part1",
                                           "window/2KiB-window-1000-1of3-part1", "winning/2KiB-winning-1000-a",
                                           "snap/2KiB-snap-1000-85", "snap/8MiB-snap-1000-98"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace cuzk::filecoin
