#include "core/groth16/generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "core/algebra/curve/pairing.h"
#include "core/base/file.h"
#include "core/groth16/identity.h"
#include "core/groth16/lagrange.h"
#include "tests/unit/groth16/setup.h"
#include "tests/unit/memory/faulty_allocator.h"

namespace cuzk::groth16 {
namespace {

using algebra::Fr;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::Generate;
using testing_support::InputFor;
using testing_support::ScratchDir;
using testing_support::SmallWaste;

/// aux a; input c; row a a = c, with one change.
enum class Change { kNone, kUnusedAux, kUnusedInput, kAuxOnlyInC, kEightRows, kNineRows, kCancelled };
class Square final : public testing_support::BothReadings<Square> {
 public:
  explicit Square(Change change) : change_(change) {}

  template <class Cs>
  void Build(Cs& cs) const {
    auto number = [](uint64_t v) { return r1cs::Given<Cs>([v] { return Fr::FromU64(v); }); };
    auto just = [](const r1cs::Num<Cs>& x) {
      typename Cs::Lc lc;
      lc.Add(x);
      return lc;
    };
    auto a = cs.AllocateNum(number(5));
    auto c = cs.AllocateInput(number(25));
    if (change_ == Change::kUnusedAux) cs.AllocateNum(number(1));
    if (change_ == Change::kUnusedInput) cs.AllocateInput(number(1));
    cs.Enforce(just(a), just(a), just(c));
    if (change_ == Change::kAuxOnlyInC) cs.Enforce(just(a), just(a), just(cs.AllocateNum(number(25))));
    const int more = change_ == Change::kEightRows ? 5 : change_ == Change::kNineRows ? 6 : 0;
    for (int i = 0; i < more; ++i) cs.Enforce(just(a), just(a), just(c));
    if (change_ == Change::kCancelled) {
      auto d = cs.AllocateNum(number(25));
      typename Cs::Lc cancelled = just(a);
      cancelled.Add(d).Add(d, -1);
      cs.Enforce(just(a), std::move(cancelled), just(d));
    }
  }

 private:
  const Change change_;
};

class GeneratorTest : public testing::Test {
 protected:
  StatusOr<SectionCounts> CountsOf(Change change) {
    CUZK_ASSIGN_OR_RETURN(auto made, Generate(Square(change), ToxicWaste::Random(), dir_ / "x.params", pool_));
    CUZK_ASSIGN_OR_RETURN(auto file, ParameterFile::Open(made.params, SectionCounts::Of(*Square(change).MakeShape())));
    CUZK_RETURN_IF_ERROR(CheckPoints(*file, pool_, {.policy = PointPolicy::kSubgroup}));
    return file->counts();
  }
  void ExpectCounts(Change change, const std::array<uint64_t, 5>& ic_h_l_a_b) {
    auto counts = CountsOf(change);
    ASSERT_TRUE(counts.ok()) << counts.status();
    EXPECT_EQ((std::array<uint64_t, 5>{counts->ic, (*counts)[Query::kH], (*counts)[Query::kL], (*counts)[Query::kA],
                                       (*counts)[Query::kBG1]}),
              ic_h_l_a_b);
  }
  Status GenerateWith(const ToxicWaste& waste) {
    return Generate(*testing_support::ToyCircuit(), waste, dir_ / "toy.params", pool_).status();
  }

