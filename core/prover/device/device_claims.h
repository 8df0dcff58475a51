#pragma once
// The device memory that partitions may still allocate. Their buffers are allocated at first use, so a plan for more
// parameters must leave room for the buffers of the parameters that are already loaded.

#include <cstdint>
#include <list>
#include <utility>

#include "core/base/mutex.h"

namespace cuzk::prover {

/// One per device. Thread-safe. Must outlive its claims.
class DeviceClaims {
 public:
  /// Device bytes.
  struct Bytes {
    uint64_t workspace = 0;  ///< shared by all partitions of the device
    uint64_t witness = 0;    ///< of all its partitions at once
    friend bool operator==(const Bytes&, const Bytes&) = default;
  };

  /// The claim of one circuit's parameters, while they are on the device. Move-only.
  class Claim {
   public:
    Claim() = default;
    Claim(Claim&& other) noexcept : claims_(std::exchange(other.claims_, nullptr)), at_(other.at_) {}
    Claim& operator=(Claim&& other) noexcept {
      std::swap(claims_, other.claims_);
      std::swap(at_, other.at_);
      return *this;
    }
    ~Claim();

   private:
    friend class DeviceClaims;
    Claim(DeviceClaims* claims, std::list<Bytes>::iterator at) : claims_(claims), at_(at) {}
    DeviceClaims* claims_ = nullptr;
    std::list<Bytes>::iterator at_;
  };

  [[nodiscard]] Claim Add(const Bytes& bytes);
  /// The maximum of each over all claims, because partitions share the workspace, and the number of partitions at work
  /// at the same time does not depend on their circuits.
  Bytes Most() const;

 private:
  mutable Mutex mutex_;
  std::list<Bytes> claims_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cuzk::prover
