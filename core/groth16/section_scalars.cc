#include "core/groth16/section_scalars.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "core/base/check.h"

namespace cuzk::groth16 {
namespace {

using algebra::Fr;
using algebra::G1Affine;
using algebra::G2Affine;

Status CheckInput(const GeneratorInput& input) {
  CUZK_CHECK(input.shape && (input.rows || input.stretches));
  if (input.waste.gamma.IsZero()) return absl::InvalidArgumentError("gamma is zero");
  if (input.waste.delta.IsZero()) return absl::InvalidArgumentError("delta is zero");
  if (input.waste.alpha.IsZero()) return absl::InvalidArgumentError("alpha is zero");
  if (input.waste.beta.IsZero()) return absl::InvalidArgumentError("beta is zero");
  return absl::OkStatus();
}

VerifyingKey MakeKey(const ToxicWaste& waste, std::span<const Fr> input_ext) {
  const G1Affine& g1 = algebra::G1Generator();
  const G2Affine& g2 = algebra::G2Generator();
  VerifyingKey key;
  key.alpha_g1 = ToAffine(ScalarMul(g1, waste.alpha));
  key.beta_g1 = ToAffine(ScalarMul(g1, waste.beta));
  key.beta_g2 = ToAffine(ScalarMul(g2, waste.beta));
  key.gamma_g2 = ToAffine(ScalarMul(g2, waste.gamma));
  key.delta_g1 = ToAffine(ScalarMul(g1, waste.delta));
  key.delta_g2 = ToAffine(ScalarMul(g2, waste.delta));
  const Fr gamma_inverse = waste.gamma.Inverse();
  std::vector<algebra::G1> ic;
  for (const Fr& ext : input_ext) ic.push_back(ScalarMul(g1, ext * gamma_inverse));
  key.ic.resize(ic.size());
  algebra::BatchToAffine(ic, key.ic);
  return key;
}

/// Calls visit(member) for the members of the set from number `first` on, `count` of them.
template <class Visit>
void VisitMembers(const r1cs::IndexSet& set, uint64_t first, uint64_t count, Visit visit) {
  if (count == 0) return;
  constexpr uint64_t kWordsOfBlock = r1cs::IndexSet::kRankBlock / 64;
  const auto& ranks = set.ranks();
  const auto block = std::upper_bound(ranks.begin(), ranks.end(), first) - ranks.begin() - 1;
  uint64_t skip = first - ranks[static_cast<size_t>(block)];
  for (uint64_t word = static_cast<uint64_t>(block) * kWordsOfBlock; count > 0; ++word) {
    uint64_t rest = set.words()[word];
    const auto here = static_cast<uint64_t>(std::popcount(rest));
    if (skip >= here) {
      skip -= here;
      continue;
    }
    for (; skip > 0; --skip) rest &= rest - 1;
    for (; rest != 0 && count > 0; rest &= rest - 1, --count) {
      visit(64 * word + static_cast<uint64_t>(std::countr_zero(rest)));
    }
  }
}

}  // namespace

SectionScalars::SectionScalars(const r1cs::Shape& shape, const ToxicWaste& waste, LagrangeAt lagrange,
                               QueryScalars scalars)
    : shape_(&shape),
      waste_(waste),
      delta_inverse_(waste.delta.Inverse()),
      lagrange_(lagrange),
      scalars_(std::move(scalars)),
      counts_(SectionCounts::Of(shape)),
      key_(MakeKey(waste, scalars_.ext.span().first(shape.counts.inputs))) {}

StatusOr<SectionScalars> SectionScalars::Make(const GeneratorInput& input, memory::HostAllocator& allocator,
                                              ThreadPool& pool) {
  CUZK_RETURN_IF_ERROR(CheckInput(input));
  CUZK_ASSIGN_OR_RETURN(LagrangeAt lagrange, LagrangeAt::Make(input.shape->counts.log2_domain(), input.waste.tau));
  CUZK_ASSIGN_OR_RETURN(QueryScalars scalars, EvaluateAtTau(input, lagrange, allocator, pool));
  return SectionScalars(*input.shape, input.waste, lagrange, std::move(scalars));
}

void SectionScalars::FillPowers(uint64_t begin, std::span<Fr> out) const {
  Fr power = lagrange_.vanishing() * delta_inverse_ * waste_.tau.Pow(begin);
  for (Fr& x : out) {
    x = power;
    power *= waste_.tau;
  }
}

void SectionScalars::FillMembers(Query query, uint64_t begin, std::span<Fr> out) const {
  const uint64_t inputs = shape_->counts.inputs;
  const bool a = query == Query::kA;
  const std::span<const Fr> scalars = a ? scalars_.u.span() : scalars_.v.span();
  const uint64_t input_points = a ? inputs : shape_->b_input.count();
  size_t next = 0;
  if (begin < input_points) {
    const uint64_t count = std::min<uint64_t>(input_points - begin, out.size());
    if (a) {
      for (; next < count; ++next) out[next] = scalars[begin + next];
    } else {
      VisitMembers(shape_->b_input, begin, count, [&](uint64_t i) { out[next++] = scalars[i]; });
    }
  }
  VisitMembers(a ? shape_->a_aux : shape_->b_aux, begin + next - input_points, out.size() - next,
               [&](uint64_t i) { out[next++] = scalars[inputs + i]; });
}

void SectionScalars::Fill(Query query, uint64_t begin, std::span<Fr> out, ThreadPool& pool) const {
  CUZK_CHECK(begin + out.size() <= counts_[query]);
  pool.ParallelFor(out.size(), 4096, [&](size_t from, size_t to) {
    const std::span<Fr> part = out.subspan(from, to - from);
    switch (query) {
      case Query::kH:
        FillPowers(begin + from, part);
        break;
      case Query::kL: {
        const Fr* ext = scalars_.ext.span().data() + shape_->counts.inputs + begin + from;
        for (size_t i = 0; i < part.size(); ++i) part[i] = ext[i] * delta_inverse_;
        break;
      }
      default:
        FillMembers(query, begin + from, part);
    }
  });
}

}  // namespace cuzk::groth16
