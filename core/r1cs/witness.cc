#include "core/r1cs/witness.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/r1cs/small.h"

namespace cuzk::r1cs {

WitnessView::WitnessView(const Shape& shape, Layout layout, const Position& begin, const Position& end,
                         const std::byte* memory)
    : shape_(&shape),
      layout_(LeaseLayout::ForRange(shape, layout, begin, end)),
      begin_(begin),
      end_(end),
      memory_(memory) {}

std::span<const int8_t> WitnessView::NarrowRows(Matrix matrix) const {
  return Typed<int8_t>(layout_.rows[static_cast<size_t>(matrix)].narrow);
}
std::span<const Fr> WitnessView::WideRows(Matrix matrix) const {
  return Typed<Fr>(layout_.rows[static_cast<size_t>(matrix)].wide);
}
std::span<const uint64_t> WitnessView::NarrowAux() const { return Typed<uint64_t>(layout_.aux.narrow); }
std::span<const Fr> WitnessView::WideAux() const { return Typed<Fr>(layout_.aux.wide); }
std::span<const Fr> WitnessView::inputs() const { return Typed<Fr>(layout_.inputs); }

void WitnessView::ExpandRows(Matrix matrix, uint64_t first, std::span<Fr> out) const {
  CUZK_CHECK(first >= begin_.rows && first + out.size() <= end_.rows);
  const std::span<const Fr> wide = WideRows(matrix);
  if (layout_.layout == Layout::kPlain) {
    std::copy_n(wide.begin() + static_cast<ptrdiff_t>(first - begin_.rows), out.size(), out.begin());
    return;
  }
  const int8_t* narrow = NarrowRows(matrix).data() + (first - begin_.rows);
  const IndexSet& is_wide = shape_->wide[static_cast<size_t>(matrix)];
  const Fr* next = wide.data() + (is_wide.Rank(first) - is_wide.Rank(begin_.rows));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = is_wide.Contains(first + i) ? *next++ : kSmallIntegers[static_cast<size_t>(narrow[i] + 128)];
  }
}

void WitnessView::ExpandAux(uint64_t first, std::span<Fr> out) const {
  CUZK_CHECK(first >= begin_.aux && first + out.size() <= end_.aux);
  const std::span<const Fr> wide = WideAux();
  if (layout_.layout == Layout::kPlain) {
    std::copy_n(wide.begin() + static_cast<ptrdiff_t>(first - begin_.aux), out.size(), out.begin());
    return;
  }
  const std::span<const uint64_t> bits = NarrowAux();
  const IndexSet& boolean = shape_->boolean_aux;
  const uint64_t skipped = boolean.Rank(first) - boolean.Rank(begin_.aux);
  const Fr* next = wide.data() + (first - begin_.aux - skipped);
  for (size_t i = 0; i < out.size(); ++i) {
    // The plane's first bit is bit begin.aux % 64 of its first word.
    const uint64_t j = first + i - begin_.aux / 64 * 64;
    out[i] = boolean.Contains(first + i) ? kSmallIntegers[128 + (bits[j / 64] >> (j % 64) & 1)] : *next++;
  }
}

Witness::Witness(std::shared_ptr<const Shape> shape, Layout layout, memory::Lease lease)
    : shape_(std::move(shape)),
      lease_(std::move(lease)),
      view_(*shape_, layout, Position{}, {shape_->counts.inputs, shape_->counts.aux, shape_->counts.rows_with_inputs()},
            lease_.bytes().data()) {
  CUZK_CHECK(lease_.bytes().size() >= view_.layout().bytes);
}

}  // namespace cuzk::r1cs