  ScratchDir dir_;
  ThreadPool pool_{2};
};

TEST_F(GeneratorTest, LengthsAreTheReferences) {
  ExpectCounts(Change::kNone, {2, 3, 1, 3, 1});
  ExpectCounts(Change::kUnusedInput, {3, 3, 1, 4, 1});
  ExpectCounts(Change::kAuxOnlyInC, {2, 3, 2, 3, 1});
  ExpectCounts(Change::kEightRows, {2, 7, 1, 3, 1});
  ExpectCounts(Change::kNineRows, {2, 15, 1, 3, 1});
  ExpectCounts(Change::kCancelled, {2, 3, 2, 3, 1});
}

TEST_F(GeneratorTest, UnconstrainedAuxIsNamed) {
  Status status = CountsOf(Change::kUnusedAux).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("aux 1 is unconstrained"));
  EXPECT_THAT(dir_.Names(), IsEmpty());
}

TEST_F(GeneratorTest, SecretsThatMakeNoSetupAreRefused) {
  for (Fr ToxicWaste::*secret : {&ToxicWaste::alpha, &ToxicWaste::beta, &ToxicWaste::gamma, &ToxicWaste::delta}) {
    ToxicWaste waste = SmallWaste();
    waste.*secret = Fr::Zero();
    EXPECT_TRUE(absl::IsInvalidArgument(GenerateWith(waste)));
  }
  ToxicWaste waste = SmallWaste();
  waste.tau = algebra::FrRootOfUnity(3);  // the toy circuit's domain has 8 points
  EXPECT_THAT(std::string(GenerateWith(waste).message()), HasSubstr("tau is a point of the domain"));
  waste.tau = algebra::FrRootOfUnity(4);
  EXPECT_TRUE(GenerateWith(waste).ok());
}

// u of x is L_0 + L_1, which is zero where tau = -w^... by construction: such a tau must not write infinity.
TEST_F(GeneratorTest, AccidentalZeroIsRefused) {
  // (tau - w^1) + w (tau - w^0) = 0 makes L_0 + L_1 vanish: tau = 2 w / (1 + w).
  const Fr w = algebra::FrRootOfUnity(3);
  ToxicWaste waste = SmallWaste();
  waste.tau = (w + w) * (Fr::One() + w).Inverse();
  EXPECT_THAT(std::string(GenerateWith(waste).message()), HasSubstr("vanishes at tau"));
}

TEST_F(GeneratorTest, RowsOfAnotherCircuitAreRefused) {
  auto toy = testing_support::ToyCircuit();
  auto mixed = testing_support::MixedCircuit({});
  auto shape = toy->MakeShape();
  Status status =
      GenerateParameters(InputFor(*mixed, *shape, SmallWaste()), {.path = dir_ / "x.params"}, pool_).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  auto mixed_shape = mixed->MakeShape();
  status = GenerateParameters(InputFor(*toy, *mixed_shape, SmallWaste()), {.path = dir_ / "x.params"}, pool_).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("stopped at row 3"));
  EXPECT_THAT(dir_.Names(), IsEmpty());
}

// The key's equation in the file's own points: e(h_i, delta) = e(tau^i g1, z g2) for a few i.
TEST_F(GeneratorTest, HPointsArePowersOfTauTimesVanishing) {
  auto mixed = testing_support::MixedCircuit({.size = 50});
  const ToxicWaste waste = ToxicWaste::Random();
  auto made = Generate(*mixed, waste, dir_ / "x.params", pool_);
  ASSERT_TRUE(made.ok()) << made.status();
  auto file = ParameterFile::Open(made->params).value();
  std::vector<algebra::G1Affine> h(file->counts()[Query::kH]);
  ASSERT_TRUE(DecodeG1(*file, {Query::kH}, h, pool_, {}).ok());
  const Fr z = waste.tau.Pow(h.size() + 1) - Fr::One();
  for (size_t i : {size_t{0}, size_t{1}, h.size() - 1}) {
    const auto left = algebra::Pairing(h[i], file->verifying_key().delta_g2);
    const auto right =
        algebra::Pairing(ToAffine(ScalarMul(algebra::G1Generator(), waste.tau.Pow(i) * z)), algebra::G2Generator());
    EXPECT_TRUE(left == right) << i;
  }
}

TEST_F(GeneratorTest, LagrangeValuesInterpolate) {
  const Fr tau = algebra::RandomFr();
  auto lagrange = LagrangeAt::Make(7, tau).value();
  std::vector<Fr> values(128), scratch(128);
  lagrange.Fill(0, values, scratch, pool_);
  // sum_j w^(j k) L_j(tau) = tau^k for k below the domain's size.
  for (uint64_t k : {0, 1, 5, 127}) {
    Fr sum = Fr::Zero();
    for (uint64_t j = 0; j < 128; ++j) sum += algebra::FrRootOfUnity(7).Pow(j * k) * values[j];
    EXPECT_EQ(sum, tau.Pow(k)) << k;
  }
  std::vector<Fr> part(37);
  lagrange.Fill(50, part, std::span(scratch).first(37), pool_);
  for (size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], values[50 + i]);
}

TEST_F(GeneratorTest, ProgressReachesTheEndAndFilesAreBeside) {
  auto toy = testing_support::ToyCircuit();
  auto shape = toy->MakeShape();
  uint64_t last = 0, all = 0;
  GeneratorOptions options{.path = dir_ / "toy.params", .version = "1.2"};
  options.progress = [&](uint64_t done, uint64_t total) {
    EXPECT_GE(done, last);
    last = done, all = total;
  };
  auto made = GenerateParameters(InputFor(*toy, *shape, SmallWaste()), options, pool_);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(last, all);
  EXPECT_EQ(all, 7u + 3 + 5 + 2 + 2);
  EXPECT_THAT(dir_.Names(), testing::ElementsAre("toy.development.json", "toy.params", "toy.vk"));
  auto record = ReadDevelopmentRecord(made->params).value();
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->sha256, made->sha256);
  EXPECT_EQ(record->version, "1.2");
  EXPECT_FALSE(record->waste.has_value());  // not asked for
}

