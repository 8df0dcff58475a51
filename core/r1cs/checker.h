#pragma once
// The reading of a circuit that has rows and values: for tests and audits.

#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/r1cs/system.h"
#include "core/r1cs/terms.h"

namespace cuzk::r1cs {

/// Assigns values, checks every row, and keeps the name of the first row that does not hold. One thread.
class Checker {
 public:
  using Id = Variable;
  using Scalar = Fr;
  using Flag = bool;
  using Lc = TermLc<Checker>;
  static constexpr bool kComputes = true;
  static constexpr bool kNativeBodies = false;

  Num<Checker> AllocateNum(const Fr& value);
  Bit<Checker> AllocateBit(bool value);
  Num<Checker> AllocateInput(const Fr& value);
  void Enforce(Lc&& a, Lc&& b, Lc&& c);
  [[nodiscard]] NamePath::Guard Scope(const char* name, int64_t index = -1) { return names_.Enter(name, index); }
  void Broken(const Relation& relation);

  /// OK, or INVALID_ARGUMENT with number and name of the first row, or the name of the first relation, that does not
  /// hold.
  Status status() const;
  const std::vector<Fr>& inputs() const { return inputs_; }
  const std::vector<Fr>& aux() const { return aux_; }
  /// The values of a, b and c, row by row.
  const std::array<std::vector<Fr>, kMatrixCount>& rows() const { return rows_; }

 private:
  Fr Evaluate(std::span<const Term> terms) const;
  std::vector<Fr> inputs_{Fr::One()};
  std::vector<Fr> aux_;
  std::array<std::vector<Fr>, kMatrixCount> rows_;
  std::string first_failure_;
  NamePath names_;
};

}  // namespace cuzk::r1cs
