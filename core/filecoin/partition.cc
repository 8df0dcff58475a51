#include "core/filecoin/partition.h"

#include <bit>

#include "core/filecoin/format/c1_reader.h"
#include "core/filecoin/porep.h"
#include "core/filecoin/post.h"
#include "core/filecoin/types/digest.h"
#include "core/filecoin/update.h"

namespace cuzk::filecoin {
namespace {

StatusOr<ParsedRequest> ParsePorep(VanillaRequest request, const ParseOptions& options) {
  CUZK_ASSIGN_OR_RETURN(C1 c1, ReadC1(request.vanilla_proof));
  std::string().swap(request.vanilla_proof);
  const RegisteredProof* proof = c1.vanilla.proof;
  if (proof->feature == PorepFeature::kNonInteractive && !options.allow_non_interactive) {
    return absl::UnimplementedError(
        StrCat(proof->name, ": non-interactive PoRep is not supported, because proofs are not aggregated"));
  }
  const std::pair<std::string_view, uint64_t> sizes[] = {{"sector_size", request.sector_size},
                                                         {"SectorSize of the C1 wrapper", c1.sector_size}};
  for (auto [name, size] : sizes) {
    if (size == 0 || size == proof->size().bytes) continue;
    return absl::InvalidArgumentError(StrCat(name, " is ", size, ", but the C1 is of ", proof->name));
  }
  CUZK_ASSIGN_OR_RETURN(auto partitions,
                        MakePorepPartitions(std::move(c1.vanilla), request.miner_id, request.sector_number));
  return ParsedRequest{proof, std::move(partitions)};
}

StatusOr<ParsedRequest> ParsePost(VanillaRequest request, const RequestFacts& facts) {
  uint32_t index = facts.kind == Kind::kWindow ? request.partition_index : 0;
  ParsedRequest parsed{facts.proof, {}};
  CUZK_ASSIGN_OR_RETURN(Partition partition,
                        MakePostPartition({facts.proof, facts.randomness, index}, std::move(request.vanilla_proofs)));
  parsed.partitions.push_back(std::move(partition));
  return parsed;
}

StatusOr<ParsedRequest> ParseSnap(VanillaRequest request, const RequestFacts& facts) {
  UpdatePublic update{facts.proof, {}, {}, {}};
  CUZK_ASSIGN_OR_RETURN(update.comm_r_old, algebra::FrFromBytes(facts.comm_r_old, "comm_r_old"));
  CUZK_ASSIGN_OR_RETURN(update.comm_r_new, algebra::FrFromBytes(facts.comm_r_new, "comm_r_new"));
  CUZK_ASSIGN_OR_RETURN(update.comm_d_new, algebra::FrFromBytes(facts.comm_d_new, "comm_d_new"));
  ParsedRequest parsed{facts.proof, {}};
  for (size_t k = 0; k < request.vanilla_proofs.size(); ++k) {
    CUZK_ASSIGN_OR_RETURN(Partition partition,
                          MakeUpdatePartition(update, static_cast<uint32_t>(k), AsBytes(request.vanilla_proofs[k])));
    std::string().swap(request.vanilla_proofs[k]);
    parsed.partitions.push_back(std::move(partition));
  }
  return parsed;
}

}  // namespace

circuit::CircuitSpec SpecOf(const Circuit& circuit) {
  const SizeRow& size = *circuit.size;
  if (circuit.kind == Kind::kPorep) {
    PorepCounts counts = PorepCountsOf(size);
    return circuit::PorepSpec{size.data_tree(), size.replica_tree(), counts.layers, counts.challenges};
  }
  if (circuit.kind == Kind::kSnap) {
    UpdateCounts counts = UpdateCountsOf(size);
    circuit::UpdateSpec spec{size.replica_tree(), counts.log2_partitions(),
                             static_cast<uint32_t>(std::bit_width(counts.apex_leaves) - 1), counts.challenges};
    for (size_t i = 0; i < spec.h_values.size(); ++i) spec.h_values[i] = counts.h_values[i];
    return spec;
  }
  PostCounts counts = PostCountsOf(circuit.kind, size);
  return circuit::PostSpec{size.replica_tree(), counts.sectors, counts.challenges};
}

StatusOr<ParsedRequest> ParseRequest(VanillaRequest request, const ParseOptions& options) {
  auto facts = CheckRequest(request);
  // What a C1 holds is decided by the C1 alone, so with leave to read non-interactive ones their numbers pass.
  bool waived = options.allow_non_interactive && absl::IsUnimplemented(facts.status());
  if (!facts.ok() && !waived) return facts.status();
  if (waived || facts->kind == Kind::kPorep) return ParsePorep(std::move(request), options);
  if (facts->kind == Kind::kSnap) return ParseSnap(std::move(request), *facts);
  return ParsePost(std::move(request), *facts);
}

}  // namespace cuzk::filecoin
