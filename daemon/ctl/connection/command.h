#pragma once
// What the subcommands share: how they register, what they are given, how they report.

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/settings/settings.h"
#include "core/base/status.h"
#include "core/filecoin/types/registry.h"
#include "daemon/common/exit_code.h"
#include "daemon/sockets/tls.h"

namespace cuzk::daemon {

/// What every subcommand is given.
struct Session {
  std::string address;          ///< of the daemon
  ClientTlsFiles tls;           ///< to reach it; none: plaintext
  std::string tls_server_name;  ///< of its certificate; empty: the host of the address
  bool json = false;
  Settings settings = Settings::Defaults();
  algebra::Arithmetic arithmetic = algebra::Arithmetic::kScalar;  ///< of the processor
  Status trouble;  ///< of the settings file; only tolerant commands are run with it
};

/// A subcommand: returns the exit code, or an error that main prints and maps.
using Action = std::function<StatusOr<ControlExit>(const Session&)>;

struct Command {
  CLI::App* app;
  Action action;
  bool tolerant = false;  ///< run on any processor, with the default settings where the file is wrong
};
using Commands = std::vector<Command>;

// One function per file; each adds its subcommands to the program.
void AddProve(CLI::App& program, Commands& commands);    ///< prove, submit, await
void AddJobs(CLI::App& program, Commands& commands);     ///< cancel, watch
void AddJobList(CLI::App& program, Commands& commands);  ///< jobs, job
void AddStatus(CLI::App& program, Commands& commands);   ///< status, preload, evict
void AddDevice(CLI::App& program, Commands& commands);   ///< device list, enable, disable
void AddVerify(CLI::App& program, Commands& commands);
void AddParams(CLI::App& program, Commands& commands);   ///< params make, inspect, check
void AddCircuit(CLI::App& program, Commands& commands);  ///< circuit list, fit, digest
void AddCircuitFit(CLI::App& circuit, Commands& commands);
void AddWitness(CLI::App& program, Commands& commands);
void AddSector(CLI::App& program, Commands& commands);  ///< sector make
void AddDoctor(CLI::App& program, Commands& commands);
void AddTop(CLI::App& program, Commands& commands);
void AddBench(CLI::App& program, Commands& commands);
void AddHelp(CLI::App& program, Commands& commands);  ///< help, version

/// The circuit that --kind and --size mean; a UsageMistake names these flags.
StatusOr<const filecoin::Circuit*> CircuitOfFlags(const std::string& kind, const std::string& size);

/// Prints text and a line end to stdout.
void PrintLine(std::string_view text);

}  // namespace cuzk::daemon
