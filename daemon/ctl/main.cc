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
#include "daemon/ctl/connection/client.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/ctl/connection/socket_advice.h"
#include "daemon/settings/command_line.h"
#include "daemon/settings/completion.h"
#include "daemon/settings/convert_settings.h"
#include "daemon/settings/manual.h"
#include "daemon/settings/usage.h"

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

// Reads the words; the exit code, where the program ends with that.
std::optional<int> Parse(CLI::App& program, int argc, char** argv) {
  try {  // the parser's only way to report
    program.parse(ParserWords(argc, argv));
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      if (std::string unknown = FirstUnknownWord(program); !unknown.empty()) {
        std::fprintf(stderr, "cuzkctl: %s\nRun \"cuzkctl help\" for more information.\n",
                     EscapeControl(unknown).c_str());
        return static_cast<int>(ControlExit::kUsage);
      }
    }
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
  program.add_option("--address", session.address,
                     "Address of the daemon; default: the first address of the setting listen");
  CLI::Option* authority =
      program
          .add_option(
              "--tls-ca", session.tls.authority,
              "Connect with TLS; FILE (PEM) holds the certificate authorities that may sign the daemon's certificate")
          ->type_name("FILE");
  CLI::Option* certificate = program
                                 .add_option("--tls-cert", session.tls.certificate,
                                             "Client certificate chain (PEM), needed if the daemon sets tls.client_ca")
                                 ->type_name("FILE");
  CLI::Option* key = program
                         .add_option("--tls-key", session.tls.key,
                                     "Private key (PEM) of --tls-cert; other users must not be able to read it")
                         ->type_name("FILE");
  certificate->needs(authority)->needs(key);
  key->needs(certificate);
  program
      .add_option("--tls-server-name", session.tls_server_name,
                  "Name that the daemon's certificate must have; default: the host of --address")
      ->type_name("NAME")
      ->needs(authority);
}

int Run(int argc, char** argv) {
  Session session;
  std::string file = "/etc/cuzkd/cuzkd.toml";
  CLI::App program("Command line of cuzkd, the Filecoin Groth16 proving daemon.", "cuzkctl");
  program.set_help_flag("-h,--help", "Show the help of cuzkctl, or of the subcommand before it");
  program.set_version_flag("--version", VersionText("cuzkctl"), "Show the version");
  program.add_flag("--json", session.json,
                   "Print the answer as one JSON object, and progress as one JSON object per line");
  AddConnection(program, session);
  CLI::Option* config = program.add_option("--config", file, "Settings file; /dev/null: read none")
                            ->type_name("FILE")
                            ->capture_default_str();
  program.add_flag_callback(
      "--print-man",
      [&program] {
        std::fputs(ControlManual(program).c_str(), stdout);
        throw CLI::Success();  // the parser's way to end with 0
      },
      "Print the manual page");
  program
      .add_option_function<std::string>(
          "--print-completion",
          [&program](const std::string& shell) {
            std::fputs(CompletionScript(program, shell, ControlValues()).c_str(), stdout);
            throw CLI::Success();
          },
          "Print the completion script for bash or zsh")
      ->type_name("SHELL")
      ->check(CLI::IsMember({"bash", "zsh"}));
  program.require_subcommand(1);
  program.fallthrough();
  Commands commands;
  for (auto add : {AddProve, AddJobs, AddJobList, AddStatus, AddDevice, AddVerify, AddParams, AddCircuit, AddWitness,
                   AddSector, AddDoctor, AddTop, AddBench, AddHelp})
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
  if (!settings.ok() && !chosen->tolerant) {
    return Fail(WithConverterAdvice(settings.status(), sources), session.json);
  }
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
    std::fprintf(stderr, "cuzkctl: out of memory\n");
    return static_cast<int>(cuzk::daemon::ControlExit::kInternal);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuzkctl: %s\n", error.what());
    return static_cast<int>(cuzk::daemon::ControlExit::kInternal);
  }
}
