#include "core/groth16/parameter_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <fstream>

#include "core/algebra/curve/point_io.h"
#include "core/base/file.h"
#include "core/groth16/identity.h"
#include "tests/unit/groth16/setup.h"

namespace cuzk::groth16 {
namespace {

using algebra::Fp;
using algebra::G1Affine;
using testing::EndsWith;
using testing::HasSubstr;

/// A point of the curve outside the subgroup: x = 4, 5, … until the order is wrong.
G1Affine PointOutsideSubgroup() {
  for (uint64_t x = 4;; ++x) {
    std::array<uint8_t, 48> bytes{};
    bytes[47] = static_cast<uint8_t>(x);
    bytes[0] |= 0x80;
    auto point = algebra::ReadG1Compressed(bytes, algebra::PointCheck::kCurveOnly);
    if (point.ok() && !IsInSubgroup(*point)) return *point;
  }
}

class ParameterFileTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = testing_support::Generate(*circuit_, ToxicWaste::Random(), dir_ / "good.params", pool_);
    ASSERT_TRUE(made.ok()) << made.status();
    good_ = ReadFile(made->params).value();
    expected_ = SectionCounts::Of(*circuit_->MakeShape());
  }
  /// All checks of `params check` on the given bytes.
  Status Check(std::string_view bytes, PointPolicy policy = PointPolicy::kSubgroup) {
    const auto path = dir_ / "changed.params";
    std::ofstream(path, std::ios::binary) << bytes;
    CUZK_ASSIGN_OR_RETURN(auto file, ParameterFile::Open(path, expected_));
    return CheckPoints(*file, pool_, {.policy = policy});
  }
  std::string MessageOf(std::string_view bytes, PointPolicy policy = PointPolicy::kSubgroup) {
    return std::string(Check(bytes, policy).message());
  }
  /// Of the lengths alone, for a circuit that is not known.
  std::string UncomparedMessageOf(std::string_view bytes) {
    const auto path = dir_ / "changed.params";
    std::ofstream(path, std::ios::binary) << bytes;
    return std::string(ParameterFile::Open(path).status().message());
  }
  /// Where a section's points begin.
  size_t Offset(Query query) const { return testing_support::SectionOffset(expected_, query); }
  std::string WithPoint(Query query, size_t index, ByteSpan point) {
    std::string bytes = good_;
    std::copy(point.begin(), point.end(), bytes.begin() + Offset(query) + index * PointBytes(query));
    return bytes;
  }

  testing_support::ScratchDir dir_;
  ThreadPool pool_{2};
  std::unique_ptr<testing_support::SmallCircuit> circuit_ = testing_support::MixedCircuit({.size = 12});
  std::string good_;
  SectionCounts expected_;
};

TEST_F(ParameterFileTest, GoodFilePassesEveryPolicy) {
  for (PointPolicy policy : {PointPolicy::kCanonical, PointPolicy::kCurve, PointPolicy::kSubgroup}) {
    EXPECT_TRUE(Check(good_, policy).ok()) << PointPolicyName(policy);
  }
  EXPECT_EQ(expected_.FileBytes(), good_.size());
}

TEST_F(ParameterFileTest, PoliciesDecodeTheSamePoints) {
  auto file = ParameterFile::Open(dir_ / "good.params", expected_).value();
  const size_t n = expected_[Query::kL];
  std::vector<G1Affine> canonical(n), full(n);
  ASSERT_TRUE(DecodeG1(*file, {Query::kL}, canonical, pool_, {.policy = PointPolicy::kCanonical}).ok());
  ASSERT_TRUE(DecodeG1(*file, {Query::kL}, full, pool_, {.policy = PointPolicy::kSubgroup}).ok());
  EXPECT_TRUE(canonical == full);
  std::vector<G1Affine> part(3);
  ASSERT_TRUE(DecodeG1(*file, {Query::kL, 2}, part, pool_, {}).ok());
  EXPECT_TRUE(std::equal(part.begin(), part.end(), full.begin() + 2));
  std::vector<algebra::G2Affine> b_canonical(expected_[Query::kBG2]), b_full(expected_[Query::kBG2]);
  ASSERT_TRUE(DecodeG2(*file, 0, b_canonical, pool_, {.policy = PointPolicy::kCanonical}).ok());
  ASSERT_TRUE(DecodeG2(*file, 0, b_full, pool_, {.policy = PointPolicy::kSubgroup}).ok());
  EXPECT_TRUE(b_canonical == b_full);
  EXPECT_TRUE(absl::IsOutOfRange(DecodeG1(*file, {Query::kL, n - 1}, part, pool_, {})));
}

