#pragma once
// Recorded requests: the repository's own, and the full set where it exists.

#include <filesystem>
#include <string>
#include <vector>

#include "core/algebra/field/fr.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/request_directory.h"

namespace cuzk::filecoin::testing_support {

/// The request directories of one kind ("porep", "window", "winning", "snap"); each once, the full set's first.
std::vector<std::filesystem::path> RequestDirectories(std::string_view kind);

/// One of the repository's own: "porep/2KiB-v1_1-1000-84".
DirectoryRequest Recorded(std::string_view name);

/// The recorded public inputs, per partition, from expected.json; none where there is no such file.
std::vector<std::vector<algebra::Fr>> RecordedPublicInputs(const std::filesystem::path& directory);

/// Parses and checks everything, those relations too that production leaves to the circuit: what a request must pass
/// before its proof can be right.
StatusOr<ParsedRequest> ParseAndCheck(VanillaRequest request);

/// Whether both prove the same: equal inputs of the circuit and equal public inputs.
bool SamePartitions(const ParsedRequest& a, const ParsedRequest& b);

}  // namespace cuzk::filecoin::testing_support
