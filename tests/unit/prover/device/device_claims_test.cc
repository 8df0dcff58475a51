#include "core/prover/device/device_claims.h"

#include <gtest/gtest.h>

#include <optional>

namespace cuzk::prover {
namespace {

using Bytes = DeviceClaims::Bytes;

TEST(DeviceClaims, TheMostOfEachAsLongAsItIsThere) {
  DeviceClaims claims;
  EXPECT_EQ(claims.Most(), (Bytes{0, 0}));
  std::optional<DeviceClaims::Claim> first = claims.Add({.workspace = 20, .witness = 1});
  DeviceClaims::Claim second = claims.Add({.workspace = 5, .witness = 3});
  EXPECT_EQ(claims.Most(), (Bytes{20, 3}));
  first.reset();
  EXPECT_EQ(claims.Most(), (Bytes{5, 3}));
}

TEST(DeviceClaims, MovesWithItsOwner) {
  DeviceClaims claims;
  DeviceClaims::Claim kept;
  {
    DeviceClaims::Claim made = claims.Add({.workspace = 7, .witness = 2});
    DeviceClaims::Claim moved(std::move(made));
    kept = std::move(moved);
  }
  EXPECT_EQ(claims.Most(), (Bytes{7, 2}));
  kept = DeviceClaims::Claim();
  EXPECT_EQ(claims.Most(), (Bytes{0, 0}));
}

TEST(DeviceClaims, EqualOnesCountEach) {
  DeviceClaims claims;
  DeviceClaims::Claim first = claims.Add({.workspace = 4, .witness = 4});
  { DeviceClaims::Claim second = claims.Add({.workspace = 4, .witness = 4}); }
  EXPECT_EQ(claims.Most(), (Bytes{4, 4}));
}

}  // namespace
}  // namespace cuzk::prover
