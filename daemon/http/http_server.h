#pragma once
// Plain HTTP/1.1 for probes, scrapers and one page: it shows pages and takes nothing, on loopback unless told
// otherwise.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "daemon/http/http_request.h"
#include "daemon/sockets/address.h"

namespace cuzk::daemon {

struct HttpAnswer {
  int code = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  /// What a browser may do with it: the value of Content-Security-Policy.
  std::string policy = "default-src 'none'; frame-ancestors 'none'";
  std::vector<std::pair<std::string, std::string>> headers;  ///< further ones
  std::shared_ptr<void> place;                               ///< let go once the body has been sent
};

/// One thread serves all connections, so that idle ones cost little; a few others make the pages. Every connection ends
/// with its answer.
class HttpServer {
 public:
  /// By path; called from the server's threads, at the same time.
  using Pages = std::map<std::string, std::function<HttpAnswer()>, std::less<>>;

  /// Threads of one server: enough that a page which is slow to make keeps no probe waiting.
  static constexpr size_t kThreads = 8;
  /// Connections at once; for each further one, the connection that has been silent for longest ends.
  static constexpr size_t kMostConnections = 1024;

  /// GET, HEAD and OPTIONS are answered; other methods get 405, or 501 if HTTP does not know them, other paths 404; on
  /// an address that only this machine can reach, also 403 for a host that is not this machine. Errors of Listen;
  /// RESOURCE_EXHAUSTED: the system gives no thread.
  static StatusOr<std::unique_ptr<HttpServer>> Start(const Address& address, Pages pages);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  unsigned port() const { return port_; }

 private:
  class Loop;
  explicit HttpServer(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
  unsigned port_ = 0;
};

}  // namespace cuzk::daemon
