#include "core/circuit/poseidon/matrix.h"

#include <utility>

#include "core/base/check.h"

namespace cuzk::circuit {

Matrix Matrix::Times(const Matrix& other) const {
  Matrix product(n_);
  for (uint32_t i = 0; i < n_; ++i) {
    for (uint32_t k = 0; k < n_; ++k) {
      for (uint32_t j = 0; j < n_; ++j) product.at(i, j) += at(i, k) * other.at(k, j);
    }
  }
  return product;
}

std::vector<Fr> Matrix::TimesColumn(const std::vector<Fr>& column) const {
  std::vector<Fr> product(n_);
  for (uint32_t i = 0; i < n_; ++i) {
    for (uint32_t j = 0; j < n_; ++j) product[i] += at(i, j) * column[j];
  }
  return product;
}

Matrix Matrix::Minor() const {
  Matrix minor(n_ - 1);
  for (uint32_t i = 1; i < n_; ++i) {
    for (uint32_t j = 1; j < n_; ++j) minor.at(i - 1, j - 1) = at(i, j);
  }
  return minor;
}

Matrix Matrix::Inverse() const {
  Matrix left = *this, right(n_);
  for (uint32_t i = 0; i < n_; ++i) right.at(i, i) = Fr::One();
  for (uint32_t column = 0; column < n_; ++column) {
    uint32_t pivot = column;
    while (pivot < n_ && left.at(pivot, column).IsZero()) ++pivot;
    CUZK_CHECK(pivot < n_);
    const Fr scale = left.at(pivot, column).Inverse();
    for (uint32_t j = 0; j < n_; ++j) {
      std::swap(left.at(pivot, j), left.at(column, j));
      std::swap(right.at(pivot, j), right.at(column, j));
      left.at(column, j) *= scale;
      right.at(column, j) *= scale;
    }
    for (uint32_t i = 0; i < n_; ++i) {
      const Fr factor = left.at(i, column);
      if (i == column || factor.IsZero()) continue;
      for (uint32_t j = 0; j < n_; ++j) {
        left.at(i, j) -= factor * left.at(column, j);
        right.at(i, j) -= factor * right.at(column, j);
      }
    }
  }
  return right;
}

}  // namespace cuzk::circuit
