#include "daemon/settings/manual.h"

#include <CLI/CLI.hpp>
#include <span>

#include "core/base/settings/settings_text.h"
#include "daemon/common/exit_code.h"
#include "daemon/settings/manual_page.h"
#include "daemon/settings/usage.h"

namespace cuzk::daemon {
namespace {

// "-h,--help", "--out TEXT", "FILE": as the option is written on the command line.
std::string Term(const CLI::Option& option) {
  std::string term;
  for (const std::string& name : option.get_snames()) term += StrCat(term.empty() ? "-" : ", -", name);
  for (const std::string& name : option.get_lnames()) term += StrCat(term.empty() ? "--" : ", --", name);
  if (term.empty()) return option.get_name();
  std::string type = option.get_items_expected_max() > 0 ? option.get_type_name() : "";
  return type.empty() ? term : StrCat(term, " ", type);
}

// `-h` of a subcommand is that of the program.
void AddOptions(const CLI::App& app, std::string_view group, ManualPage& page) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() != group || (app.get_parent() && option == app.get_help_ptr())) continue;
    std::string text = option->get_description();
    if (!text.empty() && text.back() != '.') text += '.';
    if (option->get_required()) text += " Required.";
    if (!option->get_default_str().empty()) text += StrCat(" Default: ", option->get_default_str(), ".");
    page.Item(Term(*option), text);
  }
}

void AddCommand(const CLI::App& app, const std::string& prefix, ManualPage& page) {
  std::vector<const CLI::App*> inner = SubcommandsOf(app);
  std::string name = StrCat(prefix, app.get_name());
  if (inner.empty()) {
    page.Subsection(name).Paragraph(StrCat(app.get_description(), "."));
    AddOptions(app, "Options", page);
  }
  for (const CLI::App* sub : inner) AddCommand(*sub, StrCat(name, " "), page);
}

void AddExits(std::span<const ExitRow> rows, ManualPage& page) {
  page.Section("EXIT STATUS");
  for (const ExitRow& row : rows) page.Item(StrCat(row.code), StrCat(row.meaning, "."));
}

struct Example {
  std::string_view text, command;
};
constexpr Example kDaemonExamples[] = {
    {"Check the settings before a restart.", "cuzkd --check-config"},
    {"Show the settings in force and the source of each.", "cuzkd --print-config"},
    {"Write the example settings file.", "cuzkd --print-defaults > cuzkd.toml"},
    {"Run without systemd, for a trial, with other paths.",
     "cuzkd --config /dev/null --listen unix:/tmp/cuzkd.sock --jobs.state_directory /tmp/cuzkd"},
    {"Convert the settings of the daemon shipped with Curio.", "cuzkd --convert-settings cuzk.toml > cuzkd.toml"},
};
constexpr Example kControlExamples[] = {
    {"Check the machine, the settings and the daemon.", "cuzkctl doctor"},
    {"Show devices, parameters and queues.", "cuzkctl status"},
    {"Watch all jobs in a live view.", "cuzkctl top"},
    {"Prove a request, write the proof to a file, and verify it.",
     "cuzkctl prove --request REQUEST --out proof.bin\ncuzkctl verify --request REQUEST --proof proof.bin"},
    {"Submit a request now and fetch its proof later.",
     "cuzkctl submit --request REQUEST --id trial\ncuzkctl await trial --out proof.bin"},
    {"Ask a daemon on another machine with TLS.", "cuzkctl --address prover:9820 --tls-ca ca.crt status"},
    {"Make a request and parameters for a trial without a sealed sector.",
     "cuzkctl params make --kind winning --size 2KiB --out params\n"
     "cuzkctl sector make --kind winning --size 2KiB --out request"},
};
constexpr std::string_view kSettingsExample =
    "listen = \"unix:/run/cuzkd/cuzkd.sock,0.0.0.0:9820\"\n\n[grpc]\nallow_plaintext = true\n\n"
    "[params]\npreload = [\"porep-32g\", \"winning-32g\"]\n\n[jobs]\nqueue = 256\nresult_age = \"12h\"";

void AddExamples(std::span<const Example> examples, ManualPage& page) {
  page.Section("EXAMPLES");
  for (const Example& example : examples) page.Paragraph(example.text).Literal(example.command);
}

std::string ReloadText() {
  std::string names;
  for (const SettingRow& row : SettingTable()) {
    if (row.reloadable) names += StrCat(names.empty() ? "" : ", ", row.name);
  }
  if (names.empty()) return "Logged; no setting can be changed without a restart.";
  return StrCat("Reads the settings again. These take effect at once: ", names,
                ". The others need a restart. If the settings are wrong, nothing changes.");
}

void AddFiles(ManualPage& page) {
  page.Section("FILES")
      .Item("/etc/cuzkd/cuzkd.toml", "The settings file, cuzkd.toml(5). It may be missing.")
      .Item("/run/cuzkd/cuzkd.sock", "The default socket.")
      .Item("/var/lib/cuzkd", "The default directory of accepted jobs and of results that were not fetched.")
      .Item("/var/tmp/filecoin-proof-parameters", "The default directory of parameter files and verifying keys.");
}

// The variables of the settings, those of the ecosystem among them.
void AddSettingVariables(ManualPage& page) {
  page.Item(
      "CUZK_SECTION_KEY",
      "The setting section.key; CUZK_PARAMS_DIRECTORY, for example, is params.directory. A variable overrides the "
      "settings file and is overridden by a flag. A variable that begins with CUZK_ and is not a setting is an "
      "error.");
  for (const SettingRow& row : SettingTable()) {
    if (row.variable.empty()) continue;
    page.Item(row.variable, StrCat("Sets ", row.name, " if ", EnvironmentName(row.name), " is not set."));
  }
}

