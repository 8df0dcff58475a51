#include "core/filecoin/post.h"

#include <optional>

#include "core/base/check.h"
#include "core/filecoin/format/bincode_reader.h"
#include "core/filecoin/types/digest.h"

namespace cuzk::filecoin {
namespace {

/// Partition indices that are tried to explain wrong challenges; a deadline has a few partitions.
constexpr uint32_t kPartitionsTried = 4096;

bool ChallengesFit(const PostVanilla& vanilla, std::span<const uint64_t> challenges) {
  for (size_t n = 0; n < challenges.size(); ++n) {
    if (vanilla.proofs[n].path.leaf_index != challenges[n]) return false;
  }
  return true;
}

/// Says which partition index the challenges belong to, if any.
std::string Explanation(const PostPublic& facts, const PostVanilla& vanilla, size_t position) {
  if (facts.proof->kind != Kind::kWindow || facts.proof->version == ApiVersion::kV1_2) return "";
  PostPublic other = facts;
  for (other.partition_index = 0; other.partition_index < kPartitionsTried; ++other.partition_index) {
    if (ChallengesFit(vanilla, PostSectorChallenges(other, vanilla.sector_id, position))) {
      return StrCat("; the challenges are those of partition_index ", other.partition_index, ", and the request says ",
                    facts.partition_index);
    }
  }
  return "";
}

Status CheckSector(const PostPublic& facts, const PostVanilla& vanilla, size_t position) {
  auto wrong = [&](size_t n, std::string_view what) {
    return absl::InvalidArgumentError(
        StrCat("sector ", vanilla.sector_id, " (item ", position, "), challenge ", n, ": ", what));
  };
  std::vector<uint64_t> challenges = PostSectorChallenges(facts, vanilla.sector_id, position);
  for (size_t n = 0; n < challenges.size(); ++n) {
    const MerkleProof& proof = vanilla.proofs[n];
    if (proof.path.leaf_index != challenges[n]) {
      return wrong(n, StrCat("index ", proof.path.leaf_index, " is not the challenge ", challenges[n],
                             Explanation(facts, vanilla, position)));
    }
    if (!(proof.root == vanilla.comm_r_last)) return wrong(n, "root is not comm_r_last");
  }
  return absl::OkStatus();
}

/// Appends the circuit's sectors for one item: one, or for winning one per challenge.
void AppendSectors(const PostCounts& counts, PostVanilla vanilla, std::vector<circuit::PostSector>& sectors) {
  for (size_t n = 0; n < vanilla.proofs.size(); ++n) {
    if (n % counts.challenges == 0) sectors.push_back({vanilla.comm_r, vanilla.comm_c, vanilla.comm_r_last, {}});
    sectors.back().challenges.push_back({vanilla.proofs[n].leaf, std::move(vanilla.proofs[n].path)});
  }
}

}  // namespace

StatusOr<Partition> MakePostPartition(const PostPublic& facts, std::vector<std::string> items) {
  PostCounts counts = PostCountsOf(facts.proof->kind, facts.proof->size());
  CUZK_CHECK(!items.empty() && items.size() <= counts.most_sectors);
  circuit::PostInputs inputs;
  std::vector<PostPublicSector> sectors;
  for (size_t i = 0; i < items.size(); ++i) {
    auto vanilla = ReadPostVanilla(*facts.proof->circuit, AsBytes(items[i]));
    if (!vanilla.ok()) return Annotate(vanilla.status(), StrCat("item ", i));
    std::string().swap(items[i]);
    if (!sectors.empty() && sectors.back().id >= vanilla->sector_id) {
      return absl::InvalidArgumentError(StrCat("item ", i, ": sector ", vanilla->sector_id, " after sector ",
                                               sectors.back().id, ", but sectors must ascend"));
    }
    CUZK_RETURN_IF_ERROR(CheckSector(facts, *vanilla, i));
    sectors.push_back({vanilla->sector_id, vanilla->comm_r});
    AppendSectors(counts, *std::move(vanilla), inputs.sectors);
  }
  return Partition{0, std::move(inputs), PostPublicInputs(facts, sectors)};
}

}  // namespace cuzk::filecoin
