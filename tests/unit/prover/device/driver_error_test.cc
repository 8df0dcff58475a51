#include "core/prover/device/driver_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace cuzk::prover {
namespace {

using testing::HasSubstr;

TEST(DriverErrors, AscendAndEachHasACure) {
  const auto rows = DriverErrors();
  auto by_code = [](const DriverErrorRow& a, const DriverErrorRow& b) { return a.code < b.code; };
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(), by_code));
  for (const DriverErrorRow& row : rows) {
    EXPECT_FALSE(row.name.empty() || row.cause.empty() || row.cure.empty()) << row.code;
    EXPECT_EQ(FindDriverError(row.code), &row);
  }
  for (int code : {3, 35, 46, 100, 101, 802, 803, 804, 805, 806, 807, 808, 809, 999}) {
    EXPECT_NE(FindDriverError(code), nullptr) << code;
  }
  EXPECT_EQ(FindDriverError(2), nullptr);
}

TEST(DriverErrors, KeepTheirNumberAndSayTheCure) {
  const Status status = DriverError("cuInit", 802);
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_EQ(status.message(),
            "cuInit: 802 (SystemNotReady): the fabric manager is not up; start nvidia-fabricmanager, and wait until it "
            "is up");
  EXPECT_EQ(DriverCodeOf(Annotate(status, "card 1")), 802);
  EXPECT_EQ(DriverCodeOf(absl::UnavailableError("802")), std::nullopt);
  EXPECT_EQ(DriverCodeOf(absl::OkStatus()), std::nullopt);
}

TEST(DriverErrors, UnknownNumbersAreToldAsTheyAre) {
  const Status status = DriverError("cuInit", 4711);
  EXPECT_EQ(status.message(), "cuInit: 4711 (an unknown error)");
  EXPECT_EQ(DriverCodeOf(status), 4711);
  EXPECT_THAT(std::string(DriverError("cuInit", 999, "CUDA_ERROR_UNKNOWN").message()),
              HasSubstr("cuInit: 999 (CUDA_ERROR_UNKNOWN): nvidia_uvm is not loaded"));
}

}  // namespace
}  // namespace cuzk::prover
