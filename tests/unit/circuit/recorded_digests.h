#pragma once
// The recorded R1CS of Filecoin's own crates, and the comparison with ours. tests/vectors/circuit has the counts, the
// digest and the first 64 chunks of each circuit; the full set has every chunk, and where it exists every chunk is
// compared.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/circuit/circuit.h"
#include "tests/fixtures.h"
#include "tests/unit/circuit/specs.h"

namespace cuzk::circuit {

struct Recorded {
  uint64_t inputs = 0, aux = 0, rows = 0, chunk_rows = 0;
  std::array<uint64_t, 3> nnz{};
  std::string digest;
  std::vector<std::string> chunks;
};

inline Recorded Read(const std::filesystem::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  Recorded r;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "inputs") words >> r.inputs;
    if (key == "aux") words >> r.aux;
    if (key == "rows") words >> r.rows;
    if (key == "nnz") words >> r.nnz[0] >> r.nnz[1] >> r.nnz[2];
    if (key == "r1cs") words >> r.digest;
    if (key == "chunk-rows") words >> r.chunk_rows;
    if (isdigit(key[0])) words >> r.chunks.emplace_back();
  }
  return r;
}

inline Recorded RecordedFor(const std::string& name) {
  if (const auto fixtures = testing_support::Fixtures()) return Read(*fixtures / "r1cs" / (name + ".txt"));
  return Read(testing_support::Vectors() / "circuit" / (name + ".txt"));
}

inline void ExpectEqual(const CircuitDigest& ours, const Recorded& want, bool whole) {
  EXPECT_EQ(ours.counts.inputs, want.inputs);
  EXPECT_EQ(ours.counts.aux, want.aux);
  EXPECT_EQ(ours.counts.rows, want.rows);
  EXPECT_EQ(ours.counts.nnz, want.nnz);
  EXPECT_EQ(ours.chunk_rows, want.chunk_rows);
  const size_t chunks = std::min(ours.chunks.size(), want.chunks.size());
  EXPECT_GT(chunks, 0u);
  for (size_t i = 0; i < chunks; ++i) {
    ASSERT_EQ(ToHex(ours.chunks[i].blake2s), want.chunks[i])
        << "first wrong chunk is " << i << ", which begins with row " << ours.chunks[i].first_row << ", "
        << ours.chunks[i].first_name;
  }
  if (whole) {
    EXPECT_EQ(ToHex(ours.blake2s), want.digest);
  }
}

/// A name that GoogleTest takes.
inline std::string TestName(const testing::TestParamInfo<NamedSpec>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace cuzk::circuit
