#include "tests/unit/filecoin/samples.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <optional>
#include <set>

#include "core/filecoin/relations.h"
#include "tests/fixtures.h"

namespace cuzk::filecoin::testing_support {

using algebra::Fr;
using cuzk::testing_support::Fixtures;
using cuzk::testing_support::Vectors;

std::vector<std::filesystem::path> RequestDirectories(std::string_view kind) {
  std::vector<std::filesystem::path> roots;
  if (auto fixtures = Fixtures()) roots.push_back(*fixtures);
  roots.push_back(Vectors() / "filecoin");
  std::vector<std::filesystem::path> directories;
  std::set<std::string> seen;
  for (const auto& root : roots) {
    for (const auto& entry : std::filesystem::directory_iterator(root / kind)) {
      if (seen.insert(entry.path().filename().string()).second) directories.push_back(entry.path());
    }
  }
  EXPECT_FALSE(directories.empty()) << kind;
  return directories;
}

DirectoryRequest Recorded(std::string_view name) {
  auto read = ReadRequestDirectory(Vectors() / "filecoin" / name);
  EXPECT_TRUE(read.ok()) << read.status();
  return *std::move(read);
}

std::vector<std::vector<Fr>> RecordedPublicInputs(const std::filesystem::path& directory) {
  std::vector<std::vector<Fr>> all;
  if (!std::filesystem::exists(directory / "expected.json")) return all;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  EXPECT_EQ(parser.load((directory / "expected.json").string()).get(root), simdjson::SUCCESS);
  simdjson::dom::array partitions;
  EXPECT_EQ(root["partitions"].get(partitions), simdjson::SUCCESS);
  for (simdjson::dom::element partition : partitions) {
    simdjson::dom::array inputs;
    EXPECT_EQ(partition["public_inputs"].get(inputs), simdjson::SUCCESS);
    all.emplace_back();
    for (simdjson::dom::element input : inputs) {
      std::string_view hex;
      EXPECT_EQ(input.get(hex), simdjson::SUCCESS);
      all.back().push_back(*Fr::FromBytesLe(*Bytes32FromHex(hex)));
    }
  }
  return all;
}

StatusOr<ParsedRequest> ParseAndCheck(VanillaRequest request) {
  ParseOptions options;
  options.allow_non_interactive = true;
  CUZK_ASSIGN_OR_RETURN(ParsedRequest parsed, ParseRequest(std::move(request), options));
  for (const Partition& partition : parsed.partitions) {
    Status status = CheckClosedRelations(*parsed.proof->circuit, partition.inputs);
    if (!status.ok()) return Annotate(std::move(status), StrCat("partition ", partition.index));
  }
  return parsed;
}

namespace {

/// All values of a partition's inputs in one list, so that lists compare where inputs would.
class Flat {
 public:
  explicit Flat(const circuit::PartitionInputs& inputs) {
    std::visit([this](const auto& kind) { Add(kind); }, inputs);
  }
  friend bool operator==(const Flat&, const Flat&) = default;

 private:
  void Add(const Fr& value) { elements_.push_back(value); }
  void Add(uint64_t value) { numbers_.push_back(value); }
  void Add(const std::optional<Fr>& value) {
    Add(uint64_t{value.has_value()});
    if (value) Add(*value);
  }
  template <class T>
  void Add(const std::vector<T>& list) {
    numbers_.push_back(list.size());
    for (const T& item : list) Add(item);
  }
  void Add(const circuit::PathInputs& path) { Add(path.leaf_index), Add(path.siblings); }
  void Add(const circuit::PorepColumn& column) {
    Add(column.labels), Add(column.comm_c_path), Add(column.claimed_hash);
  }
  void Add(const circuit::PorepChallenge& proof) {
    Add(proof.data_leaf), Add(proof.comm_d_path), Add(proof.challenge);
    for (const auto& parent : proof.parents) Add(parent);
    Add(proof.comm_r_last_path), Add(proof.comm_c_path);
    Add(proof.claimed_labels), Add(proof.claimed_column_hash);
  }
  void Add(const circuit::PorepInputs& in) {
    Add(in.replica_id), Add(in.comm_d), Add(in.comm_r), Add(in.comm_r_last), Add(in.comm_c), Add(in.challenges);
  }
  void Add(const circuit::PostChallenge& proof) { Add(proof.leaf), Add(proof.comm_r_last_path); }
  void Add(const circuit::PostSector& sector) {
    Add(sector.comm_r), Add(sector.comm_c), Add(sector.comm_r_last), Add(sector.challenges);
  }
  void Add(const circuit::PostInputs& in) { Add(in.sectors); }
  void Add(const circuit::UpdateChallenge& proof) {
    Add(proof.leaf_old), Add(proof.leaf_new), Add(proof.leaf_data);
    Add(proof.path_old), Add(proof.path_new), Add(proof.data_path);
  }
  void Add(const circuit::UpdateInputs& in) {
    Add(uint64_t{in.partition}), Add(uint64_t{in.h_index});
    Add(in.comm_r_old), Add(in.comm_d_new), Add(in.comm_r_new), Add(in.comm_c), Add(in.root_r_old), Add(in.root_r_new);
    Add(in.apex_leaves), Add(in.partition_siblings), Add(in.challenges);
  }

  std::vector<Fr> elements_;
  std::vector<uint64_t> numbers_;
};

}  // namespace

bool SamePartitions(const ParsedRequest& a, const ParsedRequest& b) {
  if (a.proof != b.proof || a.partitions.size() != b.partitions.size()) return false;
  for (size_t k = 0; k < a.partitions.size(); ++k) {
    if (!(a.partitions[k].public_inputs == b.partitions[k].public_inputs)) return false;
    if (!(Flat(a.partitions[k].inputs) == Flat(b.partitions[k].inputs))) return false;
  }
  return true;
}

}  // namespace cuzk::filecoin::testing_support
