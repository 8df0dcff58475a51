// cuzkctl: the command line of the daemon.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/log.h"
#include "daemon/common/json_writer.h"
#include "daemon/common/version.h"
#include "daemon/ctl/client.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/socket_advice.h"
#include "daemon/settings/command_line.h"
#include "daemon/settings/manual.h"

namespace cuzk::daemon {

void PrintLine(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

namespace {

int Fail(const Status& status, bool json) {
  std::string message = StrCat(status.message());
  if (json) {
    JsonWriter error;
    error.BeginObject().Member("error", message).Member("code", absl::StatusCodeToString(status.code())).EndObject();
    PrintLine(error.text());
  } else {
    std::fprintf(stderr, "cuzkctl: %s\n", EscapeControl(message).c_str());
  }
  return static_cast<int>(ControlExitOf(status));
}

// The first word that is no subcommand, where one is needed; empty if there is none.
std::string UnknownCommand(const CLI::App& program) {
  for (const std::string& word : program.remaining(true)) {
    if (!word.empty() && !word.starts_with('-')) return word;
  }
  return "";
}

// Reads the words; the exit code, where the program ends with that.
std::optional<int> Parse(CLI::App& program, int argc, char** argv) {
  try {  // the parser's only way to report
    program.parse(ParserWords(argc, argv));
    return std::nullopt;
  } catch (const CLI::RequiredError& error) {
    if (std::string unknown = UnknownCommand(program); !unknown.empty()) {
      std::fprintf(stderr, "cuzkctl: there is no subcommand \"%s\"\nRun with --help for more information.\n",
                   EscapeControl(unknown).c_str());
      return static_cast<int>(ControlExit::kUsage);
    }
    program.exit(error);
    return static_cast<int>(ControlExit::kUsage);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : static_cast<int>(ControlExit::kUsage);
  }
}

// The exit code, unless what was printed did not arrive.
int Flushed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fprintf(stderr, "cuzkctl: stdout cannot be written\n");
  return static_cast<int>(ControlExit::kInternal);
}

void AddConnection(CLI::App& program, Session& session) {
  program.add_option("--address", session.address, "Where the daemon listens; default: the setting listen");
  CLI::Option* authority =
      program
          .add_option(
              "--tls-ca", session.tls.authority,
              "Certificates in PEM of those who sign the daemon's certificate; with it HOST:PORT is asked by TLS")
          ->type_name("FILE");
  CLI::Option* certificate =
      program
          .add_option("--tls-cert", session.tls.certificate,
                      "The own certificate chain in PEM, where the daemon asks for one (tls.client_ca)")
          ->type_name("FILE");
  CLI::Option* key =
      program.add_option("--tls-key", session.tls.key, "Its private key in PEM, closed to others")->type_name("FILE");
  certificate->needs(authority)->needs(key);
  key->needs(certificate);
  program
      .add_option("--tls-server-name", session.tls_server_name,
                  "The name that the daemon's certificate must have; default: the host of --address")
      ->type_name("NAME")
      ->needs(authority);
}

int Run(int argc, char** argv) {
  Session session;
  std::string file = "/etc/cuzkd/cuzkd.toml";
  CLI::App program("Command line of cuzkd, the Filecoin Groth16 proving daemon.", "cuzkctl");
  program.set_version_flag("--version", VersionText("cuzkctl"));
  program.add_flag("--json", session.json, "Print one JSON object, or one a line while something goes on");
  AddConnection(program, session);
  CLI::Option* config =
      program.add_option("--config", file, "Settings file; /dev/null for none")->capture_default_str();
  program.add_flag_callback(
      "--print-man",
      [&program] {
        std::fputs(ControlManual(program).c_str(), stdout);
        throw CLI::Success();  // the parser's way to end with 0
      },
      "Print the manual page");
  program.require_subcommand(1);
  program.fallthrough();
  Commands commands;
  for (auto add : {AddProve, AddJobs, AddStatus, AddVerify, AddParams, AddCircuit, AddWitness, AddSector, AddDoctor,
                   AddTop, AddBench})
    add(program, commands);
  if (std::optional<int> ended = Parse(program, argc, argv)) return *ended;
  auto chosen = std::find_if(commands.begin(), commands.end(), [](const Command& c) { return c.app->parsed(); });
  if (chosen == commands.end()) return static_cast<int>(ControlExit::kUsage);
  if (Status processor = algebra::CheckProcessor(); !processor.ok() && !chosen->tolerant) {
    return Fail(processor, session.json);
  }
  auto arithmetic = algebra::ResolveArithmetic(std::getenv("CUZK_CPU_ARITHMETIC"));
  if (!arithmetic.ok()) return Fail(arithmetic.status(), session.json);
  session.arithmetic = *arithmetic;
  SettingSources sources{
      .environment = ProcessEnvironment(), .file = file, .file_may_be_missing = config->count() == 0};
  StatusOr<Settings> settings = Settings::Load(sources);
  if (!settings.ok() && !chosen->tolerant) return Fail(settings.status(), session.json);
  if (settings.ok()) {
    session.settings = *std::move(settings);
  } else {
    session.trouble = settings.status();
  }
  if (session.address.empty()) session.address = session.settings.Text("listen");
  StatusOr<ControlExit> code = chosen->action(session);
  if (code.ok()) return static_cast<int>(*code);
  return Fail(WithSocketAdvice(Explained(session, code.status()), session.address), session.json);
}

}  // namespace
}  // namespace cuzk::daemon

int main(int argc, char** argv) {
  try {  // libraries throw where they are misused
    return cuzk::daemon::Flushed(cuzk::daemon::Run(argc, argv));
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "cuzkctl: memory is short\n");
    return static_cast<int>(cuzk::daemon::ControlExit::kInternal);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuzkctl: %s\n", error.what());
    return static_cast<int>(cuzk::daemon::ControlExit::kInternal);
  }
}
