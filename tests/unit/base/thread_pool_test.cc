#include "core/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>

#include "core/base/first_where.h"

namespace cuzk {
namespace {

class ThreadPoolTest : public testing::TestWithParam<size_t> {};

TEST_P(ThreadPoolTest, EveryItemOnce) {
  ThreadPool pool(GetParam());
  for (size_t n : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> seen(n);
    pool.ParallelFor(n, 3, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) ++seen[i];
    });
    for (auto& s : seen) EXPECT_EQ(s, 1);
  }
}

TEST_P(ThreadPoolTest, NestedLoopsEnd) {
  ThreadPool pool(GetParam());
  std::atomic<size_t> sum{0};
  pool.ParallelFor(8, 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      pool.ParallelFor(100, 1, [&](size_t b, size_t e) { sum += e - b; });
    }
  });
  EXPECT_EQ(sum, 800u);
}

TEST_P(ThreadPoolTest, FirstWhereFindsWhatOneThreadWouldFind) {
  ThreadPool pool(GetParam());
  for (size_t step : {1, 7, 100, 999}) {
    for (size_t first : {0, 1, 6, 500, 999}) {
      EXPECT_EQ(FirstWhere(1000, 3, pool, [&](size_t i) { return i >= first && (i - first) % step == 0; }), first);
    }
  }
  EXPECT_EQ(FirstWhere(1000, 3, pool, [](size_t) { return false; }), 1000u);
  EXPECT_EQ(FirstWhere(0, 3, pool, [](size_t) { return true; }), 0u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ThreadPoolTest, testing::Values(1, 2, 5));

}  // namespace
}  // namespace cuzk
