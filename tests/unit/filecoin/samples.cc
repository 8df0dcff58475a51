#include "tests/unit/filecoin/samples.h"

#include <gtest/gtest.h>
#include <simdjson.h>

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

}  // namespace cuzk::filecoin::testing_support
