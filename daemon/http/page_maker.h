#pragma once
// From the head of a request to the bytes of its answer.

#include <memory>
#include <string>

#include "daemon/http/http_server.h"

namespace cuzk::daemon {

/// Thread-safe.
class PageMaker {
 public:
  struct Bytes {
    std::string text;             ///< head and body
    std::shared_ptr<void> place;  ///< HttpAnswer::place
  };

  /// `local_only`: hosts that are not this machine are refused.
  PageMaker(HttpServer::Pages pages, bool local_only) : pages_(std::move(pages)), local_only_(local_only) {}

  /// The answer; a page is called for it.
  Bytes Answer(const HttpRequest& request) const;
  /// Of a code with a text alone.
  static std::string Refusal(int code);

 private:
  HttpAnswer Find(const HttpRequest& request) const;

  const HttpServer::Pages pages_;
  const bool local_only_;
};

}  // namespace cuzk::daemon
