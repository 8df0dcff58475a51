// doctor: what NVIDIA's driver told the kernel's log about its cards.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <map>

#include "core/base/file.h"
#include "daemon/common/kernel_file.h"
#include "daemon/common/xid.h"
#include "daemon/ctl/doctor/finding.h"

namespace cuzk::daemon {
namespace {

using Level = Finding::Level;

struct Reported {
  unsigned count = 0, last = 0;
  double seconds = 0;  // of the last, since the start of the system
};

// A record is "PRIORITY,NUMBER,MICROSECONDS,FLAGS;TEXT"; TEXT "NVRM: Xid (PCI:0000:3b:00): 79, pid=..., ...".
void ReadRecord(std::string_view record, std::map<std::string, Reported>& cards) {
  constexpr std::string_view kMark = "NVRM: Xid (";
  const size_t text = record.find(';'), mark = record.find(kMark);
  if (text == record.npos || mark == record.npos || mark < text) return;
  std::string_view rest = record.substr(mark + kMark.size());
  const size_t end = rest.find("): ");
  if (end == rest.npos) return;
  unsigned code = 0;
  std::string_view number = rest.substr(end + 3);
  if (std::from_chars(number.data(), number.data() + number.size(), code).ec != std::errc()) return;
  Reported& card = cards[std::string(rest.substr(0, end))];
  card.count++;
  card.last = code;
  std::string_view fields = record.substr(0, text);
  for (int i = 0; i < 2; ++i) fields.remove_prefix(std::min(fields.find(',') + 1, fields.size()));
  uint64_t microseconds = 0;
  if (std::from_chars(fields.data(), fields.data() + fields.size(), microseconds).ec == std::errc()) {
    card.seconds = static_cast<double>(microseconds) / 1e6;
  }
}

// Everything that is there now; waits for nothing more.
StatusOr<std::string> ReadLog(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return ErrnoStatus(errno, "cannot open", path);
  std::string log;
  char record[8192];  // the kernel gives one record at a time, never a longer one
  for (;;) {
    const ssize_t got = read(fd, record, sizeof record);
    if (got > 0) log.append(record, static_cast<size_t>(got));
    if (got < 0 && (errno == EINTR || errno == EPIPE)) continue;  // EPIPE: records were overwritten
    if (got <= 0) break;
  }
  close(fd);
  return log;
}

std::string Ago(double seconds) {
  if (seconds < 120) return StrCat(static_cast<uint64_t>(std::max(seconds, 0.0)), " s ago");
  if (seconds < 7200) return StrCat(static_cast<uint64_t>(seconds / 60), " min ago");
  return StrCat(static_cast<uint64_t>(seconds / 3600), " h ago");
}

}  // namespace

Findings CheckKernelLog(const std::filesystem::path& root) {
  const std::string check = "errors of cards";
  const bool driver = !KernelFile(root / "sys/module/nvidia/version").empty();
  StatusOr<std::string> log = ReadLog(root / "dev/kmsg");
  if (!log.ok()) {
    if (!driver) return {};
    return {{Level::kOk, check, StrCat("not checked: ", log.status().message()),
             "run doctor as root to check the kernel's log for Xid messages of the driver"}};
  }
  std::map<std::string, Reported> cards;
  for (std::string_view rest = *log; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    ReadRecord(rest.substr(0, end), cards);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (cards.empty() && !driver) return {};
  if (cards.empty()) return {{Level::kOk, check, "no Xid in the kernel's log"}};
  const double uptime = std::atof(KernelFile(root / "proc/uptime").c_str());
  Findings findings;
  for (const auto& [address, xids] : cards) {
    const XidRow& row = XidRowOf(xids.last);
    findings.push_back({row.verdict == XidVerdict::kProgram ? Level::kOk : Level::kWarn, check,
                        StrCat(address, ": ", xids.count, " Xid, the last ", Ago(uptime - xids.seconds), ": ",
                               xids.last, ", ", row.meaning),
                        std::string(row.advice)});
  }
  return findings;
}

}  // namespace cuzk::daemon