TEST_F(ParameterFileTest, ACutAnywhereIsFound) {
  for (size_t cut = 0; cut < good_.size(); cut += cut % 96 < 5 ? 1 : 31) {
    ASSERT_TRUE(absl::IsInvalidArgument(Check(std::string_view(good_).substr(0, cut)))) << cut;
  }
  EXPECT_THAT(MessageOf(good_ + '\0'), HasSubstr("1 bytes follow"));
}

TEST_F(ParameterFileTest, AFileThatIsAnotherOneIsToldByItsSizeAndHead) {
  const std::string good_size = StrCat(good_.size());
  const std::string html = "<!DOCTYPE html>\n<html><body>504 Gateway Time-out</body></html>\n";
  EXPECT_THAT(MessageOf(""), EndsWith(StrCat("changed.params: this is not the published file: 0 bytes, ", good_size,
                                             " expected; the download failed or was cut (alpha_g1: the file ends "
                                             "within it)")));
  EXPECT_THAT(MessageOf(html), EndsWith(StrCat(": this is not the published file: ", html.size(), " bytes, ", good_size,
                                               " expected; the download failed or was cut (it is a text: "
                                               "\"<!DOCTYPE html>\")")));
  const std::string half = good_.substr(0, good_.size() / 2);
  EXPECT_THAT(MessageOf(half), HasSubstr(StrCat(": this is not the published file: ", half.size(), " bytes, ",
                                                good_size, " expected; the download failed or was cut (section ")));
  // Files that are laid out before they are filled have the right length.
  EXPECT_THAT(MessageOf(std::string(good_.size(), '\0')), HasSubstr("; the download failed or was cut (alpha_g1: "));
  // Without a circuit to compare with, the head alone tells.
  EXPECT_THAT(UncomparedMessageOf(html), HasSubstr("this is not the published file; the download failed or was cut "
                                                   "(it is a text: "));
  EXPECT_THAT(UncomparedMessageOf(half), HasSubstr("changed.params: section "));
}

TEST_F(ParameterFileTest, TheHeadIsCheckedWithoutParsing) {
  const auto path = dir_ / "head.params";
  auto head = [&](std::string_view bytes, uint64_t expected) {
    std::ofstream(path, std::ios::binary) << bytes;
    return CheckHead(path, expected);
  };
  EXPECT_TRUE(head(good_, good_.size()).ok());
  EXPECT_TRUE(head(good_, 0).ok());
  EXPECT_TRUE(head(good_.substr(0, kG1Bytes) + "nonsense", 0).ok());
  EXPECT_THAT(std::string(head(good_, good_.size() + 1).message()),
              EndsWith(StrCat("head.params: this is not the published file: ", good_.size(), " bytes, ",
                              good_.size() + 1, " expected; the download failed or was cut")));
  EXPECT_THAT(std::string(head("", 0).message()), HasSubstr("this is not the published file; the download failed"));
  EXPECT_THAT(std::string(head(std::string(500, '\0'), 500).message()), HasSubstr("500 bytes, 500 expected"));
  EXPECT_TRUE(absl::IsNotFound(CheckHead(dir_ / "absent.params", 0)));
  // Where the file was made here, nothing was downloaded.
  std::ofstream(DevelopmentRecordPath(path)) << DevelopmentRecord{.sha256 = std::string(64, '0')}.ToJson();
  EXPECT_THAT(std::string(head(good_.substr(1), good_.size()).message()),
              HasSubstr("this is not the file that its development record describes: "));
}

TEST_F(ParameterFileTest, AnyFlippedBitIsFound) {
  // Byte after byte with a step that visits every section and both ends of coordinates.
  for (size_t at = 0; at < good_.size(); at += 37) {
    std::string bytes = good_;
    bytes[at] ^= static_cast<char>(1 << (at % 8));
    ASSERT_FALSE(Check(bytes, PointPolicy::kCurve).ok()) << at;
  }
}

TEST_F(ParameterFileTest, CountsOfAnotherCircuitAreNamed) {
  auto other = testing_support::MixedCircuit({.size = 13});
  auto file = ParameterFile::Open(dir_ / "good.params", SectionCounts::Of(*other->MakeShape()));
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("not of this circuit: "));
  SectionCounts wrong = expected_;
  wrong[Query::kA] += 1;
  file = ParameterFile::Open(dir_ / "good.params", wrong);
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("section a has"));
  EXPECT_TRUE(absl::IsNotFound(ParameterFile::Open(dir_ / "absent.params").status()));
}

