#pragma once
// Square matrices over Fr, for the making of Poseidon's constants.

#include <cstdint>
#include <vector>

#include "core/algebra/field/fr.h"

namespace cuzk::circuit {

using algebra::Fr;

class Matrix {
 public:
  /// n by n zeros.
  explicit Matrix(uint32_t n) : n_(n), elements_(size_t{n} * n) {}

  Fr& at(uint32_t row, uint32_t column) { return elements_[size_t{row} * n_ + column]; }
  const Fr& at(uint32_t row, uint32_t column) const { return elements_[size_t{row} * n_ + column]; }
  const std::vector<Fr>& elements() const { return elements_; }  ///< row by row

  Matrix Times(const Matrix& other) const;
  std::vector<Fr> TimesColumn(const std::vector<Fr>& column) const;
  /// Without row 0 and column 0.
  Matrix Minor() const;
  /// By Gauss and Jordan; the matrix must be invertible.
  Matrix Inverse() const;

 private:
  uint32_t n_;
  std::vector<Fr> elements_;
};

}  // namespace cuzk::circuit
