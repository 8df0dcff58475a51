#include "core/filecoin/post.h"

#include "core/base/check.h"
#include "core/circuit/bad_sectors.h"
#include "core/filecoin/format/bincode_reader.h"
#include "core/filecoin/relations.h"
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

/// Appends the circuit's sectors for one item: one, or for winning one per challenge.
void AppendSectors(const PostCounts& counts, PostVanilla vanilla, uint32_t item,
                   std::vector<circuit::PostSector>& sectors) {
  for (uint32_t n = 0; n < vanilla.proofs.size(); ++n) {
    if (n % counts.challenges == 0) {
      sectors.push_back({vanilla.comm_r, vanilla.comm_c, vanilla.comm_r_last, {}, {vanilla.sector_id, item, n}});
    }
    sectors.back().challenges.push_back({vanilla.proofs[n].leaf, std::move(vanilla.proofs[n].path)});
  }
}

/// Reads the items of a request, and collects what is wrong with them.
class PostReader {
 public:
  PostReader(const PostPublic& facts, PostCounts counts) : facts_(facts), counts_(counts) {}

  void Add(uint32_t item, ByteSpan bytes) {
    items_++;
    const uint64_t number = LoadLe<uint64_t>(bytes.data());
    auto vanilla = ReadPostVanilla(*facts_.proof->circuit, bytes);
    if (!vanilla.ok()) {
      bad_.push_back({number, item, std::string(vanilla.status().message())});
      return;
    }
    if (!Check(*vanilla, item)) return;
    sectors_.push_back({number, vanilla->comm_r});
    AppendSectors(counts_, *std::move(vanilla), item, inputs_.sectors);
  }

  StatusOr<Partition> Finish() && {
    if (bad_.empty()) return Partition{0, std::move(inputs_), PostPublicInputs(facts_, sectors_)};
    // Where no sector has the challenges of this request, the request is wrong and not its sectors.
    if (strangers_ == items_ && (items_ > 1 || explained_)) {
      return absl::InvalidArgumentError(StrCat("the challenges of no sector are those of this request: sector ",
                                               bad_[0].number, " (item ", bad_[0].item, "), ", bad_[0].what));
    }
    for (circuit::BadSector& sector : BrokenSectors(facts_.proof->size(), inputs_)) bad_.push_back(std::move(sector));
    return circuit::BadSectorsError(std::move(bad_));
  }

 private:
  bool Check(const PostVanilla& vanilla, uint32_t item) {
    const std::vector<uint64_t> challenges = PostSectorChallenges(facts_, vanilla.sector_id, item);
    for (size_t n = 0; n < challenges.size(); ++n) {
      const MerkleProof& proof = vanilla.proofs[n];
      std::string what;
      if (proof.path.leaf_index != challenges[n]) {
        what = StrCat("index ", proof.path.leaf_index, " is not the challenge ", challenges[n]);
        // Every sector would be explained the same way.
        const std::string explanation = strangers_++ == 0 ? Explanation(facts_, vanilla, item) : "";
        explained_ |= !explanation.empty();
        what += explanation;
      } else if (!(proof.root == vanilla.comm_r_last)) {
        what = "root is not comm_r_last";
      } else {
        continue;
      }
      bad_.push_back({vanilla.sector_id, item, StrCat("challenge ", n, ": ", what)});
      return false;
    }
    return true;
  }

  const PostPublic& facts_;
  const PostCounts counts_;
  circuit::PostInputs inputs_;
  std::vector<PostPublicSector> sectors_;
  std::vector<circuit::BadSector> bad_;
  uint32_t items_ = 0;
  uint32_t strangers_ = 0;  // sectors with a challenge that is not this request's
  bool explained_ = false;  // the first of them has the challenges of another partition index
};

}  // namespace

StatusOr<Partition> MakePostPartition(const PostPublic& facts, std::vector<std::string> items) {
  const PostCounts counts = PostCountsOf(facts.proof->kind, facts.proof->size());
  CUZK_CHECK(!items.empty() && items.size() <= counts.most_sectors);
  PostReader reader(facts, counts);
  for (uint32_t i = 0; i < items.size(); ++i) {
    reader.Add(i, AsBytes(items[i]));
    std::string().swap(items[i]);
  }
  return std::move(reader).Finish();
}

}  // namespace cuzk::filecoin
