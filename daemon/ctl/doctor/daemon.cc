// doctor: the daemon, if it runs.

#include <grpcpp/grpcpp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "daemon/common/convert.h"
#include "daemon/common/version.h"
#include "daemon/ctl/connection/client.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/ctl/connection/unit_state.h"
#include "daemon/ctl/doctor/finding.h"
#include "daemon/sockets/address.h"

namespace cuzk::daemon {
namespace {

using Level = Finding::Level;

std::chrono::system_clock::time_point Soon() { return std::chrono::system_clock::now() + std::chrono::seconds(3); }

// Who listens at a unix socket; 0 if it does not tell.
int ListenerOf(const std::string& path) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 0;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  ucred peer{};
  socklen_t size = sizeof peer;
  bool known = connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0 &&
               getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  close(fd);
  return known ? peer.pid : 0;
}

bool IsThere(const std::string& path) { return access(path.c_str(), F_OK) == 0 || errno != ENOENT; }

// The daemon does not answer: that is right before its first start, and wrong later.
Finding Silent(const Session& session, const Address& where, const Status& called) {
  const bool socket = where.kind == Address::Kind::kUnixPath;
  const std::string state = session.settings.Text("jobs.state_directory");
  if (!socket || IsThere(where.path) || state.empty() || IsThere(state)) {
    const bool closed = socket && IsThere(where.path) && access(where.path.c_str(), W_OK) != 0;
    std::optional<Unreachable> found = WhyUnreachable(session);
    if (!found) found = {StrCat(called.message(), " at ", where.Target()), StartAdvice(StateOfUnit("/"))};
    if (closed) found->advice = "this user may not use the socket: add the user to the group cuzkd";
    if (found->advice.empty()) found->advice = "correct the options --tls-...";
    return {Level::kFail, "daemon", StrCat("does not answer: ", found->said), found->advice};
  }
  return {
      Level::kWarn, "daemon",
      StrCat("has not been started on this machine: neither its socket ", where.path, " nor its state directory ",
             state, " exists"),
      StrCat("systemctl start cuzkd creates both; by hand: cuzkd --listen unix:SOCKET --jobs.state_directory FOLDER, "
             "then cuzkctl --address unix:SOCKET")};
}

// The value of a label in the first sample of a metric.
std::string LabelOf(std::string_view text, std::string_view metric, std::string_view label) {
  size_t at = text.find(StrCat("\n", metric, "{"));
  if (at == std::string_view::npos) return "";
  std::string_view sample = text.substr(at + 1);
  sample = sample.substr(0, sample.find('\n'));
  size_t begin = sample.find(StrCat(label, "=\""));
  if (begin == std::string_view::npos) return "";
  sample.remove_prefix(begin + label.size() + 2);
  return std::string(sample.substr(0, sample.find('"')));
}

Finding Version(const Client& client) {
  grpc::ClientContext context;
  context.set_deadline(Soon());
  v1::GetMetricsResponse metrics;
  if (Status status = FromGrpc(client.proving->GetMetrics(&context, {}, &metrics)); !status.ok()) {
    return {Level::kWarn, "daemon version", StrCat(status.message()),
            "the daemon should answer GetMetrics; journalctl -u cuzkd may say why it does not"};
  }
  std::string version = LabelOf(metrics.prometheus_text(), "cuzk_build_info", "version");
  if (version == Build().version) return {Level::kOk, "daemon version", version};
  return {Level::kWarn, "daemon version",
          StrCat(version.empty() ? "unknown" : version, ", cuzkctl is ", Build().version),
          "systemctl restart cuzkd, so that the installed version runs"};
}

}  // namespace

DaemonFindings CheckDaemon(const Session& session) {
  StatusOr<Client> client = Client::Connect(session);
  StatusOr<std::vector<Address>> parsed = ParseAddresses(session.address);
  if (!client.ok() || !parsed.ok()) {
    return {{{Level::kFail, "daemon", StrCat(client.status().message()), "correct the setting listen, or --address"}},
            0};
  }
  const Address& where = parsed->front();
  grpc::ClientContext context;
  context.set_deadline(Soon());
  v1::GetStatusResponse status;
  if (Status called = FromGrpc(client->proving->GetStatus(&context, {}, &status)); !called.ok()) {
    return {{Silent(session, where, called)}, 0};
  }
  DaemonFindings found{{{Level::kOk, "daemon",
                         StrCat("answers at ", where.Target(), ", up ", status.uptime_seconds(), " s, ",
                                status.gpus_size(), status.gpus_size() == 1 ? " device" : " devices")}},
                       where.kind == Address::Kind::kUnixPath ? ListenerOf(where.path) : 0};
  for (const v1::GPUStatus& gpu : status.gpus()) {
    const std::string what = StrCat("device ", gpu.ordinal(), ": ", gpu.name());
    if (gpu.name().find("(lost: ") != std::string::npos) {
      found.findings.push_back(
          {Level::kFail, "daemon", what, "find the cause with nvidia-smi -q and dmesg, then systemctl restart cuzkd"});
    }
    if (gpu.name().find("(quarantined: ") != std::string::npos || gpu.name().find("(doubted: ") != std::string::npos) {
      found.findings.push_back(
          {Level::kWarn, "daemon", what, "find the cause with nvidia-smi -q and dmesg, then cuzkctl device enable"});
    }
  }
  found.findings.push_back(Version(*client));
  return found;
}

}  // namespace cuzk::daemon
