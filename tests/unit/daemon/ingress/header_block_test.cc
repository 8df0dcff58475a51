#include "daemon/ingress/header_block.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/text.h"

namespace cuzk::daemon {
namespace {

using std::string_literals::operator""s;

std::string Text(const std::string& text) { return StrCat(std::string(1, static_cast<char>(text.size())), text); }

TEST(HeaderBlockTest, AFieldCountsItsTextsAnd32Bytes) {
  HeaderBlocks blocks;
  EXPECT_EQ(blocks.Bound(""), 0u);
  EXPECT_EQ(blocks.Bound("\0"s + Text("name") + Text("value")), 4u + 5 + 32);
}

TEST(HeaderBlockTest, WhatTheTableHoldsCountsAsItsLargestField) {
  HeaderBlocks blocks;
  EXPECT_EQ(blocks.Bound("\x40"s + Text("n") + Text(std::string(100, 'v'))), 133u);
  // One byte that stands for a field of the table: 62 is the first that came in.
  EXPECT_EQ(blocks.Bound("\xBE\xBE"s), 2 * 133u);
  // Of the fixed table no field has more than 64 bytes.
  EXPECT_EQ(blocks.Bound("\x82"s), 64u);
}

TEST(HeaderBlockTest, PackedTextsCountAsLongAsTheyMayBecome) {
  HeaderBlocks blocks;
  EXPECT_GE(*blocks.Bound("\0\x01n\x85\x1F\x1F\x1F\x1F\x1F"s), 1u + 8 + 32);
}

TEST(HeaderBlockTest, TextsAndNumbersThatDoNotEndAreMalformed) {
  for (const std::string& block : {"\0"s, "\0\x05name"s, "\0\x04name"s, "\0\x04name\x7F"s, "\x7F\xFF"s,
                                   "\x7F\xFF\xFF\xFF\xFF\xFF\x01"s, "\0\x01n\x7F\xFF\xFF\xFF\xFF\x7F"s}) {
    EXPECT_FALSE(HeaderBlocks().Bound(block).has_value());
  }
}

}  // namespace
}  // namespace cuzk::daemon
