#include "core/filecoin/format/recorded_witness.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <span>

#include "core/base/file.h"
#include "core/filecoin/format/json_fault.h"

namespace cuzk::filecoin {
namespace {

using algebra::Fr;
using circuit::VectorDigest;
using circuit::WitnessDigest;
using simdjson::dom::element;

std::string Quoted(ByteSpan bytes) { return StrCat("\"", ToHex(bytes), "\""); }

/// An array of quoted texts, one a line.
std::string List(const std::vector<std::string>& items, std::string_view indent) {
  std::string out = "[";
  for (size_t i = 0; i < items.size(); ++i) out += StrCat(i == 0 ? "\n" : ",\n", indent, "  ", items[i]);
  return StrCat(out, items.empty() ? "]" : StrCat("\n", indent, "]"));
}

std::string Object(const VectorDigest& digest) {
  std::vector<std::string> chunks;
  for (const Bytes32& chunk : digest.chunks) chunks.push_back(Quoted(chunk));
  return StrCat("{\n    \"blake2s\": ", Quoted(digest.blake2s), ",\n    \"chunks\": ", List(chunks, "    "),
                ",\n    \"len\": ", digest.length, "\n  }");
}

Status Unreadable(std::string_view what) {
  return absl::InvalidArgumentError(StrCat("not a recorded witness: ", what));
}

/// `from` is an element, or the result of looking one up.
template <class From>
StatusOr<Bytes32> DigestIn(const From& from, std::string_view name) {
  std::string_view text;
  if (from.get(text) != simdjson::SUCCESS) return Unreadable(StrCat(name, " is not a string"));
  auto bytes = Bytes32FromHex(text);
  if (!bytes.ok()) return Unreadable(StrCat(name, ": ", bytes.status().message()));
  return *bytes;
}

StatusOr<VectorDigest> ReadVector(element root, std::string_view name) {
  VectorDigest digest;
  simdjson::dom::object object;
  if (root[name].get(object) != simdjson::SUCCESS || object["len"].get(digest.length) != simdjson::SUCCESS) {
    return Unreadable(StrCat(name, " needs len and blake2s"));
  }
  CUZK_ASSIGN_OR_RETURN(digest.blake2s, DigestIn(object["blake2s"], StrCat("blake2s of ", name)));
  simdjson::dom::array chunks;
  const simdjson::error_code found = object["chunks"].get(chunks);
  if (found == simdjson::NO_SUCH_FIELD) return digest;
  if (found != simdjson::SUCCESS) return Unreadable(StrCat("chunks of ", name, " are not a list"));
  for (element chunk : chunks) {
    CUZK_ASSIGN_OR_RETURN(Bytes32 value, DigestIn(chunk, StrCat("chunk ", digest.chunks.size(), " of ", name)));
    digest.chunks.push_back(value);
  }
  return digest;
}

/// `root` is the object of one partition, or one with the list of all.
StatusOr<RecordedWitness> Read(element root, uint32_t partition) {
  RecordedWitness recorded;
  simdjson::dom::array partitions;
  if (root["partitions"].get(partitions) == simdjson::SUCCESS) {
    recorded.chunk_elements = kListedChunkElements;
    if (partitions.at(partition).get(root) != simdjson::SUCCESS) {
      return Unreadable(StrCat("it has ", partitions.size(), " partitions, but no partition ", partition));
    }
  } else if (root["chunk"].get(recorded.chunk_elements) != simdjson::SUCCESS || recorded.chunk_elements == 0) {
    return Unreadable("chunk is not a size");
  }
  WitnessDigest& digest = recorded.digest;
  CUZK_ASSIGN_OR_RETURN(digest.inputs_digest, ReadVector(root, "inputs"));
  CUZK_ASSIGN_OR_RETURN(digest.aux, ReadVector(root, "aux"));
  const std::string_view names[] = {"a", "b", "c"};
  for (size_t m = 0; m < r1cs::kMatrixCount; ++m) {
    CUZK_ASSIGN_OR_RETURN(digest.rows[m], ReadVector(root, names[m]));
  }
  simdjson::dom::array inputs;
  if (root["public_inputs"].get(inputs) != simdjson::SUCCESS) return Unreadable("there are no public_inputs");
  digest.inputs.push_back(Fr::One());
  for (element input : inputs) {
    const std::string name = StrCat("public input ", digest.inputs.size());
    CUZK_ASSIGN_OR_RETURN(Bytes32 bytes, DigestIn(input, name));
    CUZK_ASSIGN_OR_RETURN(Fr value, algebra::FrFromBytes(bytes, name));
    digest.inputs.push_back(value);
  }
  return recorded;
}

/// Where a vector first differs: the chunk, if one does.
struct Difference {
  std::string text;
  std::optional<uint64_t> element;
};

std::optional<Difference> Compare(const VectorDigest& made, const VectorDigest& expected, uint64_t chunk_elements) {
  if (made.length != expected.length) {
    return Difference{StrCat("has ", made.length, " elements instead of ", expected.length), {}};
  }
  for (size_t k = 0; k < made.chunks.size() && k < expected.chunks.size(); ++k) {
    if (made.chunks[k] == expected.chunks[k]) continue;
    return Difference{StrCat("chunk ", k, " differs"), k * chunk_elements};
  }
  if (made.chunks.size() != expected.chunks.size() && !expected.chunks.empty())
    return Difference{"has other chunks", {}};
  if (made.blake2s != expected.blake2s)
    return Difference{expected.chunks.empty() ? "differs" : "differs as a whole, though no chunk does", {}};
  return std::nullopt;
}

}  // namespace

std::string WitnessJson(const RecordedWitness& witness) {
  const WitnessDigest& digest = witness.digest;
  std::vector<std::string> public_inputs;
  for (const Fr& input : std::span(digest.inputs).subspan(1)) public_inputs.push_back(Quoted(input.ToBytesLe()));
  std::string json = StrCat("{\n  \"a\": ", Object(digest.rows[0]), ",\n  \"aux\": ", Object(digest.aux));
  json += StrCat(",\n  \"b\": ", Object(digest.rows[1]), ",\n  \"c\": ", Object(digest.rows[2]));
  json += StrCat(",\n  \"chunk\": ", witness.chunk_elements,
                 ",\n  \"encoding\": \"Blake2s-256 over canonical 32-byte little-endian elements; a, b, c include the "
                 "input rows\"");
  json += StrCat(",\n  \"inputs\": ", Object(digest.inputs_digest));
  return StrCat(json, ",\n  \"public_inputs\": ", List(public_inputs, "  "), "\n}");
}

StatusOr<RecordedWitness> ReadWitnessJson(const std::filesystem::path& path, uint32_t partition) {
  constexpr uint64_t kLargest = uint64_t{1} << 30;
  CUZK_ASSIGN_OR_RETURN(std::string text, ReadFile(path, kLargest));
  simdjson::dom::parser parser;
  element root;
  if (auto error = parser.parse(text).get(root); error != simdjson::SUCCESS) {
    return absl::InvalidArgumentError(JsonMistake(path, text, simdjson::error_message(error)));
  }
  StatusOr<RecordedWitness> recorded = Read(root, partition);
  if (!recorded.ok()) return Annotate(recorded.status(), path.string());
  return recorded;
}

StatusOr<std::vector<std::string>> Differences(const circuit::CircuitSpec& spec, const RecordedWitness& made,
                                               const RecordedWitness& expected) {
  if (made.chunk_elements != expected.chunk_elements) return absl::InvalidArgumentError("chunks are of other sizes");
  std::vector<std::string> lines;
  const auto inputs = std::ranges::mismatch(made.digest.inputs, expected.digest.inputs);
  if (inputs.in1 != made.digest.inputs.end() || inputs.in2 != expected.digest.inputs.end()) {
    lines.push_back(StrCat("public input ", inputs.in1 - made.digest.inputs.begin(), " differs"));
  }
  struct Pair {
    const char* name;
    const VectorDigest &made, &expected;
    const char* element;
  };
  const WitnessDigest &ours = made.digest, &theirs = expected.digest;
  for (const Pair& pair :
       {Pair{"inputs", ours.inputs_digest, theirs.inputs_digest, "input"}, Pair{"aux", ours.aux, theirs.aux, "aux"},
        Pair{"a", ours.rows[0], theirs.rows[0], "row"}, Pair{"b", ours.rows[1], theirs.rows[1], "row"},
        Pair{"c", ours.rows[2], theirs.rows[2], "row"}}) {
    const auto difference = Compare(pair.made, pair.expected, made.chunk_elements);
    if (!difference) continue;
    std::string& line = lines.emplace_back(StrCat(pair.name, ": ", difference->text));
    if (!difference->element) continue;
    line += StrCat(", which begins with ", pair.element, " ", *difference->element);
    if (&pair.made == &ours.inputs_digest) continue;
    const auto name =
        &pair.made == &ours.aux ? NameOfAux(spec, *difference->element) : NameOfRow(spec, *difference->element);
    // Past the circuit's own rows stand those of the inputs.
    line += name.ok() ? StrCat(", in ", *name) : std::string(", among the rows of the inputs");
  }
  return lines;
}

}  // namespace cuzk::filecoin
