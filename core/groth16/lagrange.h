#pragma once
// Lagrange polynomials of the domain at one point, a run of them at a time.

#include <cstdint>
#include <span>

#include "core/algebra/field/fr.h"
#include "core/base/status.h"
#include "core/base/thread_pool.h"

namespace cuzk::groth16 {

/// L_j(tau) for the domain of m = 2^log2_size roots of unity w^j: (tau^m - 1) w^j / (m (tau - w^j)).
class LagrangeAt {
 public:
  /// InvalidArgument if tau is a root of unity of the domain.
  static StatusOr<LagrangeAt> Make(unsigned log2_size, const algebra::Fr& tau);

  /// tau^m - 1.
  const algebra::Fr& vanishing() const { return vanishing_; }
  /// out[i] = L_(begin + i)(tau); `scratch` is as long as out.
  void Fill(uint64_t begin, std::span<algebra::Fr> out, std::span<algebra::Fr> scratch, ThreadPool& pool) const;
  /// The same in the calling thread alone.
  void Fill(uint64_t begin, std::span<algebra::Fr> out, std::span<algebra::Fr> scratch) const;

 private:
  algebra::Fr tau_, root_, vanishing_, scale_;
};

}  // namespace cuzk::groth16
