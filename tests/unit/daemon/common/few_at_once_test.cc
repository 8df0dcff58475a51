#include "daemon/common/few_at_once.h"

#include <gtest/gtest.h>

namespace cuzk::daemon {
namespace {

TEST(FewAtOnceTest, APlaceIsGivenBackWithItsLastCopy) {
  FewAtOnce few(2);
  std::shared_ptr<void> first = few.Enter(), copy = first, second = few.Enter();
  ASSERT_TRUE(first && second);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(few.Enter(), nullptr);
  first.reset();
  EXPECT_EQ(few.Enter(), nullptr);
  copy.reset();
  EXPECT_NE(few.Enter(), nullptr);
}

}  // namespace
}  // namespace cuzk::daemon
