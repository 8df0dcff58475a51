#pragma once
// Plain HTTP for probes and scrapers: GET only, on loopback unless told otherwise.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/base/status.h"
#include "daemon/address.h"

namespace cuzk::daemon {

struct HttpAnswer {
  int code = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

class HttpServer {
 public:
  /// By path; called from the server's threads, at the same time.
  using Pages = std::map<std::string, std::function<HttpAnswer()>>;

  /// Everything else is answered 404, other methods 405. FailedPrecondition: the address cannot be listened on.
  static StatusOr<std::unique_ptr<HttpServer>> Start(const Address& address, Pages pages);
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
