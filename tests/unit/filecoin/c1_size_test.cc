#include "core/filecoin/format/c1_size.h"

#include <gtest/gtest.h>

#include "core/base/status.h"

namespace cuzk::filecoin {
namespace {

std::string IdOf(std::string_view payload) {
  const Circuit* circuit = CircuitAtTheEndOf(payload);
  return circuit == nullptr ? "" : circuit->id;
}

TEST(CircuitAtTheEnd, IsOfTheSectorSizeThatCurioWritesLast) {
  const std::string long_c1(1 << 20, 'A');
  EXPECT_EQ(IdOf(StrCat("{\"SectorNum\":1,\"Phase1Out\":\"", long_c1, "\",\"SectorSize\":34359738368}")), "porep-32g");
  EXPECT_EQ(IdOf("{\"SectorSize\" : 2048 }\n"), "porep-2k");
}

TEST(CircuitAtTheEnd, IsUnknownWhereThePayloadEndsOtherwise) {
  const std::string long_c1(1 << 20, 'A');
  for (const std::string& payload :
       {std::string(), std::string("{"), std::string("\"SectorSize\""), std::string("\"SectorSize\":"),
        std::string("{\"SectorSize\":2049}"), std::string("{\"SectorSize\":99999999999999999999999}"),
        std::string("{\"SectorSize\":\"2048\"}"), StrCat("{\"SectorSize\":2048,\"Phase1Out\":\"", long_c1, "\"}")}) {
    EXPECT_EQ(IdOf(payload), "") << payload.substr(0, 40);
  }
}

}  // namespace
}  // namespace cuzk::filecoin
