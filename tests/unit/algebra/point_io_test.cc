#include "core/algebra/curve/point_io.h"

#include <gtest/gtest.h>

#include <random>

#include "core/base/file.h"
#include "tests/fixtures.h"
#include "tests/unit/algebra/arithmetics.h"
#include "tests/unit/algebra/group_laws.h"

namespace cuzk::algebra {
namespace {

/// The four encodings of one group, as one interface.
template <class F>
struct Encoding;
template <>
struct Encoding<Fp> {
  static constexpr size_t kUncompressed = kG1UncompressedBytes, kCompressed = kG1CompressedBytes;
  static auto Write(const G1Affine& p) { return WriteG1Uncompressed(p); }
  static auto Compress(const G1Affine& p) { return WriteG1Compressed(p); }
  static auto Read(ByteSpan b, PointCheck c = PointCheck::kFull) { return ReadG1Uncompressed(b, c); }
  static auto Decompress(ByteSpan b, PointCheck c = PointCheck::kFull) { return ReadG1Compressed(b, c); }
  static auto ReadMany(ByteSpan b, std::span<G1Affine> out, const ReadOptions& o, ThreadPool& p) {
    return ReadG1Points(b, out, o, p);
  }
};
template <>
struct Encoding<Fp2> {
  static constexpr size_t kUncompressed = kG2UncompressedBytes, kCompressed = kG2CompressedBytes;
  static auto Write(const G2Affine& p) { return WriteG2Uncompressed(p); }
  static auto Compress(const G2Affine& p) { return WriteG2Compressed(p); }
  static auto Read(ByteSpan b, PointCheck c = PointCheck::kFull) { return ReadG2Uncompressed(b, c); }
  static auto Decompress(ByteSpan b, PointCheck c = PointCheck::kFull) { return ReadG2Compressed(b, c); }
  static auto ReadMany(ByteSpan b, std::span<G2Affine> out, const ReadOptions& o, ThreadPool& p) {
    return ReadG2Points(b, out, o, p);
  }
};

template <class T>
std::string Text(const StatusOr<T>& r) {
  return r.ok() ? "ok" : std::string(r.status().message());
}

/// A point of the curve outside the subgroup, with x not zero.
template <class F>
AffinePoint<F> Outsider() {
  for (F x = F::One();; x += F::One()) {
    auto y = Sqrt(x.Square() * x + CurveB<F>());
    if (y && !IsInSubgroup(AffinePoint<F>{x, *y})) return {x, *y};
  }
}

template <class F>
class PointIo : public testing::Test {};
using Fields = testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(PointIo, Fields);

TYPED_TEST(PointIo, PointsGoRoundTrip) {
  using E = Encoding<TypeParam>;
  for (const auto& p : SamplePoints<TypeParam>(60, 21)) {
    for (PointCheck check : {PointCheck::kFull, PointCheck::kCurveOnly}) {
      auto read = E::Read(E::Write(p), check);
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(*read, p);
      auto decompressed = E::Decompress(E::Compress(p), check);
      ASSERT_TRUE(decompressed.ok()) << decompressed.status();
      EXPECT_EQ(*decompressed, p);
    }
  }
}

TYPED_TEST(PointIo, InfinityIsAFlagAndZeros) {
  using E = Encoding<TypeParam>;
  auto infinity = AffinePoint<TypeParam>::Infinity();
  auto bytes = E::Write(infinity);
  auto compressed = E::Compress(infinity);
  EXPECT_EQ(bytes[0], 0x40);
  EXPECT_EQ(compressed[0], 0xc0);
  EXPECT_TRUE(E::Read(bytes)->IsInfinity());
  EXPECT_TRUE(E::Decompress(compressed)->IsInfinity());
  bytes.back() = 1;
  compressed.back() = 1;
  EXPECT_EQ(Text(E::Read(bytes)), "flags of infinity, but other bits are set");
  EXPECT_EQ(Text(E::Decompress(compressed)), "flags of infinity, but other bits are set");
  bytes = E::Write(infinity), compressed = E::Compress(infinity);
  bytes[0] |= 0x20, compressed[0] |= 0x20;
  EXPECT_EQ(Text(E::Read(bytes)), "flags of infinity, but other bits are set");
  EXPECT_EQ(Text(E::Decompress(compressed)), "flags of infinity, but other bits are set");
}

TYPED_TEST(PointIo, FlagsAreRefusedWhereTheyDoNotBelong) {
  using E = Encoding<TypeParam>;
  auto bytes = E::Write(Generator<TypeParam>());
  bytes[0] |= 0x80;
  EXPECT_EQ(Text(E::Read(bytes)), "compression flag is set");
  bytes = E::Write(Generator<TypeParam>());
  bytes[0] |= 0x20;
  EXPECT_EQ(Text(E::Read(bytes)), "sign flag is set on an uncompressed point");
  auto compressed = E::Compress(Generator<TypeParam>());
  compressed[0] &= 0x7f;
  EXPECT_EQ(Text(E::Decompress(compressed)), "compression flag is missing");
}

TYPED_TEST(PointIo, SignFlagPicksTheRoot) {
  using E = Encoding<TypeParam>;
  auto compressed = E::Compress(Generator<TypeParam>());
  compressed[0] ^= 0x20;
  EXPECT_EQ(*E::Decompress(compressed), -Generator<TypeParam>());
}

TYPED_TEST(PointIo, CoordinatesMustBeBelowTheModulus) {
  using E = Encoding<TypeParam>;
  const auto good = E::Write(Generator<TypeParam>());
  std::array<uint8_t, 48> modulus = (-Fp::One()).ToBytesBe();  // p - 1
  modulus[47] += 1;
  for (size_t offset = 0; offset < E::kUncompressed; offset += 48) {
    auto bytes = good;
    std::copy(modulus.begin(), modulus.end(), bytes.begin() + offset);
    EXPECT_EQ(Text(E::Read(bytes)), "coordinate is not below the modulus") << offset;
  }
  auto compressed = E::Compress(Generator<TypeParam>());
  std::copy(modulus.begin(), modulus.end(), compressed.begin());
  compressed[0] |= 0x80;
  EXPECT_EQ(Text(E::Decompress(compressed)), "coordinate is not below the modulus");
}

TYPED_TEST(PointIo, PointsOffTheCurveAreRefused) {
  using E = Encoding<TypeParam>;
  for (PointCheck check : {PointCheck::kFull, PointCheck::kCurveOnly}) {
    auto bytes = E::Write(Generator<TypeParam>());
    bytes.back() ^= 1;
    EXPECT_EQ(Text(E::Read(bytes, check)), "point is not on the curve");
    std::array<uint8_t, E::kUncompressed> zeros{};
    EXPECT_EQ(Text(E::Read(zeros, check)), "point is not on the curve");
    for (TypeParam x = TypeParam::One();; x += TypeParam::One()) {
      if (Sqrt(x.Square() * x + CurveB<TypeParam>())) continue;
      auto compressed = E::Compress({x, TypeParam::One()});
      EXPECT_EQ(Text(E::Decompress(compressed, check)), "point is not on the curve");
      break;
    }
  }
}

TYPED_TEST(PointIo, OnlyTheFullCheckLooksAtTheSubgroup) {
  using E = Encoding<TypeParam>;
  const auto p = Outsider<TypeParam>();
  EXPECT_EQ(Text(E::Read(E::Write(p))), "point is not in the subgroup");
  EXPECT_EQ(Text(E::Decompress(E::Compress(p))), "point is not in the subgroup");
  EXPECT_EQ(*E::Read(E::Write(p), PointCheck::kCurveOnly), p);
  EXPECT_EQ(*E::Decompress(E::Compress(p), PointCheck::kCurveOnly), p);
}

TYPED_TEST(PointIo, LengthsAreExact) {
  using E = Encoding<TypeParam>;
  std::vector<uint8_t> bytes(E::kUncompressed + 1);
  for (size_t n : {size_t{0}, E::kUncompressed - 1, E::kUncompressed + 1}) {
    EXPECT_EQ(Text(E::Read(ByteSpan(bytes).first(n))), "wrong length");
  }
  for (size_t n : {size_t{0}, E::kCompressed - 1, E::kCompressed + 1}) {
    EXPECT_EQ(Text(E::Decompress(ByteSpan(bytes).first(n))), "wrong length");
  }
}

TYPED_TEST(PointIo, ManyPointsNameTheFirstBadOne) {
  using E = Encoding<TypeParam>;
  ThreadPool pool(2);
  const auto base = SamplePoints<TypeParam>(40, 22);
  std::vector<AffinePoint<TypeParam>> points;
  for (size_t i = 0; i < 1500; ++i) points.push_back(base[1 + i % 39]);  // without infinity
  std::vector<uint8_t> bytes;
  for (const auto& p : points) {
    auto b = E::Write(p);
    bytes.insert(bytes.end(), b.begin(), b.end());
  }
  for (Arithmetic arithmetic : TestedArithmetics()) {
    for (PointCheck check : {PointCheck::kFull, PointCheck::kCurveOnly}) {
      std::vector<AffinePoint<TypeParam>> out(points.size());
      ReadOptions options{.check = check, .first_index = 1000, .arithmetic = arithmetic};
      ASSERT_TRUE(E::ReadMany(bytes, out, options, pool).ok());
      EXPECT_EQ(out, points);

      auto spoiled = bytes;
      auto infinity = E::Write(AffinePoint<TypeParam>::Infinity());
      std::copy(infinity.begin(), infinity.end(), spoiled.begin() + 1203 * E::kUncompressed);
      spoiled[1307 * E::kUncompressed - 1] ^= 1;
      EXPECT_EQ(E::ReadMany(spoiled, out, options, pool).message(), "point 2203: point is infinity");
      options.refuse_infinity = false;
      EXPECT_EQ(E::ReadMany(spoiled, out, options, pool).message(), "point 2306: point is not on the curve");
      EXPECT_EQ(
          E::ReadMany(ByteSpan(spoiled).first(1300 * E::kUncompressed), std::span(out).first(1300), options, pool),
          absl::OkStatus());
      EXPECT_TRUE(out[1203].IsInfinity());

      auto outsider = E::Write(Outsider<TypeParam>());
      spoiled = bytes;
      std::copy(outsider.begin(), outsider.end(), spoiled.begin() + 77 * E::kUncompressed);
      auto status = E::ReadMany(spoiled, out, options, pool);
      EXPECT_EQ(status.message(), check == PointCheck::kFull ? "point 1077: point is not in the subgroup" : "");
    }
  }
}

// Whatever the bytes: one point read twice is the same, what is accepted is written back as it was, and both
// arithmetics give the same points or the same words.
TYPED_TEST(PointIo, SpoiledBytesAreAcceptedOnlyIfTheyAreAnEncoding) {
  using E = Encoding<TypeParam>;
  ThreadPool pool(1);
  std::mt19937_64 random(23);
  std::vector<uint8_t> good;
  for (const auto& p : SamplePoints<TypeParam>(17, 24)) {
    auto b = E::Write(p);
    good.insert(good.end(), b.begin(), b.end());
  }
  for (int round = 0; round < 150; ++round) {
    auto bytes = good;
    for (uint64_t k = random() % 3; k-- > 0;) {
      // Often the first byte of a point, where the flags are, and often a coordinate's last.
      size_t at = random() % bytes.size();
      if (random() % 2) at -= at % 48;
      if (random() % 4 == 0) at += 47 - at % 48;
      bytes[at] ^= static_cast<uint8_t>(random() % 2 ? 1 << random() % 8 : random());
    }
    ReadOptions options{.check = round % 2 ? PointCheck::kFull : PointCheck::kCurveOnly, .refuse_infinity = false};
    std::vector<AffinePoint<TypeParam>> expected(17);
    const Status status = E::ReadMany(bytes, expected, options, pool);
    for (Arithmetic arithmetic : TestedArithmetics()) {
      std::vector<AffinePoint<TypeParam>> out(17);
      options.arithmetic = arithmetic;
      EXPECT_EQ(E::ReadMany(bytes, out, options, pool), status);
      if (status.ok()) {
        EXPECT_EQ(out, expected);
      }
    }
    for (size_t i = 0; status.ok() && i < 17; ++i) {
      EXPECT_EQ(ToHex(E::Write(expected[i])), ToHex(ByteSpan(bytes).subspan(i * E::kUncompressed, E::kUncompressed)));
    }
  }
}

// (0, 2) has order three; the ecosystem's reader reports it as outside the group whatever the check.
TEST(PointIoG1, ZeroAbscissaNeverPasses) {
  const G1Affine p{Fp::Zero(), Fp::FromU64(2)};
  ASSERT_TRUE(IsOnCurve(p));
  EXPECT_EQ(Text(ReadG1Uncompressed(WriteG1Uncompressed(p), PointCheck::kCurveOnly)), "point is not in the subgroup");
  EXPECT_EQ(Text(ReadG1Uncompressed(WriteG1Uncompressed(p), PointCheck::kFull)), "point is not in the subgroup");
}

TEST(PointIoVectors, GeneratorBytesAreTheKnownOnes) {
  EXPECT_EQ(ToHex(WriteG1Compressed(G1Generator())),
            "97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb");
  EXPECT_EQ(ToHex(WriteG2Compressed(G2Generator())),
            "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e"
            "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8");
}

// A proof that the reference prover made (the toy circuit, r = 7, s = 9): points that it wrote are read and written
// back.
TEST(PointIoVectors, AProofOfTheReferenceProver) {
  const std::string a =
      "9391feec57f458e3df6bfeb872165b1f303eca70abe5a1583d9ec8edba8bd5cf6bd1e761342c184dcd5313c5bdac9840";
  const std::string b =
      "a854672ec8177069174689a95e8942d7eaf646cb11b780ba3f48d2c39f74a9e2be30cd9b524685e660021cb304cd9d58"
      "0944787180db87fda5492d79e81f4fcc543c34351d586b4c5d2e3893b75c786651d308bb91849149391a09cc613104e5";
  auto pa = ReadG1Compressed(*FromHex(a));
  auto pb = ReadG2Compressed(*FromHex(b));
  ASSERT_TRUE(pa.ok() && pb.ok());
  EXPECT_EQ(ToHex(WriteG1Compressed(*pa)), a);
  EXPECT_EQ(ToHex(WriteG2Compressed(*pb)), b);
}

// A key that bellperson wrote from known secrets: its points are those multiples of the generators.
TEST(PointIoVectors, AKeyOfTheReferenceGenerator) {
  auto file = ReadFile(testing_support::Vectors() / "groth16" / "update-2KiB.vk");
  ASSERT_TRUE(file.ok()) << file.status();
  ByteSpan bytes = AsBytes(*file);
  auto secret = [](const char* hex) { return *FrFromBytes(*Bytes32FromHex(hex), "secret"); };
  const Fr alpha = secret("b7836020bd2bcdd185326fac13dce4640396bd406acd95f8e733bb2d0776fd6f");
  const Fr beta = secret("75f85cc3e983f495bbbe2461d6b1ede54e6256c1465a8cf08af319b4de87f23c");
  const Fr gamma = secret("1cd6c44ee8eb08dc40d6f6a71779920fcf3a8e677dca42fc634717ed17c1d171");
  const Fr delta = secret("a0d59f670cea648d9c881fdab133392563d092bc77790c16424871304651395c");
  auto g1 = [&](size_t offset) { return *ReadG1Uncompressed(bytes.subspan(offset, 96), PointCheck::kFull); };
  auto g2 = [&](size_t offset) { return *ReadG2Uncompressed(bytes.subspan(offset, 192), PointCheck::kFull); };
  EXPECT_EQ(g1(0), ToAffine(ScalarMul(G1Generator(), alpha)));
  EXPECT_EQ(g1(96), ToAffine(ScalarMul(G1Generator(), beta)));
  EXPECT_EQ(g2(192), ToAffine(ScalarMul(G2Generator(), beta)));
  EXPECT_EQ(g2(384), ToAffine(ScalarMul(G2Generator(), gamma)));
  EXPECT_EQ(g1(576), ToAffine(ScalarMul(G1Generator(), delta)));
  EXPECT_EQ(g2(672), ToAffine(ScalarMul(G2Generator(), delta)));
  EXPECT_EQ(ToHex(WriteG2Uncompressed(g2(672))), ToHex(bytes.subspan(672, 192)));
}

}  // namespace
}  // namespace cuzk::algebra
