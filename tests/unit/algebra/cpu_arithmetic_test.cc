#include "core/algebra/simd/cpu_arithmetic.h"

#include <gtest/gtest.h>

namespace cuzk::algebra {
namespace {

TEST(CpuArithmetic, ChoicesByNameAndTheBestWithoutOne) {
  EXPECT_TRUE(CheckProcessor().ok());
  EXPECT_TRUE(IsSupported(Arithmetic::kScalar));
  EXPECT_EQ(*ResolveArithmetic("scalar"), Arithmetic::kScalar);
  EXPECT_TRUE(IsSupported(Arithmetic::kFma));
  EXPECT_EQ(*ResolveArithmetic("fma"), Arithmetic::kFma);
  EXPECT_EQ(*ResolveArithmetic(std::nullopt), BestArithmetic());
  EXPECT_EQ(*ResolveArithmetic(""), BestArithmetic());
  EXPECT_EQ(ArithmeticName(Arithmetic::kScalar), "scalar");
  EXPECT_EQ(ArithmeticName(Arithmetic::kFma), "fma");
  EXPECT_EQ(ArithmeticName(Arithmetic::kIfma), "ifma");
}

TEST(CpuArithmetic, WhatCannotBeIsRefusedInWords) {
  auto unknown = ResolveArithmetic("avx9");
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(unknown.status().message().find("avx9"), absl::string_view::npos);
  EXPECT_NE(unknown.status().message().find("scalar"), absl::string_view::npos);
  auto ifma = ResolveArithmetic("ifma");
  if (IsSupported(Arithmetic::kIfma)) {
    EXPECT_EQ(*ifma, Arithmetic::kIfma);
  } else {
    EXPECT_EQ(ifma.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(ifma.status().message().find("AVX-512"), absl::string_view::npos);
  }
}

}  // namespace
}  // namespace cuzk::algebra
