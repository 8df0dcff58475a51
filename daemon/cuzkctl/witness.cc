// witness: digests of a partition's witness, to compare with other implementations.

#include <span>

#include "core/base/hash.h"
#include "core/base/thread_pool.h"
#include "core/circuit/witness_stream.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/request_directory.h"
#include "daemon/cuzkctl/command.h"
#include "daemon/cuzkctl/progress_view.h"

namespace cuzk::daemon {
namespace {

using algebra::Fr;

constexpr uint64_t kChunk = uint64_t{1} << 20;  // elements

struct WitnessFlags {
  std::string request;
  uint32_t partition = 0;
};

std::string Quoted(ByteSpan bytes) { return StrCat("\"", ToHex(bytes), "\""); }

// An array of quoted texts, one a line, indented as the recorded files are.
std::string List(const std::vector<std::string>& items, std::string_view indent) {
  std::string out = "[";
  for (size_t i = 0; i < items.size(); ++i) out += StrCat(i == 0 ? "\n" : ",\n", indent, "  ", items[i]);
  return StrCat(out, items.empty() ? "]" : StrCat("\n", indent, "]"));
}

std::string Object(const circuit::VectorDigest& digest) {
  std::vector<std::string> chunks;
  for (const Bytes32& chunk : digest.chunks) chunks.push_back(Quoted(chunk));
  return StrCat("{\n    \"blake2s\": ", Quoted(digest.blake2s), ",\n    \"chunks\": ", List(chunks, "    "),
                ",\n    \"len\": ", digest.length, "\n  }");
}

std::string WitnessJson(const circuit::WitnessDigest& digest) {
  std::vector<std::string> public_inputs;
  for (const Fr& input : std::span(digest.inputs).subspan(1)) public_inputs.push_back(Quoted(input.ToBytesLe()));
  std::string json = StrCat("{\n  \"a\": ", Object(digest.rows[0]), ",\n  \"aux\": ", Object(digest.aux));
  json += StrCat(",\n  \"b\": ", Object(digest.rows[1]), ",\n  \"c\": ", Object(digest.rows[2]));
  json += StrCat(",\n  \"chunk\": ", kChunk,
                 ",\n  \"encoding\": \"Blake2s-256 over canonical 32-byte little-endian elements; a, b, c include the "
                 "input rows\"");
  json += StrCat(",\n  \"inputs\": ", Object(digest.inputs_digest));
  return StrCat(json, ",\n  \"public_inputs\": ", List(public_inputs, "  "), "\n}");
}

StatusOr<ControlExit> RunWitness(const Session& session, const WitnessFlags& flags) {
  CUZK_ASSIGN_OR_RETURN(filecoin::DirectoryRequest read, filecoin::ReadRequestDirectory(flags.request));
  CUZK_ASSIGN_OR_RETURN(filecoin::ParsedRequest parsed,
                        filecoin::ParseRequest(std::move(read.request), {.allow_non_interactive = true}));
  if (flags.partition >= parsed.partitions.size()) {
    return absl::InvalidArgumentError(
        StrCat("there is no partition ", flags.partition, ": the request has ", parsed.partitions.size()));
  }
  const filecoin::Partition& partition = parsed.partitions[flags.partition];
  circuit::CircuitSpec spec = filecoin::SpecOf(*parsed.proof->circuit);
  ThreadPool pool(0);
  CUZK_ASSIGN_OR_RETURN(std::shared_ptr<const r1cs::Shape> shape, circuit::MakeShape(spec, pool));
  ProgressView view(session.json);
  StatusOr<circuit::WitnessDigest> digest =
      circuit::DigestWitness(spec, *shape, partition.inputs, kChunk, ShownAs(view, "hashing rows"), pool);
  view.Finish();
  if (!digest.ok()) return Annotate(digest.status(), StrCat("partition ", flags.partition));
  PrintLine(WitnessJson(*digest));
  return ControlExit::kOk;
}

}  // namespace

void AddWitness(CLI::App& program, Commands& commands) {
  auto flags = std::make_shared<WitnessFlags>();
  CLI::App* witness = program.add_subcommand("witness", "Print digests of a partition's witness as JSON");
  witness->add_option("--request", flags->request, "Request directory")->required();
  witness->add_option("--partition", flags->partition, "Partition, from 0")->required();
  commands.push_back({witness, [flags](const Session& session) { return RunWitness(session, *flags); }});
}

}  // namespace cuzk::daemon
