#include "core/prover/cpu/cpu_parameters.h"

namespace cuzk::prover {

using algebra::G1Affine;
using algebra::G2Affine;
using groth16::kAllQueries;
using groth16::Query;

uint64_t CpuParameters::Bytes(const groth16::SectionCounts& counts) {
  uint64_t bytes = 0;
  for (Query query : kAllQueries) bytes += counts[query] * groth16::PointBytes(query);
  return bytes;
}

StatusOr<std::shared_ptr<const CpuParameters>> CpuParameters::Load(const groth16::ParameterFile& file,
                                                                   std::shared_ptr<const r1cs::Shape> shape, Plan plan,
                                                                   const LoadOptions& options,
                                                                   const CpuContext& context) {
  const groth16::SectionCounts counts = groth16::SectionCounts::Of(*shape);
  if (file.counts() != counts) {
    return absl::FailedPreconditionError(StrCat(file.path().string(), ": not of this circuit"));
  }
  algebra::Domain domain(shape->counts.log2_domain(), context.arithmetic);
  std::shared_ptr<CpuParameters> out(new CpuParameters(std::move(shape), std::move(plan), std::move(domain)));
  out->key_ = file.verifying_key();

  const uint64_t total = Bytes(counts);
  uint64_t before = 0;
  groth16::DecodeOptions decode{.policy = options.policy, .arithmetic = context.arithmetic, .stop = options.stop};
  if (options.progress) decode.progress = [&](uint64_t done, uint64_t) { options.progress(before + done, total); };
  for (Query query : kAllQueries) {
    const std::string what = StrCat("points of section ", QueryName(query));
    if (query == Query::kBG2) {
      CUZK_ASSIGN_OR_RETURN(out->b_g2_, memory::Array<G2Affine>::Allocate(*context.allocator, counts[query], what));
      CUZK_RETURN_IF_ERROR(DecodeG2(file, 0, out->b_g2_.span(), *context.pool, decode));
    } else {
      auto& points = out->g1_[static_cast<size_t>(query)];
      CUZK_ASSIGN_OR_RETURN(points, memory::Array<G1Affine>::Allocate(*context.allocator, counts[query], what));
      CUZK_RETURN_IF_ERROR(DecodeG1(file, {query}, points.span(), *context.pool, decode));
    }
    before += counts[query] * groth16::PointBytes(query);
  }
  return out;
}

}  // namespace cuzk::prover