TEST_F(ParameterFileTest, SwappedSectionsAreFound) {
  // l and a have different lengths, so their counts tell; b_g1 in place of b_g2 cannot have the length.
  ASSERT_NE(expected_[Query::kL], expected_[Query::kA]);
  const size_t l = Offset(Query::kL) - 4, a = Offset(Query::kA) - 4, b = Offset(Query::kBG1) - 4;
  const std::string bytes = good_.substr(0, l) + good_.substr(a, b - a) + good_.substr(l, a - l) + good_.substr(b);
  EXPECT_THAT(MessageOf(bytes), HasSubstr("section l has"));
}

TEST_F(ParameterFileTest, HugeCountsAreRefusedWithoutAllocating) {
  for (Query query : kAllQueries) {
    std::string bytes = good_;
    bytes.replace(Offset(query) - 4, 4, "\xff\xff\xff\xff");
    EXPECT_THAT(MessageOf(bytes), HasSubstr(StrCat("section ", QueryName(query), " has 4294967295 points, expected")));
    EXPECT_THAT(UncomparedMessageOf(bytes),
                HasSubstr(StrCat("section ", QueryName(query), ": 4294967295 points do not fit")));
  }
  std::string bytes = good_;
  bytes.replace(VerifyingKey::kHeadBytes, 4, "\xff\xff\xff\xff");
  EXPECT_THAT(MessageOf(bytes), HasSubstr("ic has 4294967295 points, expected"));
  EXPECT_THAT(UncomparedMessageOf(bytes), HasSubstr("ic: 4294967295 points do not fit"));
  bytes.replace(VerifyingKey::kHeadBytes, 4, std::string(4, '\0'));
  EXPECT_THAT(UncomparedMessageOf(bytes), HasSubstr("ic: has no points"));
}

// Every count is compared with the circuit's before what follows is read: nonsense after it is not even looked at.
TEST_F(ParameterFileTest, CountsAreComparedBeforeTheyAreBelieved) {
  std::string bytes = good_.substr(0, VerifyingKey::kHeadBytes + 4) + std::string(1 << 20, '\x77');
  bytes[VerifyingKey::kHeadBytes + 3] += 1;
  EXPECT_THAT(MessageOf(bytes),
              HasSubstr(StrCat("not of this circuit: ic has ", expected_.ic + 1, " points, expected ")));
  for (Query query : kAllQueries) {
    bytes = good_.substr(0, Offset(query)) + std::string(1 << 20, '\x77');
    bytes[Offset(query) - 1] += 1;
    EXPECT_THAT(MessageOf(bytes), HasSubstr(StrCat("not of this circuit: section ", QueryName(query), " has ",
                                                   expected_[query] + 1, " points, expected ")));
  }
}

// A file may be as long as its count of ic claims and still have nothing in it.
TEST_F(ParameterFileTest, MemoryGrowsWithPointsNotWithCounts) {
  const auto path = dir_ / "sparse.params";
  std::string bytes = good_.substr(0, VerifyingKey::kHeadBytes);
  bytes += std::string("\x01\x00\x00\x00", 4);  // 2^24 points: 1.6 GB
  std::ofstream(path, std::ios::binary) << bytes;
  std::filesystem::resize_file(path, uint64_t{2} << 30);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_THAT(std::string(ParameterFile::Open(path).status().message()), HasSubstr("ic[0]"));
  EXPECT_THAT(std::string(VerifyingKey::FromFile(path).status().message()), HasSubstr("ic[0]"));
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 100 << 10) << "KiB";
}

TEST_F(ParameterFileTest, AFileThatIsCutWhileItIsReadGivesAnError) {
  const auto path = dir_ / "cut.params";
  std::filesystem::copy_file(dir_ / "good.params", path);
  auto file = ParameterFile::Open(path, expected_).value();
  std::filesystem::resize_file(path, Offset(Query::kA) + 100);
  std::vector<G1Affine> l(expected_[Query::kL]), a(expected_[Query::kA]);
  EXPECT_TRUE(DecodeG1(*file, {Query::kL}, l, pool_, {}).ok());
  for (Status status : {DecodeG1(*file, {Query::kA}, a, pool_, {}), CheckPoints(*file, pool_, {})}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("cut.params: changed while it was being read"));
  }
  // The length is right again, the bytes are not: zeros are no points.
  std::filesystem::resize_file(path, good_.size());
  EXPECT_FALSE(DecodeG1(*file, {Query::kA}, a, pool_, {}).ok());
  // All points are right again, but who knows what was read before.
  std::ofstream(path, std::ios::in | std::ios::out) << good_;
  EXPECT_TRUE(DecodeG1(*file, {Query::kA}, a, pool_, {}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(file->CheckUnchanged()));
}

