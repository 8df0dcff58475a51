#pragma once
// Answers while the daemon waits for a card: probes, scrapers and clients are told why no job is accepted yet.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "daemon/grpc/refusing_service.h"
#include "daemon/grpc/server.h"
#include "daemon/http/http_server.h"
#include "daemon/settings/options.h"

namespace cuzk::daemon {

/// Serves the addresses of the settings until it is destroyed, which frees them for the daemon's own servers. Over HTTP
/// /healthz is OK, /readyz is 503 with the reason, /metrics has `metrics`. Over gRPC health is NOT_SERVING and every
/// other call is UNAVAILABLE with the reason. Thread-safe.
class WaitingFront {
 public:
  struct Parts {
    const DaemonOptions* options = nullptr;
    TlsIdentity* identity = nullptr;  ///< null: without TLS
    CallWatch* calls = nullptr;
    IngressMemory* memory = nullptr;
    std::function<void(std::string_view reason, const std::string& text)> connection_ended;  ///< see Server::Parts
    std::function<std::string()> metrics;                                                    ///< Prometheus' text
  };
  /// What the parts point to outlives the front. Errors of Server::Start and HttpServer::Start.
  static StatusOr<std::unique_ptr<WaitingFront>> Start(const Parts& parts, std::string why);
  ~WaitingFront();
  WaitingFront(const WaitingFront&) = delete;
  WaitingFront& operator=(const WaitingFront&) = delete;

  /// The reason from now on.
  void Say(std::string why);

 private:
  explicit WaitingFront(std::string why) : why_(std::move(why)) {}
  std::string why() const;

  mutable Mutex mutex_;
  std::string why_ ABSL_GUARDED_BY(mutex_);
  RefusingService refusing_{[this] { return why(); }};
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<Server> server_;
};

}  // namespace cuzk::daemon
