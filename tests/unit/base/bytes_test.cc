#include "core/base/bytes.h"

#include <gtest/gtest.h>

namespace cuzk {
namespace {

TEST(Bytes, HexReadsWhatItWrites) {
  std::vector<uint8_t> bytes = {0x00, 0x7f, 0x80, 0xff};
  EXPECT_EQ(ToHex(bytes), "007f80ff");
  auto back = FromHex("007F80ff");
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, bytes);
}

TEST(Bytes, HexRefusesOddLengthAndOtherCharacters) {
  EXPECT_EQ(FromHex("abc").status().code(), absl::StatusCode::kInvalidArgument);
  auto bad = FromHex("00zz");
  EXPECT_EQ(bad.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(bad.status().message().find("character 2"), std::string::npos);
  EXPECT_FALSE(Bytes32FromHex("00").ok());
}

TEST(Bytes, EndiannessIsFixed) {
  const uint8_t b[] = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(LoadLe<uint32_t>(b), 0x04030201u);
  EXPECT_EQ(LoadBe<uint32_t>(b), 0x01020304u);
  EXPECT_EQ(LoadBe<uint64_t>(b), 0x0102030405060708u);
  uint8_t out[8];
  StoreBe<uint64_t>(out, 0x0102030405060708u);
  EXPECT_EQ(0, memcmp(out, b, 8));
}

}  // namespace
}  // namespace cuzk
