#include "core/r1cs/shape.h"

#include <bit>

#include "core/base/check.h"

namespace cuzk::r1cs {

IndexSet::IndexSet(uint64_t size, std::vector<uint64_t> words) : size_(size), words_(std::move(words)) {
  CUZK_CHECK(words_.size() == (size + 63) / 64);
  constexpr uint64_t kWordsPerBlock = kRankBlock / 64;
  ranks_.reserve(words_.size() / kWordsPerBlock + 2);
  for (size_t i = 0; i < words_.size(); ++i) {
    if (i % kWordsPerBlock == 0) ranks_.push_back(static_cast<uint32_t>(count_));
    count_ += static_cast<uint64_t>(std::popcount(words_[i]));
  }
  ranks_.push_back(static_cast<uint32_t>(count_));
  CUZK_CHECK(size % 64 == 0 || words_.back() >> (size % 64) == 0);
}

uint64_t IndexSet::Rank(uint64_t i) const {
  CUZK_CHECK(i <= size_);
  if (i == size_) return count_;
  uint64_t rank = ranks_[i / kRankBlock];
  for (uint64_t w = i / kRankBlock * (kRankBlock / 64); w < i / 64; ++w) rank += std::popcount(words_[w]);
  uint64_t below = words_[i / 64] & ((uint64_t{1} << (i % 64)) - 1);
  return rank + static_cast<uint64_t>(std::popcount(below));
}

std::vector<uint32_t> IndexSet::ToList() const {
  std::vector<uint32_t> list;
  list.reserve(count_);
  for (size_t w = 0; w < words_.size(); ++w) {
    for (uint64_t rest = words_[w]; rest != 0; rest &= rest - 1) {
      list.push_back(static_cast<uint32_t>(64 * w + static_cast<uint64_t>(std::countr_zero(rest))));
    }
  }
  return list;
}

unsigned ShapeCounts::log2_domain() const {
  unsigned k = 0;
  while ((uint64_t{1} << k) < rows_with_inputs()) ++k;
  return k;
}

}  // namespace cuzk::r1cs
