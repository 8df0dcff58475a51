// doctor: the settings that the running daemon has, by which the other checks go.

#include <grpcpp/grpcpp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/file.h"
#include "daemon/common/convert.h"
#include "daemon/ctl/connection/client.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/ctl/doctor/finding.h"

namespace cuzk::daemon {
namespace {

using Level = Finding::Level;

/// What is shown of them; the rest is counted.
constexpr size_t kShown = 3;

/// A value that the daemon told, as the file would hold it, and where it came from.
struct Told {
  std::string value, origin;
};
using ToldSettings = std::map<std::string, Told, std::less<>>;

StatusOr<ToldSettings> Ask(const Session& session) {
  CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(3));
  cuzkd::v1::GetSettingsResponse response;
  CUZK_RETURN_IF_ERROR(FromGrpc(client.operators->GetSettings(&context, {}, &response)));
  ToldSettings told;
  for (const cuzkd::v1::Setting& setting : response.settings()) {
    told[setting.name()] = {setting.value(), setting.origin()};
  }
  return told;
}

/// The values as this program holds settings. They are written as a settings file in memory and read like any other, so
/// that they are checked; names that this program does not know are left out.
StatusOr<Settings> AsSettings(const ToldSettings& told) {
  std::string text;
  for (const SettingRow& row : SettingTable()) {
    const auto setting = told.find(row.name);
    if (setting != told.end()) text += StrCat(row.name, " = ", setting->second.value, "\n");
  }
  const int file = memfd_create("cuzkd.toml", MFD_CLOEXEC);
  if (file < 0) return ErrnoStatus(errno, "make a file in memory", "cuzkd.toml");
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  StatusOr<Settings> settings = absl::InternalError("the daemon's settings could not be kept");
  if (written) settings = Settings::Load({.file = StrCat("/proc/self/fd/", file)});
  close(file);
  return settings;
}

bool IsOfFile(std::string_view origin) { return origin == "default" || origin.starts_with("file "); }

Finding Compare(const ToldSettings& told, const Settings& here) {
  Finding finding{Level::kOk, "daemon settings"};
  std::vector<std::string> of_files, others;  // the first are the ones to act on
  std::string reload, restart;
  for (const SettingRow& row : SettingTable()) {
    const auto setting = told.find(row.name);
    if (setting == told.end() || setting->second.value == here.FileText(row)) continue;
    // A flag or a variable is no difference of files.
    const bool of_file = IsOfFile(setting->second.origin) && IsOfFile(here.Origin(row.name));
    (of_file ? of_files : others)
        .push_back(StrCat(row.name, " is ", setting->second.value, " in the daemon (", setting->second.origin, "), ",
                          here.FileText(row), " here (", here.Origin(row.name), ")"));
    if (!of_file) continue;
    std::string& names = row.reloadable ? reload : restart;
    names += StrCat(names.empty() ? "" : ", ", row.name);
  }
  of_files.insert(of_files.end(), others.begin(), others.end());
  if (of_files.empty()) {
    finding.said = "the same as those that this command reads";
    return finding;
  }
  std::string list;
  for (size_t i = 0; i < std::min(of_files.size(), kShown); ++i) list += StrCat(i == 0 ? "" : "; ", of_files[i]);
  if (of_files.size() > kShown) list += StrCat("; and ", of_files.size() - kShown, " more");
  finding.said = StrCat(list, "; doctor checks with the daemon's values");
  if (reload.empty() && restart.empty()) return finding;
  finding.level = Level::kWarn;
  if (!reload.empty()) finding.advice = StrCat("systemctl reload cuzkd applies ", reload);
  if (!restart.empty()) {
    finding.advice += StrCat(finding.advice.empty() ? "" : "; ", "systemctl restart cuzkd applies ", restart);
  }
  finding.advice += ", if the daemon reads the same file";
  return finding;
}

}  // namespace

RunningSettings AskForSettings(const Session& session) {
  const StatusOr<ToldSettings> told = Ask(session);
  if (!told.ok()) return {};  // CheckDaemon says why it does not answer
  RunningSettings running;
  StatusOr<Settings> settings = AsSettings(*told);
  if (!settings.ok()) {
    running.findings.push_back({Level::kWarn, "daemon settings", StrCat(settings.status().message()),
                                "use the cuzkctl of the daemon's version"});
    return running;
  }
  running.settings = *std::move(settings);
  if (session.trouble.ok()) running.findings.push_back(Compare(*told, session.settings));
  return running;
}

}  // namespace cuzk::daemon
