#include "daemon/settings/server_options.h"

#include "core/base/text.h"

namespace cuzk::daemon {
Status CheckServerOptions(const ServerOptions& options) {
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
