// sector make: a request directory for a made sector, which was never sealed.

#include "core/filecoin/request_directory.h"
#include "core/filecoin/samples/made_request.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/connection/command.h"

namespace cuzk::daemon {
namespace {

struct SectorFlags {
  std::string kind, size, out;
  uint64_t seed = 0;
  bool force = false;
};

// A request of a sealed sector may be the only copy; a made one can be made again.
Status MayWriteInto(const SectorFlags& flags) {
  if (flags.force || filecoin::HoldsNoOtherRequest(flags.out)) return absl::OkStatus();
  return UsageMistake(absl::InvalidArgumentError(StrCat(
      "--out: ", flags.out, " holds a request that was not made by cuzkctl sector make; --force replaces its files")));
}

StatusOr<ControlExit> RunMake(const Session& session, const SectorFlags& flags) {
  CUZK_ASSIGN_OR_RETURN(const filecoin::Circuit* circuit, CircuitOfFlags(flags.kind, flags.size));
  CUZK_RETURN_IF_ERROR(MayWriteInto(flags));
  CUZK_ASSIGN_OR_RETURN(const filecoin::RegisteredProof* proof, filecoin::ProofToMake(*circuit));
  CUZK_ASSIGN_OR_RETURN(filecoin::MadeRequest made, filecoin::MakeRequest(*proof, {.seed = flags.seed}));
  CUZK_RETURN_IF_ERROR(UsageMistake(filecoin::WriteRequestDirectory(made, flags.out)));
  std::string id = filecoin::CurioRequestId(made.request);
  if (session.json) {
    JsonWriter json;
    json.BeginObject().Member("request", flags.out).Member("request_id", id).Member("circuit_id", circuit->id);
    PrintLine(json.Member("payload_bytes", made.request.payload_bytes()).EndObject().text());
  } else {
    PrintLine(StrCat(flags.out, ": ", id, ", ", circuit->id, ", payload of ", made.request.payload_bytes(), " bytes"));
  }
  return ControlExit::kOk;
}

}  // namespace

void AddSector(CLI::App& program, Commands& commands) {
  auto flags = std::make_shared<SectorFlags>();
  CLI::App* sector = program.add_subcommand("sector", "Make requests for trials, without sealing");
  sector->require_subcommand(1);
  CLI::App* make = sector->add_subcommand("make", "Make a request that can be proved, without sealing a sector");
  make->add_option("--kind", flags->kind, "porep, window, winning or snap")->required();
  make->add_option("--size", flags->size, "Sector size, such as 2KiB")->required();
  make->add_option("--out", flags->out, "Request directory to write")->required();
  make->add_flag("--force", flags->force, "Replace a request in --out even if it was not made by this command");
  make->add_option("--seed", flags->seed, "Seed of the random numbers; equal seeds give equal requests")
      ->capture_default_str();
  commands.push_back({make, [flags](const Session& session) { return RunMake(session, *flags); }});
}

}  // namespace cuzk::daemon
