#pragma once
// FallbackPoStCircuit: one independent block per sector, no head.

#include <algorithm>
#include <string>

#include "core/circuit/bad_sectors.h"
#include "core/circuit/merkle_gadget.h"
#include "core/circuit/poseidon/prepared_hashes.h"
#include "core/circuit/post.h"

namespace cuzk::circuit {

template <class Cs>
class PostCircuit {
 public:
  using N = Num<Cs>;
  struct Head {};

  PostCircuit(const PostSpec& spec, const PostInputs* inputs) : spec_(spec), inputs_(inputs) {}

  static constexpr const char* kBlockName = "sector";
  uint64_t BlockCount() const { return spec_.sectors; }
  Head MakeHead(Cs&) const { return {}; }
  static Booleans<Cs> HeadBits(const Head&, uint64_t) { return {}; }

  /// Blocks whose hashes are prepared together: as many as there are lanes.
  static constexpr uint64_t kPreparedTogether = 8;
  void Prepare(uint64_t first, uint64_t last, PreparedHashes& prepared) const {
    std::vector<Fr> pairs;
    std::vector<PathStart> starts;
    for (uint64_t i = first; i < last; ++i) {
      const PostSector& sector = Sector(i);
      pairs.insert(pairs.end(), {sector.comm_c, sector.comm_r_last});
      for (const PostChallenge& challenge : sector.challenges) {
        starts.push_back({challenge.leaf, &challenge.comm_r_last_path});
      }
    }
    const size_t comm_r = prepared.Compute(std::move(pairs), 2);
    const std::vector<size_t> levels = prepared.ComputePaths(spec_.replica_tree, starts);
    for (uint64_t i = 0; i < last - first; ++i) {
      prepared.Expect(comm_r, i);
      for (uint64_t j = i * spec_.challenges; j < (i + 1) * spec_.challenges; ++j) {
        for (const size_t level : levels) prepared.Expect(level, j);
      }
    }
  }

  void MakeBlock(Cs& cs, const Head&, uint64_t index) const {
    const PostSector* sector = inputs_ != nullptr ? &Sector(index) : nullptr;
    const N comm_r_last = cs.AllocateNum(Given<Cs>([&] { return sector->comm_r_last; }));
    const N comm_c = cs.AllocateNum(Given<Cs>([&] { return sector->comm_c; }));
    const N comm_r = cs.AllocateNum(Given<Cs>([&] { return sector->comm_r; }));
    {
      [[maybe_unused]] auto scope = cs.Scope("comm_r");
      Inputize(cs, comm_r);
      const N hash = PoseidonPair(cs, comm_c, comm_r_last);
      EnforceSame(cs, comm_r, hash, {"comm_r", -1, "is not the hash of comm_c and comm_r_last"});
    }
    for (uint32_t i = 0; i < spec_.challenges; ++i) {
      const PostChallenge* challenge = sector != nullptr ? &sector->challenges[i] : nullptr;
      const N leaf = cs.AllocateNum(Given<Cs>([&] { return challenge->leaf; }));
      Include(cs, TreeHash::kPoseidon, spec_.replica_tree,
              challenge != nullptr ? &challenge->comm_r_last_path : nullptr,
              {leaf, comm_r_last, {"comm_r_last path of challenge", i}});
    }
  }

  /// A relation that does not hold in block `index`, as an error tells it.
  BadSector Bad(uint64_t index, const r1cs::Relation& relation) const {
    const PostSectorName& name = Sector(index).name;
    std::string what(relation.subject);
    if (relation.index >= 0) what += StrCat(" ", name.first_challenge + static_cast<uint64_t>(relation.index));
    return {name.number, name.item, StrCat(what, ": ", relation.failing)};
  }

 private:
  /// The last sector stands for the missing ones.
  const PostSector& Sector(uint64_t index) const {
    return inputs_->sectors[std::min<size_t>(index, inputs_->sectors.size() - 1)];
  }

  const PostSpec& spec_;
  const PostInputs* inputs_;
};

}  // namespace cuzk::circuit