TEST_F(ParameterFileTest, InfinityIsRefusedByEveryPolicy) {
  for (PointPolicy policy : {PointPolicy::kCanonical, PointPolicy::kCurve, PointPolicy::kSubgroup}) {
    for (Query query : kAllQueries) {
      std::vector<uint8_t> infinity(PointBytes(query), 0);
      infinity[0] = 0x40;
      const size_t last = expected_[query] - 1;
      EXPECT_THAT(MessageOf(WithPoint(query, last, infinity), policy),
                  HasSubstr(StrCat("section ", QueryName(query), ": point ", last, ": point is infinity")));
      infinity[0] = 0;  // all zero: no encoding of anything
      EXPECT_FALSE(Check(WithPoint(query, 0, infinity), policy).ok());
    }
  }
}

TEST_F(ParameterFileTest, PolicyDecidesAboutCurveAndSubgroup) {
  const std::string outside = WithPoint(Query::kH, 1, algebra::WriteG1Uncompressed(PointOutsideSubgroup()));
  EXPECT_TRUE(Check(outside, PointPolicy::kCurve).ok());
  EXPECT_THAT(MessageOf(outside, PointPolicy::kSubgroup),
              HasSubstr("section h: point 1: point is not in the subgroup"));
  G1Affine off = algebra::G1Generator();
  off.y += Fp::One();
  const std::string off_curve = WithPoint(Query::kA, 2, algebra::WriteG1Uncompressed(off));
  EXPECT_TRUE(Check(off_curve, PointPolicy::kCanonical).ok());
  EXPECT_THAT(MessageOf(off_curve, PointPolicy::kCurve), HasSubstr("section a: point 2: point is not on the curve"));
  std::vector<uint8_t> large(96, 0);
  std::fill_n(large.begin(), 48, 0x1f);
  for (PointPolicy policy : {PointPolicy::kCanonical, PointPolicy::kCurve}) {
    EXPECT_THAT(MessageOf(WithPoint(Query::kBG1, 0, large), policy), HasSubstr("coordinate is not below the modulus"));
  }
}

TEST_F(ParameterFileTest, StopAndProgress) {
  auto file = ParameterFile::Open(dir_ / "good.params").value();
  uint64_t last = 0;
  uint64_t all = 0;
  ASSERT_TRUE(CheckPoints(*file, pool_, {.progress = [&](uint64_t done, uint64_t total) {
                EXPECT_GT(done, last);
                last = done, all = total;
              }}).ok());
  EXPECT_EQ(last, all);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(CheckPoints(*file, pool_, {.stop = stop.get_token()})));
}

// Longer than what is decoded between two looks at the stop token: indices count through, and the lowest bad one is
// named.
TEST_F(ParameterFileTest, LongSectionsAreDecodedInPieces) {
  constexpr uint32_t kPoints = 150000;
  const auto g1 = algebra::WriteG1Uncompressed(algebra::G1Generator());
  const auto g2 = algebra::WriteG2Uncompressed(algebra::G2Generator());
  auto file = ParameterFile::Open(dir_ / "good.params").value();
  const std::vector<uint8_t> key = file->verifying_key().ToBytes();
  std::string bytes(key.begin(), key.end());
  for (Query query : kAllQueries) {
    const uint32_t count = query == Query::kL ? kPoints : 1;
    uint8_t encoded[4];
    StoreBe(encoded, count);
    bytes.append(encoded, encoded + 4);
    for (uint32_t i = 0; i < count; ++i) {
      query == Query::kBG2 ? bytes.append(g2.begin(), g2.end()) : bytes.append(g1.begin(), g1.end());
    }
  }
  const auto path = dir_ / "long.params";
  auto decode = [&](std::string_view changed) {
    std::ofstream(path, std::ios::binary) << changed;
    std::vector<G1Affine> points(kPoints);
    Status status = DecodeG1(*ParameterFile::Open(path).value(), {Query::kL}, points, pool_, {});
    EXPECT_TRUE(!status.ok() || std::count(points.begin(), points.end(), algebra::G1Generator()) == kPoints);
    return std::string(status.message());
  };
  EXPECT_EQ(decode(bytes), "");
  const size_t l = key.size() + 4 + kG1Bytes + 4;
  bytes[l + 149999 * kG1Bytes + 95] ^= 1;
  EXPECT_THAT(decode(bytes), HasSubstr("section l: point 149999: point is not on the curve"));
  bytes[l + 140000 * kG1Bytes + 95] ^= 1;
  EXPECT_THAT(decode(bytes), HasSubstr("section l: point 140000: "));
}

}  // namespace
}  // namespace cuzk::groth16
