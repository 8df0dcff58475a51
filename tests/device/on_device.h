#pragma once
// What every device test needs: memory, a stream, copies; and points whose discrete logarithms are known.

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/algebra/curve/curve.h"
#include "gpu/params/fixed_base.h"
#include "gpu/runtime/buffer.h"
#include "gpu/runtime/card_limits.h"
#include "gpu/runtime/stream.h"

namespace cuzk::gpu::testing {

#define CUZK_ASSERT_OK(expr)                       \
  do {                                             \
    ::absl::Status cuzk_s = (expr);                \
    ASSERT_TRUE(cuzk_s.ok()) << cuzk_s.ToString(); \
  } while (false)

template <class T>
T Must(StatusOr<T> value) {
  if (!value.ok()) {
    ADD_FAILURE() << value.status().ToString();
    std::abort();
  }
  return *std::move(value);
}

/// Pseudo-random elements of the whole field.
inline std::vector<algebra::Fr> RandomScalars(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<algebra::Fr> r(n);
  for (auto& x : r) {
    algebra::Fr::Canonical limbs;
    do {
      for (auto& l : limbs) l = random();
      limbs[3] >>= 1;
    } while (!algebra::Fr::IsCanonical(limbs));
    x = algebra::Fr::FromMontgomery({limbs[0], limbs[1], limbs[2], limbs[3]});
  }
  return r;
}

/// A card as it would be with so much shared memory a multiprocessor; a block has a kilobyte less.
inline prover::CardLimits WithShared(prover::CardLimits card, uint32_t kilobytes) {
  card.shared_multiprocessor_bytes = kilobytes << 10;
  card.shared_block_bytes = (kilobytes << 10) - card.shared_reserve_bytes;
  return card;
}

class DeviceTest : public ::testing::Test {
 protected:
  /// The card's own limits, and as far as they are smaller, those of cards with 100 and with 64 KB of shared memory.
  static std::vector<prover::CardLimits> CardsToBe() {
    std::vector<prover::CardLimits> cards{Must(CurrentCardLimits())};
    for (uint32_t kilobytes : {100, 64}) {
      if (cards[0].shared_multiprocessor_bytes > kilobytes << 10) cards.push_back(WithShared(cards[0], kilobytes));
    }
    return cards;
  }
  template <class T>
  Buffer<T> Upload(const std::vector<T>& values) {
    auto buffer = Must(Buffer<T>::Allocate(memory_, values.size()));
    EXPECT_EQ(cudaMemcpy(buffer.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
    // A copy from pageable memory may still be under way when it returns, and the stream does not wait for it.
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return buffer;
  }
  template <class T>
  std::vector<T> Download(const Buffer<T>& buffer) {
    std::vector<T> values(buffer.size());
    EXPECT_EQ(cudaMemcpy(values.data(), buffer.data(), values.size() * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }
  prover::CardLimits card_ = Must(CurrentCardLimits());
  DeviceMemory memory_;
  Stream stream_ = Must(Stream::Create());
};

}  // namespace cuzk::gpu::testing
