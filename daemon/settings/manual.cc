#include "daemon/settings/manual.h"

#include <CLI/CLI.hpp>
#include <span>

#include "core/base/settings_text.h"
#include "daemon/common/exit_code.h"
#include "daemon/settings/manual_page.h"

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
    page.Item(Term(*option), text);
  }
}

std::vector<const CLI::App*> SubcommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
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

std::string ReloadText() {
  std::string names;
  for (const SettingRow& row : SettingTable()) {
    if (row.reloadable) names += StrCat(names.empty() ? "" : ", ", row.name);
  }
  if (names.empty()) return "Noted in the log; no setting can be changed while running.";
  return StrCat("Reads the settings again. These take effect at once: ", names,
                ". The others wait for the next start. Settings that are wrong leave everything as it is.");
}

void AddFiles(ManualPage& page) {
  page.Section("FILES")
      .Item("/etc/cuzkd/cuzkd.toml", "The settings, cuzkd.toml(5). They may be missing.")
      .Item("/run/cuzkd/cuzkd.sock", "The socket, by default.")
      .Item("/var/lib/cuzkd", "Accepted jobs and results that nobody fetched, by default.")
      .Item("/var/tmp/filecoin-proof-parameters", "Parameters and keys, by default.");
}

// The variables of the settings, those of the ecosystem among them.
void AddSettingVariables(ManualPage& page) {
  page.Item("CUZK_SECTION_KEY",
            "The setting section.key, such as CUZK_PARAMS_DIRECTORY. Stronger than the file, weaker than a flag. A "
            "variable that begins with CUZK_ and is no setting is refused.");
  for (const SettingRow& row : SettingTable()) {
    if (row.variable.empty()) continue;
    page.Item(row.variable, StrCat("Read for ", row.name, " where ", EnvironmentName(row.name), " is not set."));
  }
}

void AddSetting(const SettingRow& row, std::string_view default_text, ManualPage& page) {
  std::string text =
      StrCat(row.description, " ", ValueInWords(row), ". Flag --", row.name, ", variable ", EnvironmentName(row.name));
  if (!row.variable.empty()) text += StrCat(", else ", row.variable);
  text += row.reloadable ? ". Takes effect on SIGHUP." : ".";
  page.Item(StrCat(KeyOf(row.name), " = ", default_text), text);
}

}  // namespace

std::string DaemonManual(const CLI::App& app) {
  ManualPage page("cuzkd", 8, "Filecoin Groth16 proving daemon");
  page.Section("SYNOPSIS").Paragraph("cuzkd [--config FILE] [--SECTION.KEY VALUE ...]");
  page.Section("DESCRIPTION")
      .Paragraph(
          "Turns Filecoin vanilla proofs into Groth16 proofs over BLS12-381: PoRep seal commits, SnapDeals updates, "
          "WindowPoSt partitions and WinningPoSt. Serves Curio's interface cuzk.v1.ProvingEngine and its own "
          "cuzkd.v1.Operator by gRPC, and pages for operators by HTTP. Every proof is verified before it is returned.")
      .Paragraph("Runs in the foreground and logs to stderr. Tells systemd when it is ready, and when it stops.");
  page.Section("OPTIONS");
  AddOptions(app, "Options", page);
  page.Subsection("Settings").Paragraph("Every setting is an option too. cuzkd.toml(5) has the defaults.");
  AddOptions(app, "Settings", page);
  AddExits(DaemonExits(), page);
  page.Section("SIGNALS")
      .Item("SIGTERM, SIGINT",
            "Drains: nothing more is accepted, accepted jobs end and their callers are answered, for jobs.drain at "
            "most; then exit status 0. A second one does not wait. What is left goes on at the next start.")
      .Item("SIGHUP", ReloadText());
  AddFiles(page);
  page.Section("ENVIRONMENT");
  AddSettingVariables(page);
  page.Item("CUDA_VISIBLE_DEVICES", "Read by the NVIDIA driver: the cards that are used, all if it is not set.")
      .Item("NOTIFY_SOCKET, WATCHDOG_USEC", "Set by systemd.")
      .Item("JOURNAL_STREAM", "Set by systemd: lines of the log then begin with their priority.");
  page.Section("SEE ALSO").Paragraph("cuzkctl(1), cuzkd.toml(5)");
  return page.text();
}

std::string ControlManual(const CLI::App& app) {
  ManualPage page("cuzkctl", 1, "command line of the Filecoin proving daemon");
  page.Section("SYNOPSIS").Paragraph("cuzkctl [--json] [--address ADDRESS] [--config FILE] COMMAND ...");
  page.Section("DESCRIPTION")
      .Paragraph(
          "Submits, watches and cancels jobs of cuzkd(8), shows what it holds, verifies proofs without it, and has the "
          "tools for parameter files, circuits and witnesses.");
  page.Section("OPTIONS");
  AddOptions(app, "Options", page);
  page.Section("COMMANDS");
  for (const CLI::App* command : SubcommandsOf(app)) AddCommand(*command, "", page);
  AddExits(ControlExits(), page);
  page.Section("SIGNALS").Item("SIGINT, SIGTERM", "End the program. The job that it waits for goes on.");
  page.Section("FILES").Item("/etc/cuzkd/cuzkd.toml",
                             "Read for listen, where the daemon is, and params.directory, where the keys are.");
  page.Section("ENVIRONMENT");
  AddSettingVariables(page);
  page.Section("SEE ALSO").Paragraph("cuzkd(8), cuzkd.toml(5)");
  return page.text();
}

std::string SettingsManual() {
  ManualPage page("cuzkd.toml", 5, "settings of the Filecoin proving daemon");
  page.Section("DESCRIPTION")
      .Paragraph(
          "A TOML file, by default /etc/cuzkd/cuzkd.toml. A setting is taken from, strongest first: a flag of "
          "cuzkd(8), its environment variable, the ecosystem's variable where one is named, the file, the default. "
          "What is unknown or malformed is refused with file and line; `cuzkd --check-config` tells before a start, "
          "`cuzkd --print-config` prints what is in force and where each value came from.")
      .Paragraph(
          "Sizes are a whole number and B, KiB, MiB, GiB or TiB; durations a whole number and ms, s, m or h; both in "
          "quotes.");
  page.Section("SETTINGS");
  const Settings defaults = Settings::Defaults();
  std::string_view section;
  for (const SettingRow& row : SettingTable()) {
    if (SectionOf(row.name) != section) page.Subsection(StrCat("[", SectionOf(row.name), "]"));
    section = SectionOf(row.name);
    AddSetting(row, defaults.FileText(row), page);
  }
  page.Section("FILES").Item("/etc/cuzkd/cuzkd.toml", "The file.");
  page.Section("SEE ALSO").Paragraph("cuzkd(8), cuzkctl(1)");
  return page.text();
}

}  // namespace cuzk::daemon
