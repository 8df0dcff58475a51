// circuit list, digest (fit is in circuit_fit.cc): what circuits there are, and their R1CS as a digest that other
// implementations can compare.

#include "core/circuit/circuit.h"

#include "core/base/thread_pool.h"
#include "core/filecoin/partition.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/progress_view.h"

namespace cuzk::daemon {
namespace {

struct CircuitFlags {
  std::string kind, size;
  bool no_paths = false;
};

StatusOr<ControlExit> RunList(const Session& session) {
  for (const filecoin::Circuit& circuit : filecoin::Circuits()) {
    const filecoin::KindRow& kind = filecoin::KindInfo(circuit.kind);
    if (session.json) {
      JsonWriter json;
      json.BeginObject().Member("circuit_id", circuit.id).Member("kind", kind.name).Member("size", circuit.size->name);
      json.Member("params", circuit.params_file()).Member("vk", circuit.key_file());
      PrintLine(json.Member("published", !circuit.params_digest.empty()).EndObject().text());
    } else {
      PrintLine(StrCat(circuit.id, "  ", kind.name, "  ", circuit.size->name, "  ", circuit.params_file()));
    }
  }
  return ControlExit::kOk;
}

// The lines of a recorded digest.
std::string DigestLines(const filecoin::Circuit& circuit, const circuit::CircuitDigest& digest, bool paths) {
  // The name under which the parameters are cached, without the version of the cache.
  std::string_view stem = circuit.parameter_stem;
  stem.remove_prefix(stem.find('-') + 1);
  const r1cs::ShapeCounts& counts = digest.counts;
  std::string out = StrCat("circuit ", filecoin::KindInfo(circuit.kind).r1cs_name, "-", circuit.size->name, "\ninputs ",
                           counts.inputs, "\naux ", counts.aux, "\nrows ", counts.rows, "\nnnz ", counts.nnz[0], " ");
  out += StrCat(counts.nnz[1], " ", counts.nnz[2], "\nr1cs ", ToHex(digest.blake2s), "\ncache ", stem, "\nchunk-rows ",
                digest.chunk_rows, "\n");
  for (const circuit::ChunkDigest& chunk : digest.chunks) {
    out += StrCat(chunk.first_row, " ", ToHex(chunk.blake2s));
    if (paths) out += StrCat(" ", chunk.first_name);
    out += "\n";
  }
  return out;
}

StatusOr<ControlExit> RunDigest(const Session& session, const CircuitFlags& flags) {
  CUZK_ASSIGN_OR_RETURN(const filecoin::Circuit* circuit, CircuitOfFlags(flags.kind, flags.size));
  ThreadPool pool(0);
  ProgressView view(session.json);
  circuit::DigestOptions options{.progress = ShownAs(view, "hashing rows")};
  CUZK_ASSIGN_OR_RETURN(circuit::CircuitDigest digest,
                        circuit::DigestCircuit(filecoin::SpecOf(*circuit), options, pool));
  view.Finish();
  if (session.json) {
    JsonWriter json;
    json.BeginObject().Member("circuit_id", circuit->id).Member("rows", digest.counts.rows);
    PrintLine(json.Member("r1cs", ToHex(digest.blake2s)).EndObject().text());
  } else {
    std::string lines = DigestLines(*circuit, digest, !flags.no_paths);
    lines.pop_back();
    PrintLine(lines);
  }
  return ControlExit::kOk;
}

}  // namespace

StatusOr<const filecoin::Circuit*> CircuitOfFlags(const std::string& kind, const std::string& size) {
  StatusOr<const filecoin::Circuit*> circuit = filecoin::CircuitByNames(kind, size);
  return circuit.ok() ? circuit : UsageMistake(Annotate(circuit.status(), "--kind, --size"));
}

void AddCircuit(CLI::App& program, Commands& commands) {
  auto flags = std::make_shared<CircuitFlags>();
  CLI::App* circuit = program.add_subcommand("circuit", "Circuits");
  circuit->require_subcommand(1);
  CLI::App* list = circuit->add_subcommand("list", "List the circuits and their parameter files");
  commands.push_back({list, RunList});

  AddCircuitFit(*circuit, commands);
  CLI::App* digest = circuit->add_subcommand("digest", "Print counts and digests of a circuit's R1CS");
  digest->add_option("--kind", flags->kind, "porep, window, winning or snap")->required();
  digest->add_option("--size", flags->size, "Sector size, such as 2KiB")->required();
  digest->add_flag("--no-paths", flags->no_paths, "Leave out the names of the chunks' first rows");
  commands.push_back({digest, [flags](const Session& session) { return RunDigest(session, *flags); }});
}

}  // namespace cuzk::daemon
