#pragma once
// A partition's witness as digests in a JSON object, which other implementations of the circuits write too: writing,
// reading, and saying where two differ.

#include <filesystem>
#include <string>
#include <vector>

#include "core/circuit/witness_stream.h"

namespace cuzk::filecoin {

/// BLAKE2s-256 over canonical little-endian elements of inputs, aux, a, b and c, whole and by chunks, and the public
/// inputs themselves.
struct RecordedWitness {
  uint64_t chunk_elements = uint64_t{1} << 20;
  circuit::WitnessDigest digest;
};

/// The object, without a line end; keys in alphabetical order, two spaces a level.
std::string WitnessJson(const RecordedWitness& witness);

/// Elements of a chunk where a file lists all partitions of a small request (expected.json of a request directory).
inline constexpr uint64_t kListedChunkElements = uint64_t{1} << 16;

/// Reads such an object, or the one at place `partition` of a list "partitions", whose chunks are of
/// kListedChunkElements. Chunks may be left out. InvalidArgument names the file and what is wrong in it.
StatusOr<RecordedWitness> ReadWitnessJson(const std::filesystem::path& path, uint32_t partition);

/// One line for each vector that differs: its first chunk that does, where that begins, and the namespace of its first
/// row ("a: chunk 2 differs, which begins with row 2097152, in challenge 0/comm_d path/level 23/sha256/…"). Empty if
/// the two are equal. Where no chunks are expected, the whole is compared. Naming a row takes seconds at 32 GiB.
StatusOr<std::vector<std::string>> Differences(const circuit::CircuitSpec& spec, const RecordedWitness& made,
                                               const RecordedWitness& expected);

}  // namespace cuzk::filecoin