TEST_F(GeneratorTest, WhatWasNotMadeHereIsNotReplaced) {
  auto toy = testing_support::ToyCircuit();
  auto shape = toy->MakeShape();
  for (const char* name : {"published.params", "published.vk"}) {
    ASSERT_TRUE(WriteFile(dir_ / name, AsBytes("the network's")).ok());
    auto made = GenerateParameters(InputFor(*toy, *shape, SmallWaste()), {.path = dir_ / "published.params"}, pool_);
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(made.status().message()), testing::HasSubstr(name));
    EXPECT_EQ(ReadFile(dir_ / name).value(), "the network's");
    std::filesystem::remove(dir_ / name);
  }
  // Its own are replaced.
  for (int i = 0; i < 2; ++i) {
    auto made = GenerateParameters(InputFor(*toy, *shape, SmallWaste()), {.path = dir_ / "toy.params"}, pool_);
    EXPECT_TRUE(made.ok()) << made.status();
  }
}

TEST_F(GeneratorTest, CancellingLeavesNothing) {
  auto mixed = testing_support::MixedCircuit({.size = 300});
  auto shape = mixed->MakeShape();
  std::stop_source stop;
  GeneratorOptions options{.path = dir_ / "x.params", .stop = stop.get_token()};
  options.progress = [&](uint64_t done, uint64_t) {
    EXPECT_THAT(dir_.Names(), testing::Not(testing::Contains("x.params"))) << "appeared before it was whole";
    if (done > 100) stop.request_stop();
  };
  EXPECT_TRUE(absl::IsCancelled(GenerateParameters(InputFor(*mixed, *shape, SmallWaste()), options, pool_).status()));
  EXPECT_THAT(dir_.Names(), IsEmpty());
}

TEST_F(GeneratorTest, EveryFailingAllocationIsAnError) {
  auto toy = testing_support::ToyCircuit();
  auto shape = toy->MakeShape();
  testing_support::FaultyAllocator allocator;
  GeneratorOptions options{.path = dir_ / "toy.params", .allocator = &allocator};
  size_t failing = 0;
  for (;; ++failing) {
    const size_t before = allocator.calls();
    allocator.Fail(before + failing);
    Status status = GenerateParameters(InputFor(*toy, *shape, SmallWaste()), options, pool_).status();
    EXPECT_EQ(allocator.bytes_out(), 0u);
    if (status.ok()) break;
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_THAT(dir_.Names(), IsEmpty());
  }
  EXPECT_EQ(failing, 3u);
}

// A full disk, at every 500th byte: an error that names the file, and no file.
TEST_F(GeneratorTest, FullDiskLeavesNothing) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  for (rlim_t room = 0; room < 3192; room += 500) {
    rlimit small{room, old_limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    Status status = GenerateWith(SmallWaste());
    setrlimit(RLIMIT_FSIZE, &old_limit);
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << room << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("toy.params: File too large")) << room;
    EXPECT_THAT(dir_.Names(), IsEmpty()) << room;
  }
  EXPECT_TRUE(GenerateWith(SmallWaste()).ok());
  // With files there, those stay whole.
  const std::string old = ReadFile(dir_ / "toy.params").value();
  rlimit small{2000, old_limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  Status status = GenerateWith(ToxicWaste::Random());
  setrlimit(RLIMIT_FSIZE, &old_limit);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(ReadFile(dir_ / "toy.params").value(), old);
}

TEST(ToxicWasteJson, MissingOrMalformedKeysAreNamed) {
  const std::string one = "0100000000000000000000000000000000000000000000000000000000000000";
  const std::string good = StrCat("{\"alpha\":\"", one, "\",\"beta\":\"", one, "\",\"gamma\":\"", one,
                                  "\",\"delta\":\"", one, "\",\"tau\":\"", one, "\",\"other\":1}");
  ASSERT_TRUE(ToxicWaste::FromJson(good).ok());
  EXPECT_EQ(ToxicWaste::FromJson(good)->tau, Fr::One());
  auto error = [](std::string json) { return std::string(ToxicWaste::FromJson(json).status().message()); };
  std::string bad = good;
  bad.replace(bad.find("gamma"), 5, "gamme");
  EXPECT_THAT(error(bad), HasSubstr("\"gamma\""));
  bad = good;
  bad.replace(bad.find("tau") + 6, 64, std::string(64, 'f'));
  EXPECT_THAT(error(bad), HasSubstr("\"tau\""));
  bad = good;
  bad.replace(bad.find("delta") + 8, 64, "01");
  EXPECT_THAT(error(bad), HasSubstr("\"delta\""));
  EXPECT_FALSE(ToxicWaste::FromJson("[]").ok());
  EXPECT_FALSE(ToxicWaste::FromJson("").ok());
}

}  // namespace
}  // namespace cuzk::groth16
