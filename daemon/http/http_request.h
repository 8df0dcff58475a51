#pragma once
// The head of a request of HTTP/1.1 (RFC 9112), as far as a server that only shows pages needs it.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cuzk::daemon {

/// Whether a Host header names this machine: localhost, a name below it, or an IP address, with or without a port.
/// Another site that lets its name point to 127.0.0.1 would otherwise be allowed to read the pages.
bool IsLocalHost(std::string_view host);

struct HttpRequest {
  /// A head of more bytes is refused.
  static constexpr size_t kMostBytes = size_t{16} << 10;

  int refused = 0;     ///< the code of the answer to a head that is malformed or not of HTTP/1; 0: it is none
  std::string method;  ///< as sent; its letters' case matters
  std::string target;  ///< the decoded path, or "*"; without a query
  std::string host;    ///< of an absolute URI, or of the Host header; empty if there is neither
};

/// Nothing while the head has not ended (and is not too long).
std::optional<HttpRequest> ParseHead(std::string_view bytes);

/// "Not Found": what stands beside a code for people.
std::string_view ReasonOf(int code);

}  // namespace cuzk::daemon
