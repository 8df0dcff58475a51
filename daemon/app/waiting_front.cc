#include "daemon/app/waiting_front.h"

#include <utility>

namespace cuzk::daemon {

StatusOr<std::unique_ptr<WaitingFront>> WaitingFront::Start(const Parts& parts, std::string why) {
  std::unique_ptr<WaitingFront> front(new WaitingFront(std::move(why)));
  if (parts.options->http) {
    HttpServer::Pages pages;
    pages["/healthz"] = [] { return HttpAnswer{.body = "ok\n"}; };
    pages["/readyz"] = [f = front.get()] { return HttpAnswer{.code = 503, .body = f->why() + "\n"}; };
    pages["/metrics"] = [text = parts.metrics] {
      return HttpAnswer{.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = text()};
    };
    CUZK_ASSIGN_OR_RETURN(front->http_, HttpServer::Start(*parts.options->http, std::move(pages)));
  }
  CUZK_ASSIGN_OR_RETURN(front->server_,
                        Server::Start(parts.options->server, {.services = {},
                                                              .others = &front->refusing_,
                                                              .identity = parts.identity,
                                                              .calls = parts.calls,
                                                              .memory = parts.memory,
                                                              .connection_ended = parts.connection_ended}));
  return front;
}

WaitingFront::~WaitingFront() = default;

void WaitingFront::Say(std::string why) {
  MutexLock lock(mutex_);
  why_ = std::move(why);
}

std::string WaitingFront::why() const {
  MutexLock lock(mutex_);
  return why_;
}

}  // namespace cuzk::daemon
