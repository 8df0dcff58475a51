#pragma once
// Transforms over Fr between coefficients and evaluations on a domain of roots of unity, or on its coset by 7.
//
// With w the domain's root of order n and g = 7:
//   Ntt               X_i = sum_j x_j w^(ij)              InverseNtt       x_j = 1/n sum_i X_i w^(-ij)
//   CosetNtt          X_i = sum_j x_j g^j w^(ij)          InverseCosetNtt  x_j = g^(-j)/n sum_i X_i w^(-ij)
//
// Every transform works in place. "Reversed" order means that element i lies at the position whose `log2_size` bits are
// those of i read backwards; the transforms between natural and reversed order move nothing but what they compute, and
// the coset costs them nothing (its shift is part of the twiddle factors). Natural order on both sides costs one pass
// more over memory.
//
// Method: n = rows * columns, both about sqrt(n); the upper half of the levels works on columns, the lower on rows,
// eight columns or rows at a time in a block that stays in the second-level cache: two passes over memory for any size.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/algebra/field/fr.h"
#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/thread_pool.h"

namespace cuzk::algebra {

struct DomainTables;  // ntt_tables.h

/// The roots of unity of order 2^log2_size with what the transforms precompute. Immutable and cheap to copy: copies
/// share the tables. Use it from any number of threads and jobs. Memory: about 1 KiB * sqrt(2^log2_size), which is 4
/// MiB at 2^27 and 64 MiB at 2^32; the transforms themselves take at most about 2 KiB * sqrt(n) more for each thread.
class Domain {
 public:
  /// log2_size <= 32. `arithmetic` must be supported by this processor.
  explicit Domain(unsigned log2_size, Arithmetic arithmetic = BestArithmetic());

  unsigned log2_size() const;
  size_t size() const { return size_t{1} << log2_size(); }
  Arithmetic arithmetic() const;
  /// w, of order size().
  const Fr& root() const;
  const Fr& root_inverse() const;
  /// 1/size().
  const Fr& size_inverse() const;
  /// g^size() - 1, the constant value of the vanishing polynomial X^n - 1 on the coset, and its inverse.
  Fr CosetVanishing() const;
  Fr CosetVanishingInverse() const;

  const DomainTables& tables() const { return *tables_; }

 private:
  std::shared_ptr<const DomainTables> tables_;
};

/// All of these: `values` has domain.size() elements. Work is shared among the threads of `pool`; any number of calls
/// may use one pool and one domain at once.

/// Natural order in and out.
void Ntt(std::span<Fr> values, const Domain& domain, ThreadPool& pool);
void InverseNtt(std::span<Fr> values, const Domain& domain, ThreadPool& pool);
void CosetNtt(std::span<Fr> values, const Domain& domain, ThreadPool& pool);
void InverseCosetNtt(std::span<Fr> values, const Domain& domain, ThreadPool& pool);

/// Natural order in, reversed order out.
void NttToReversed(std::span<Fr> values, const Domain& domain, ThreadPool& pool);
void InverseNttToReversed(std::span<Fr> values, const Domain& domain, ThreadPool& pool);
void CosetNttToReversed(std::span<Fr> values, const Domain& domain, ThreadPool& pool);

/// Reversed order in, natural order out.
void NttFromReversed(std::span<Fr> values, const Domain& domain, ThreadPool& pool);
void InverseNttFromReversed(std::span<Fr> values, const Domain& domain, ThreadPool& pool);
void InverseCosetNttFromReversed(std::span<Fr> values, const Domain& domain, ThreadPool& pool);

/// Exchanges natural and reversed order; the length is a power of two.
void ReverseOrder(std::span<Fr> values, ThreadPool& pool);

/// Point by point, for any length: a[i] *= b[i].
void MultiplyPoints(std::span<Fr> a, std::span<const Fr> b, Arithmetic arithmetic, ThreadPool& pool);
/// a[i] = (a[i] - b[i]) scale.
void SubtractAndScale(std::span<Fr> a, std::span<const Fr> b, const Fr& scale, Arithmetic arithmetic, ThreadPool& pool);

/// The quotient polynomial of Groth16: from the row evaluations a, b, c on the domain (natural order, n elements each,
/// zero padded) to the n coefficients of h = (a b - c) / (X^n - 1) in natural order, left in `a`; b and c are
/// overwritten. The last coefficient is zero if and only if every row is satisfied. Six transforms: on the coset the
/// divisor is the constant g^n - 1, so that c need not go there: h = (the coefficients of a b there, less those of c) /
/// (g^n - 1).
void Quotient(std::span<Fr> a, std::span<Fr> b, std::span<Fr> c, const Domain& domain, ThreadPool& pool);

/// sum_j coefficients[j] x^j by Horner's rule; the reference that tests compare with.
Fr NaiveEvaluate(std::span<const Fr> coefficients, const Fr& x);

}  // namespace cuzk::algebra
