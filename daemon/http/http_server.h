#pragma once
// Plain HTTP for probes, scrapers and one page: GET only, on loopback unless told otherwise.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "daemon/common/address.h"

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

/// Whether a Host header names this machine: localhost, a name below it, or an IP address, with or without a port.
/// Another site that lets its name point to 127.0.0.1 would otherwise be allowed to read the pages.
bool IsLocalHost(std::string_view host);

class HttpServer {
 public:
  /// By path; called from the server's threads, at the same time.
  using Pages = std::map<std::string, std::function<HttpAnswer()>, std::less<>>;

  /// A connection holds a thread until its request has come, also one that a browser or a pool of connections opens
  /// before it has anything to ask: with many threads they do not keep a probe waiting. None is open for long.
  static constexpr size_t kManyThreads = 256, kFewThreads = 16;

  /// Everything else is answered 404, other methods 405; on an address that only this machine can reach, also 403 for a
  /// Host that is not this machine. FailedPrecondition: the address cannot be listened on.
  static StatusOr<std::unique_ptr<HttpServer>> Start(const Address& address, Pages pages,
                                                     size_t threads = kManyThreads);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  unsigned port() const { return port_; }

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  unsigned port_ = 0;
};

}  // namespace cuzk::daemon
