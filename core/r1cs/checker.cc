#include "core/r1cs/checker.h"

#include "core/base/text.h"

namespace cuzk::r1cs {

Num<Checker> Checker::AllocateNum(const Fr& value) {
  aux_.push_back(value);
  return {Variable::Aux(static_cast<uint32_t>(aux_.size() - 1)), value};
}

Bit<Checker> Checker::AllocateBit(bool value) {
  aux_.push_back(value ? Fr::One() : Fr::Zero());
  return {Variable::Aux(static_cast<uint32_t>(aux_.size() - 1)), value};
}

Num<Checker> Checker::AllocateInput(const Fr& value) {
  inputs_.push_back(value);
  return {Variable::Input(static_cast<uint32_t>(inputs_.size() - 1)), value};
}

Fr Checker::Evaluate(std::span<const Term> terms) const {
  Fr sum = Fr::Zero();
  for (const Term& term : terms) {
    const uint32_t i = term.variable.index();
    sum += term.coefficient * (term.variable.is_aux() ? aux_[i] : inputs_[i]);
  }
  return sum;
}

void Checker::Enforce(Lc&& a, Lc&& b, Lc&& c) {
  const Fr va = Evaluate(a.list().Normalize());
  const Fr vb = Evaluate(b.list().Normalize());
  const Fr vc = Evaluate(c.list().Normalize());
  if (first_failure_.empty() && va * vb != vc) {
    first_failure_ = StrCat("row ", rows_[0].size(), " (", names_.Text(), ") does not hold");
  }
  rows_[0].push_back(va);
  rows_[1].push_back(vb);
  rows_[2].push_back(vc);
}

void Checker::Broken(const Relation& relation) {
  if (!first_failure_.empty()) return;
  first_failure_ = StrCat(names_.Text(), ": ", relation.subject);
  if (relation.index >= 0) first_failure_ += StrCat(" ", relation.index);
  first_failure_ += StrCat(" ", relation.failing);
}

Status Checker::status() const {
  return first_failure_.empty() ? absl::OkStatus() : absl::InvalidArgumentError(first_failure_);
}

}  // namespace cuzk::r1cs
