#include "core/groth16/lagrange.h"

namespace cuzk::groth16 {

using algebra::Fr;

StatusOr<LagrangeAt> LagrangeAt::Make(unsigned log2_size, const Fr& tau) {
  LagrangeAt out;
  out.tau_ = tau;
  out.root_ = algebra::FrRootOfUnity(log2_size);
  out.vanishing_ = tau.Pow(uint64_t{1} << log2_size) - Fr::One();
  if (out.vanishing_.IsZero()) return absl::InvalidArgumentError("tau is a point of the domain");
  out.scale_ = out.vanishing_ * Fr::FromU64(uint64_t{1} << log2_size).Inverse();
  return out;
}

void LagrangeAt::Fill(uint64_t begin, std::span<Fr> out, std::span<Fr> scratch) const {
  const Fr first = root_.Pow(begin);
  Fr power = first;
  for (Fr& x : out) {
    x = tau_ - power;
    power *= root_;
  }
  algebra::BatchInvert(out, scratch);
  power = first * scale_;
  for (Fr& x : out) {
    x *= power;
    power *= root_;
  }
}

void LagrangeAt::Fill(uint64_t begin, std::span<Fr> out, std::span<Fr> scratch, ThreadPool& pool) const {
  pool.ParallelFor(out.size(), 1024, [&](size_t first, size_t last) {
    Fill(begin + first, out.subspan(first, last - first), scratch.subspan(first, last - first));
  });
}

}  // namespace cuzk::groth16
