// circuit fit: how every circuit would be proved on a card with so much memory. Needs neither card nor daemon.

#include <algorithm>

#include "core/circuit/circuit.h"
#include "core/filecoin/partition.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/devices/fit.h"

namespace cuzk::daemon {
namespace {

struct FitFlags {
  std::string memory, shared = "100KB", kind, size;
};

std::string Gigabytes(uint64_t bytes) {
  const uint64_t tenths = (bytes + 50'000'000) / 100'000'000;
  return StrCat(tenths / 10, ".", tenths % 10);
}

std::string Padded(std::string_view text, size_t width, bool left) {
  const std::string spaces(width > text.size() ? width - text.size() : 0, ' ');
  return left ? StrCat(text, spaces) : StrCat(spaces, text);
}

void PrintFit(const filecoin::Circuit& circuit, const CircuitFit& fit, uint32_t partitions, bool as_json) {
  if (as_json) {
    JsonWriter json;
    json.BeginObject().Member("circuit_id", circuit.id).Member("fit", PlaceName(fit.place));
    json.Member("partitions", partitions).Member("partitions_at_once", fit.workers);
    json.Member("device_bytes", fit.device_bytes).Member("host_bytes", fit.host_bytes);
    json.Member("bus_bytes_partition", fit.partition_bus_bytes).Member("bus_bytes_proof", fit.proof_bus_bytes);
    PrintLine(json.Member("explanation", fit.explanation).EndObject().text());
    return;
  }
  std::string line = StrCat(Padded(circuit.id, 14, true), Padded(PlaceName(fit.place), 10, true));
  if (fit.place == CircuitFit::Place::kNo) {
    PrintLine(StrCat(line, fit.explanation));
    return;
  }
  for (uint64_t bytes : {fit.device_bytes, fit.host_bytes, fit.partition_bus_bytes, fit.proof_bus_bytes}) {
    line += Padded(Gigabytes(bytes), 11, false);
  }
  PrintLine(StrCat(line, Padded(StrCat(fit.workers), 9, false)));
}

/// The circuits that were asked for; without a kind or a size, those of production.
StatusOr<std::vector<const filecoin::Circuit*>> CircuitsToFit(const FitFlags& flags) {
  std::vector<const filecoin::Circuit*> circuits;
  for (const filecoin::Circuit& circuit : filecoin::Circuits()) {
    const bool size = flags.size.empty() ? circuit.size->name == "32GiB" || circuit.size->name == "64GiB"
                                         : circuit.size->name == flags.size;
    if (size && (flags.kind.empty() || filecoin::KindInfo(circuit.kind).name == flags.kind)) {
      circuits.push_back(&circuit);
    }
  }
  if (circuits.empty()) return UsageMistake(absl::InvalidArgumentError("--kind, --size: there is no such circuit"));
  return circuits;
}

/// As in settings, or in units of a thousand, by which the memory of cards is sold.
StatusOr<uint64_t> SizeFlag(std::string_view name, const std::string& text) {
  StatusOr<uint64_t> size = ParseSize(text);
  uint64_t factor = 1;
  for (std::string_view unit : {"KB", "MB", "GB"}) {
    factor *= 1000;
    if (!text.ends_with(unit)) continue;
    size = ParseSize(StrCat(std::string_view(text).substr(0, text.size() - unit.size()), "B"));
    if (size.ok() && *size > (uint64_t{1} << 50) / factor) {
      size = absl::InvalidArgumentError("no card has that much memory");
    }
    if (size.ok()) size = *size * factor;
  }
  return size.ok() ? size : UsageMistake(Annotate(size.status(), name));
}

StatusOr<ControlExit> RunFit(const Session& session, const FitFlags& flags) {
  FitCard card{.workers = static_cast<unsigned>(session.settings.Integer("devices.workers"))};
  CUZK_ASSIGN_OR_RETURN(card.memory_bytes, SizeFlag("--memory", flags.memory));
  CUZK_ASSIGN_OR_RETURN(card.shared_bytes, SizeFlag("--shared", flags.shared));
  CUZK_ASSIGN_OR_RETURN(auto circuits, CircuitsToFit(flags));
  if (!session.json) {
    PrintLine("circuit       fit        device GB    host GB  bus GB: partition  proof  at once");
  }
  for (const filecoin::Circuit* circuit : circuits) {
    CUZK_ASSIGN_OR_RETURN(auto shape, circuit::MakeShape(filecoin::SpecOf(*circuit)));
    const uint32_t partitions = PartitionsOf(*circuit);
    CUZK_ASSIGN_OR_RETURN(CircuitFit fit, FitCircuit(*shape, partitions, card));
    PrintFit(*circuit, fit, partitions, session.json);
  }
  return ControlExit::kOk;
}

}  // namespace

void AddCircuitFit(CLI::App& circuit, Commands& commands) {
  auto flags = std::make_shared<FitFlags>();
  CLI::App* fit = circuit.add_subcommand(
      "fit", "Print how a card with the given memory would prove each circuit; no card is needed");
  fit->add_option("--memory", flags->memory, "Device memory that the daemon may use, such as 24GB")->required();
  fit->add_option("--shared", flags->shared, "Shared memory of a multiprocessor")->capture_default_str();
  fit->add_option("--kind", flags->kind, "porep, window, winning or snap; default: all kinds");
  fit->add_option("--size", flags->size, "Sector size, such as 2KiB; default: 32GiB and 64GiB");
  commands.push_back({fit, [flags](const Session& session) { return RunFit(session, *flags); }});
}

}  // namespace cuzk::daemon