void AddSetting(const SettingRow& row, std::string_view default_text, ManualPage& page) {
  std::string text = StrCat(row.description, " ", ValueInWords(row), ". Flag: --", row.name,
                            ". Variable: ", EnvironmentName(row.name));
  if (!row.variable.empty()) text += StrCat(", or else ", row.variable);
  text += row.reloadable ? ". Takes effect on SIGHUP." : ".";
  page.Item(StrCat(KeyOf(row.name), " = ", default_text), text);
}

}  // namespace

std::string DaemonManual(const CLI::App& app) {
  ManualPage page("cuzkd", 8, "Filecoin Groth16 proving daemon");
  page.Section("SYNOPSIS").Paragraph("cuzkd [--config FILE] [--SECTION.KEY VALUE ...]");
  page.Section("DESCRIPTION")
      .Paragraph(
          "cuzkd turns Filecoin vanilla proofs into Groth16 proofs over BLS12-381: PoRep seal commits, SnapDeals "
          "updates, "
          "WindowPoSt partitions and WinningPoSt. It serves Curio's interface cuzk.v1.ProvingEngine and its own "
          "interface "
          "cuzkd.v1.Operator over gRPC, and pages for operators over HTTP. It verifies every proof before returning "
          "it.")
      .Paragraph(
          "The daemon runs in the foreground and logs to stderr. It tells systemd when it is ready and when it stops.");
  page.Section("OPTIONS");
  AddOptions(app, "Options", page);
  page.Subsection("Settings")
      .Paragraph("Every setting is also an option. cuzkd.toml(5) describes the forms of values.");
  AddOptions(app, "Settings", page);
  AddExits(DaemonExits(), page);
  page.Section("SIGNALS")
      .Item("SIGTERM, SIGINT",
            "Drains: new requests are refused, and accepted jobs get the time jobs.drain to end. Then the daemon exits "
            "with status 0. Jobs that have not ended continue at the next start. A second signal stops at once.")
      .Item("SIGHUP", ReloadText());
  AddFiles(page);
  page.Section("ENVIRONMENT");
  AddSettingVariables(page);
  page.Item("CUDA_VISIBLE_DEVICES",
            "Read by the NVIDIA driver: the cards to use. If it is not set, all cards are used.")
      .Item("NOTIFY_SOCKET, WATCHDOG_USEC", "Set by systemd: the daemon reports readiness and answers the watchdog.")
      .Item("JOURNAL_STREAM", "Set by systemd: log lines then begin with their priority.");
  AddExamples(kDaemonExamples, page);
  page.Section("SEE ALSO").Paragraph("cuzkctl(1), cuzkd.toml(5)");
  return page.text();
}

std::string ControlManual(const CLI::App& app) {
  ManualPage page("cuzkctl", 1, "command line of the Filecoin proving daemon");
  page.Section("SYNOPSIS").Paragraph("cuzkctl [--json] [--address ADDRESS] [--config FILE] COMMAND ...");
  page.Section("DESCRIPTION")
      .Paragraph(
          "cuzkctl submits, watches and cancels jobs of cuzkd(8) and shows the state of the daemon. Without a daemon, "
          "it "
          "verifies proofs, checks the machine, and works on parameter files, circuits and witnesses.");
  page.Section("OPTIONS");
  AddOptions(app, "Options", page);
  page.Section("COMMANDS");
  for (const CLI::App* command : SubcommandsOf(app)) AddCommand(*command, "", page);
  AddExits(ControlExits(), page);
  page.Section("SIGNALS").Item("SIGINT, SIGTERM", "End the program. The job that it waits for continues.");
  page.Section("FILES").Item(
      "/etc/cuzkd/cuzkd.toml",
      "Read for listen, the address of the daemon, and params.directory, the directory of the verifying keys.");
  page.Section("ENVIRONMENT");
  AddSettingVariables(page);
  AddExamples(kControlExamples, page);
  page.Section("SEE ALSO").Paragraph("cuzkd(8), cuzkd.toml(5)");
  return page.text();
}

std::string SettingsManual() {
  ManualPage page("cuzkd.toml", 5, "settings of the Filecoin proving daemon");
  page.Section("DESCRIPTION")
      .Paragraph(
          "The settings file is a TOML file, by default /etc/cuzkd/cuzkd.toml. The sources of a setting are, the "
          "strongest "
          "first: a flag of cuzkd(8), the setting's environment variable, a variable that other Filecoin programs use "
          "too "
          "(if one is named below), the file, the default. An unknown or malformed setting is an error that names the "
          "file "
          "and line. `cuzkd --check-config` checks the settings before a start; `cuzkd --print-config` prints the "
          "settings "
          "in force and the source of each.")
      .Paragraph(
          "A size is a whole number with B, KiB, MiB, GiB or TiB. A duration is a whole number with ms, s, m or h. "
          "Both are "
          "written in quotes.");
  page.Section("SETTINGS");
  const Settings defaults = Settings::Defaults();
  std::string_view section;
  for (const SettingRow& row : SettingTable()) {
    if (SectionOf(row.name) != section) page.Subsection(StrCat("[", SectionOf(row.name), "]"));
    section = SectionOf(row.name);
    AddSetting(row, defaults.FileText(row), page);
  }
  page.Section("FILES").Item("/etc/cuzkd/cuzkd.toml", "The settings file.");
  page.Section("EXAMPLES").Literal(kSettingsExample);
  page.Section("SEE ALSO").Paragraph("cuzkd(8), cuzkctl(1)");
  return page.text();
}

}  // namespace cuzk::daemon
