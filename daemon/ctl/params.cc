// params make, inspect, check: parameter files.

#include <chrono>
#include <filesystem>

#include "core/base/file.h"
#include "core/base/input_file.h"
#include "core/base/thread_pool.h"
#include "core/circuit/row_stretches.h"
#include "core/filecoin/partition.h"
#include "core/groth16/generator.h"
#include "core/groth16/identity.h"
#include "core/groth16/parameter_file.h"
#include "daemon/common/json_writer.h"
#include "daemon/common/version.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/ctl/output/progress_view.h"
#include "daemon/devices/devices.h"

namespace cuzk::daemon {
namespace {

struct ParamsFlags {
  std::string kind, size, out, toxic_waste, file, circuit;
  bool device = false, force = false;
};

// Parameters that are there may be the network's, of which a file has 47 GB; those of a development record can be made
// again.
Status MayMake(const ParamsFlags& flags, const filecoin::Circuit& circuit) {
  const std::filesystem::path folder = flags.out;
  std::error_code error;
  auto holds = [&](const std::filesystem::path& path) {
    return std::filesystem::exists(std::filesystem::symlink_status(path, error));
  };
  if (flags.force || holds(groth16::DevelopmentRecordPath(folder / circuit.params_file()))) return absl::OkStatus();
  for (const std::string& name : {std::string(circuit.params_file()), std::string(circuit.key_file())}) {
    if (!holds(folder / name)) continue;
    return UsageMistake(absl::InvalidArgumentError(
        StrCat("--out: ", (folder / name).string(), " exists and is not a development file; --force replaces it")));
  }
  return absl::OkStatus();
}

StatusOr<std::unique_ptr<groth16::BaseMultiplier>> CardOfFlag() {
  StatusOr<std::unique_ptr<groth16::BaseMultiplier>> card = CardMultiplier();
  if (!absl::IsUnavailable(card.status())) return card;
  return UsageMistake(absl::InvalidArgumentError(StrCat("--device: ", card.status().message())));
}

StatusOr<ControlExit> RunMake(const Session& session, const ParamsFlags& flags) {
  CUZK_ASSIGN_OR_RETURN(const filecoin::Circuit* circuit, CircuitOfFlags(flags.kind, flags.size));
  CUZK_RETURN_IF_ERROR(MayMake(flags, *circuit));
  groth16::GeneratorInput input;
  groth16::GeneratorOptions options;
  input.arithmetic = session.arithmetic;
  if (flags.toxic_waste.empty()) {
    input.waste = groth16::ToxicWaste::Random();
  } else {
    CUZK_ASSIGN_OR_RETURN(std::string json, ReadFile(flags.toxic_waste, uint64_t{1} << 20));
    StatusOr<groth16::ToxicWaste> waste = groth16::ToxicWaste::FromJson(json);
    if (!waste.ok()) return Annotate(waste.status(), flags.toxic_waste);
    input.waste = *waste;
    options.record_waste = true;
  }
  std::error_code error;
  std::filesystem::create_directories(flags.out, error);
  if (error) return UsageMistake(ErrnoStatus(error.value(), "--out: cannot create the directory", flags.out));

  ThreadPool pool(0);
  ProgressView view(session.json);
  view.Show("recording the circuit", 0);
  circuit::CircuitSpec spec = filecoin::SpecOf(*circuit);
  CUZK_ASSIGN_OR_RETURN(std::shared_ptr<const r1cs::Shape> shape, circuit::MakeShape(spec));
  input.shape = shape.get();
  input.stretches = [&](const r1cs::OpenSink& open, ThreadPool& threads) {
    return circuit::StreamStretches(spec, *shape, open, threads);
  };
  std::unique_ptr<groth16::BaseMultiplier> card;
  if (flags.device) {
    CUZK_ASSIGN_OR_RETURN(card, CardOfFlag());
    input.multiplier = card.get();
  }
  options.path = std::filesystem::path(flags.out) / circuit->params_file();
  options.version = Build().version;
  options.progress = ShownAs(view, "making parameters");
  CUZK_ASSIGN_OR_RETURN(groth16::GeneratorOutput made, groth16::GenerateParameters(input, options, pool));
  view.Finish();
  if (session.json) {
    JsonWriter json;
    json.BeginObject().Member("circuit_id", circuit->id).Member("params", made.params.string());
    json.Member("vk", made.key.string()).Member("record", made.record.string()).Member("bytes", made.bytes);
    PrintLine(json.Member("sha256", made.sha256).EndObject().text());
  } else {
    PrintLine(StrCat(made.params.string(), "\n  ", made.bytes, " bytes, SHA-256 ", made.sha256,
                     "\n  for development only: anyone who knows its secrets can forge proofs"));
  }
  return ControlExit::kOk;
}

// The circuit that the flag or the file's name says; nullptr if neither does.
StatusOr<const filecoin::Circuit*> CircuitOf(const ParamsFlags& flags) {
  if (flags.circuit.empty()) {
    return filecoin::FindCircuitByFile(std::filesystem::path(flags.file).filename().string());
  }
  const filecoin::Circuit* circuit = filecoin::FindCircuit(flags.circuit);
  if (!circuit) {
    return UsageMistake(absl::InvalidArgumentError(StrCat("--circuit: there is no circuit \"", flags.circuit, "\"")));
  }
  return circuit;
}

StatusOr<ControlExit> RunInspect(const Session& session, const ParamsFlags& flags) {
  CUZK_ASSIGN_OR_RETURN(const filecoin::Circuit* circuit, CircuitOf(flags));
  CUZK_ASSIGN_OR_RETURN(auto file, groth16::ParameterFile::Open(flags.file));
  CUZK_ASSIGN_OR_RETURN(auto record, groth16::ReadDevelopmentRecord(flags.file));
  std::string id = circuit ? circuit->id : "unknown";
  if (session.json) {
    JsonWriter json;
    json.BeginObject().Member("circuit_id", id).Member("bytes", file->file().size());
    json.Member("ic", file->counts().ic);
    for (groth16::Query query : groth16::kAllQueries) json.Member(groth16::QueryName(query), file->counts()[query]);
    PrintLine(json.Member("development", record.has_value()).EndObject().text());
    return ControlExit::kOk;
  }
  PrintLine(StrCat("circuit ", id, record ? ", development parameters" : ""));
  PrintLine(StrCat(file->file().size(), " bytes, ", file->verifying_key().public_inputs(), " public inputs"));
  for (groth16::Query query : groth16::kAllQueries) {
    PrintLine(StrCat("  ", groth16::QueryName(query), ": ", file->counts()[query], " points"));
  }
  return ControlExit::kOk;
}

// Lengths, points, and the digest that applies; what is wrong comes as an error.
StatusOr<groth16::Provenance> Check(const Session& session, const ParamsFlags& flags, const filecoin::Circuit* circuit,
                                    ProgressView& view) {
  ThreadPool pool(0);
  groth16::ParameterCheck check;
  check.arithmetic = session.arithmetic;
  if (circuit) {
    view.Show("recording the circuit", 0);
    CUZK_ASSIGN_OR_RETURN(auto shape, circuit::MakeShape(filecoin::SpecOf(*circuit)));
    check.counts = groth16::SectionCounts::Of(*shape);
    if (!circuit->params_digest.empty()) check.published = circuit->params_digest;
  }
  check.points = ShownAs(view, "checking points");
  check.digest = ShownAs(view, "checking the digest");
  return groth16::CheckParameters(flags.file, check, pool);
}

StatusOr<ControlExit> RunCheck(const Session& session, const ParamsFlags& flags) {
  CUZK_ASSIGN_OR_RETURN(const filecoin::Circuit* circuit, CircuitOf(flags));
  // Nothing can be said of a file that is not there, or is none.
  CUZK_RETURN_IF_ERROR(InputFile::Open(flags.file).status());
  ProgressView view(session.json);
  StatusOr<groth16::Provenance> provenance = Check(session, flags, circuit, view);
  view.Finish();
  bool wrong = absl::IsInvalidArgument(provenance.status()) || absl::IsFailedPrecondition(provenance.status());
  if (!provenance.ok() && !wrong) return provenance.status();
  std::string fault = wrong ? StrCat(provenance.status().message()) : "";
  bool development = provenance.ok() && *provenance == groth16::Provenance::kDevelopment;
  std::string id = circuit ? circuit->id : "unknown";
  std::error_code error;
  const std::filesystem::path key = std::filesystem::path(flags.file).replace_extension(".vk");
  const bool has_key = std::filesystem::exists(key, error);
  if (session.json) {
    JsonWriter json;
    json.BeginObject().Member("valid", fault.empty()).Member("circuit_id", id).Member("development", development);
    PrintLine(json.Member("key_file", has_key).Member("error", fault).EndObject().text());
  } else if (fault.empty()) {
    const std::string no_key = StrCat("; ", key.filename().string(), ", which cuzkctl verify needs, is not beside it");
    PrintLine(StrCat(
        id, ": ",
        development ? "complete and unchanged, development parameters" : "complete and equal to the published file",
        has_key ? std::string() : no_key));
  } else {
    PrintLine(StrCat(id, ": not valid: ", fault));
  }
  return fault.empty() ? ControlExit::kOk : ControlExit::kFailed;
}

}  // namespace

void AddParams(CLI::App& program, Commands& commands) {
  auto flags = std::make_shared<ParamsFlags>();
  CLI::App* params = program.add_subcommand("params", "Make, inspect and check parameter files");
  params->require_subcommand(1);
  CLI::App* make = params->add_subcommand("make", "Make development parameters; never use them for a real network");
  make->add_option("--kind", flags->kind, "porep, window, winning or snap")->required();
  make->add_option("--size", flags->size, "Sector size, such as 2KiB")->required();
  make->add_option("--out", flags->out, "Directory for the files")->required();
  make->add_flag("--force", flags->force, "Replace files in --out even if they are not development files");
  make->add_option("--toxic-waste", flags->toxic_waste,
                   "File with the secrets to use instead of random ones; the development record will contain them");
  make->add_flag("--device", flags->device, "Compute on the first NVIDIA card");
  commands.push_back({make, [flags](const Session& session) { return RunMake(session, *flags); }});

  CLI::App* inspect = params->add_subcommand("inspect", "Show the contents of a parameter file");
  inspect->add_option("FILE", flags->file, "A .params file")->required();
  commands.push_back({inspect, [flags](const Session& session) { return RunInspect(session, *flags); }});

  CLI::App* check =
      params->add_subcommand("check", "Check lengths, every point, the digest and the key of a parameter file");
  check->add_option("FILE", flags->file, "A .params file")->required();
  check->add_option("--circuit", flags->circuit, "Circuit id, needed if the file's name does not tell it");
  commands.push_back({check, [flags](const Session& session) { return RunCheck(session, *flags); }});
}

}  // namespace cuzk::daemon
