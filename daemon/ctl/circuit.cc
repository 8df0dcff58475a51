// circuit list, digest (fit is in circuit_fit.cc): what circuits there are, and their R1CS as a digest that other
// implementations can compare.

#include "core/circuit/circuit.h"

#include <filesystem>

#include "core/base/thread_pool.h"
#include "core/filecoin/partition.h"
#include "core/groth16/identity.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/ctl/output/progress_view.h"
#include "daemon/ctl/output/text_table.h"

namespace cuzk::daemon {
namespace {

struct CircuitFlags {
  std::string kind, size;
  bool no_paths = false;
};

// Whether the parameters are in params.directory: "present", "development", "no key" or "-".
std::string_view PresenceOf(const std::filesystem::path& folder, const filecoin::Circuit& circuit) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(folder / circuit.params_file(), error)) return "-";
  if (!std::filesystem::is_regular_file(folder / circuit.key_file(), error)) return "no key";
  const bool made = std::filesystem::exists(groth16::DevelopmentRecordPath(folder / circuit.params_file()), error);
  return made ? "development" : "present";
}

StatusOr<ControlExit> RunList(const Session& session) {
  const std::filesystem::path folder = session.settings.Text("params.directory");
  TextTable table({"CIRCUIT", "KIND", "SIZE", "HERE", "PARAMETER FILE"});
  for (const filecoin::Circuit& circuit : filecoin::Circuits()) {
    const filecoin::KindRow& kind = filecoin::KindInfo(circuit.kind);
    if (session.json) {
      JsonWriter json;
      json.BeginObject().Member("circuit_id", circuit.id).Member("kind", kind.name).Member("size", circuit.size->name);
      json.Member("params", circuit.params_file()).Member("vk", circuit.key_file());
      json.Member("published", !circuit.params_digest.empty()).Member("here", PresenceOf(folder, circuit));
      PrintLine(json.EndObject().text());
    } else {
      table.Add({circuit.id, std::string(kind.name), std::string(circuit.size->name),
                 std::string(PresenceOf(folder, circuit)), std::string(circuit.params_file())});
    }
  }
  if (!session.json) {
    for (const std::string& line : table.Lines()) PrintLine(line);
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
  CLI::App* circuit = program.add_subcommand("circuit", "List circuits and compute their digests");
  circuit->require_subcommand(1);
  CLI::App* list =
      circuit->add_subcommand("list", "List the circuits, their parameter files, and which of those files are present");
  commands.push_back({list, RunList});

  AddCircuitFit(*circuit, commands);
  CLI::App* digest = circuit->add_subcommand("digest", "Compute the sizes and digests of a circuit's R1CS");
  digest->add_option("--kind", flags->kind, "porep, window, winning or snap")->required();
  digest->add_option("--size", flags->size, "Sector size, such as 2KiB")->required();
  digest->add_flag("--no-paths", flags->no_paths, "Omit the names of the first rows of the chunks");
  commands.push_back({digest, [flags](const Session& session) { return RunDigest(session, *flags); }});
}

}  // namespace cuzk::daemon
