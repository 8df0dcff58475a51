#include "core/r1cs/terms.h"

#include "core/base/text.h"

namespace cuzk::r1cs {
namespace {

/// Above this length a list is sorted by (variable, place) keys instead of by insertion.
constexpr size_t kInsertionLimit = 12;

}  // namespace

void TermList::SortLong() {
  std::vector<uint64_t> keys(terms_.size());
  for (size_t i = 0; i < terms_.size(); ++i) keys[i] = static_cast<uint64_t>(terms_[i].variable.key()) << 32 | i;
  std::sort(keys.begin(), keys.end());
  absl::InlinedVector<Term, 6> sorted(terms_.size());
  for (size_t i = 0; i < keys.size(); ++i) sorted[i] = terms_[static_cast<uint32_t>(keys[i])];
  terms_ = std::move(sorted);
}

std::span<const Term> TermList::Normalize() {
  bool ascending = true, zero = false;
  for (size_t i = 0; i < terms_.size(); ++i) {
    if (i > 0 && terms_[i - 1].variable >= terms_[i].variable) ascending = false;
    zero |= terms_[i].coefficient.IsZero();
  }
  if (ascending && !zero) return {terms_.data(), terms_.size()};
  if (!ascending && terms_.size() > kInsertionLimit) {
    SortLong();
  } else if (!ascending) {
    for (size_t i = 1; i < terms_.size(); ++i) {
      const Term term = terms_[i];
      size_t j = i;
      for (; j > 0 && term.variable < terms_[j - 1].variable; --j) terms_[j] = terms_[j - 1];
      terms_[j] = term;
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < terms_.size();) {
    Term merged = terms_[i];
    for (++i; i < terms_.size() && terms_[i].variable == merged.variable; ++i) {
      merged.coefficient += terms_[i].coefficient;
    }
    if (!merged.coefficient.IsZero()) terms_[kept++] = merged;
  }
  return {terms_.data(), kept};
}

std::string NamePath::Text() const {
  std::string text;
  for (const Frame& frame : frames_) {
    if (!text.empty()) text += '/';
    text += frame.name;
    if (frame.index >= 0) text += StrCat(" ", frame.index);
  }
  return text;
}

}  // namespace cuzk::r1cs
