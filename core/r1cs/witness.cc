#include "core/r1cs/witness.h"

#include <algorithm>

#include "core/base/check.h"

namespace cuzk::r1cs {
namespace {

template <class T>
std::span<const T> Typed(const memory::Lease& lease, const Plane& plane) {
  return {reinterpret_cast<const T*>(lease.bytes().data() + plane.offset), plane.bytes / sizeof(T)};
}

}  // namespace

Witness::Witness(std::shared_ptr<const Shape> shape, Layout layout, memory::Lease lease)
    : shape_(std::move(shape)), layout_(LeaseLayout::For(*shape_, layout)), lease_(std::move(lease)) {
  CUZK_CHECK(lease_.bytes().size() >= layout_.bytes);
}

std::span<const int8_t> Witness::NarrowRows(Matrix matrix) const {
  return Typed<int8_t>(lease_, layout_.rows[static_cast<size_t>(matrix)].narrow);
}
std::span<const Fr> Witness::WideRows(Matrix matrix) const {
  return Typed<Fr>(lease_, layout_.rows[static_cast<size_t>(matrix)].wide);
}
std::span<const uint64_t> Witness::NarrowAux() const { return Typed<uint64_t>(lease_, layout_.aux.narrow); }
std::span<const Fr> Witness::WideAux() const { return Typed<Fr>(lease_, layout_.aux.wide); }
std::span<const Fr> Witness::inputs() const { return Typed<Fr>(lease_, layout_.inputs); }

void Witness::ExpandRows(Matrix matrix, uint64_t begin, std::span<Fr> out) const {
  std::span<const Fr> wide = WideRows(matrix);
  if (layout_.layout == Layout::kPlain) {
    CUZK_CHECK(begin + out.size() <= wide.size());
    std::copy_n(wide.begin() + static_cast<ptrdiff_t>(begin), out.size(), out.begin());
    return;
  }
  std::span<const int8_t> narrow = NarrowRows(matrix);
  const IndexSet& is_wide = shape_->wide[static_cast<size_t>(matrix)];
  CUZK_CHECK(begin + out.size() <= narrow.size());
  uint64_t next = is_wide.Rank(begin);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = is_wide.Contains(begin + i) ? wide[next++] : Fr::FromI64(narrow[begin + i]);
  }
}

void Witness::ExpandAux(uint64_t begin, std::span<Fr> out) const {
  std::span<const Fr> wide = WideAux();
  if (layout_.layout == Layout::kPlain) {
    CUZK_CHECK(begin + out.size() <= wide.size());
    std::copy_n(wide.begin() + static_cast<ptrdiff_t>(begin), out.size(), out.begin());
    return;
  }
  std::span<const uint64_t> bits = NarrowAux();
  const IndexSet& boolean = shape_->boolean_aux;
  CUZK_CHECK(begin + out.size() <= boolean.size());
  uint64_t next = begin - boolean.Rank(begin);
  for (size_t i = 0; i < out.size(); ++i) {
    const uint64_t j = begin + i;
    if (!boolean.Contains(j)) {
      out[i] = wide[next++];
    } else {
      out[i] = (bits[j / 64] >> (j % 64) & 1) ? Fr::One() : Fr::Zero();
    }
  }
}

}  // namespace cuzk::r1cs
