#include "gpu/ntt/roots.h"

namespace cuzk::gpu::ntt {

std::vector<algebra::Fr> RepeatedSquares(algebra::Fr base, int count) {
  std::vector<algebra::Fr> r;
  r.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    r.push_back(base);
    base = base.Square();
  }
  return r;
}

algebra::Fr CosetShift(bool inverse) {
  algebra::Fr seven = algebra::Fr::FromU64(algebra::kFrGenerator);
  return inverse ? seven.Inverse() : seven;
}

}  // namespace cuzk::gpu::ntt
