#include "daemon/settings/server_options.h"

#include <limits>

#include "core/base/text.h"

namespace cuzk::daemon {
namespace {

Status CheckInterval(std::string_view setting, std::chrono::milliseconds value) {
  if (value.count() >= 1000 && value <= std::chrono::hours(24 * 20)) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(setting, ": must be from 1s to 480h"));
}

}  // namespace

Status CheckServerOptions(const ServerOptions& options) {
  constexpr uint64_t kInt = std::numeric_limits<int>::max();
  if (options.max_message_bytes > kInt || options.max_message_bytes == 0) {
    return absl::InvalidArgumentError("grpc.max_message: must be more than 0B and less than 2GiB");
  }
  if (options.max_calls_per_connection > kInt || options.max_calls_per_connection == 0) {
    return absl::InvalidArgumentError("grpc.max_calls: must be from 1 to 2147483647");
  }
  if (options.max_threads > kInt || options.max_threads < 8) {
    return absl::InvalidArgumentError("grpc.threads: must be from 8 to 2147483647");
  }
  CUZK_RETURN_IF_ERROR(CheckInterval("grpc.keepalive", options.keepalive));
  CUZK_RETURN_IF_ERROR(CheckInterval("grpc.keepalive_timeout", options.keepalive_timeout));
  CUZK_RETURN_IF_ERROR(CheckInterval("grpc.least_ping_interval", options.least_ping_interval));
  CUZK_RETURN_IF_ERROR(CheckTlsFiles(options.tls));
  bool tcp = false;
  for (size_t i = 0; i < options.listen.size(); ++i) {
    const Address& address = options.listen[i];
    for (size_t k = 0; k < i; ++k) {
      if (!Collide(address, options.listen[k])) continue;
      return absl::InvalidArgumentError(
          StrCat("listen: ", options.listen[k].Target(), " and ", address.Target(), " are the same address"));
    }
    tcp = tcp || address.kind == Address::Kind::kTcp;
    if (!address.IsLocal() && !options.allow_plaintext && !options.tls.enabled()) {
      return absl::InvalidArgumentError(
          StrCat("listen: ", address.Target(),
                 " can be reached by other machines without encryption; set "
                 "tls.certificate and tls.key, or allow it with grpc.allow_plaintext = true"));
    }
  }
  if (options.tls.enabled() && !tcp) {
    return absl::InvalidArgumentError("tls.certificate: listen has no HOST:PORT to use it");
  }
  return absl::OkStatus();
}

}  // namespace cuzk::daemon
