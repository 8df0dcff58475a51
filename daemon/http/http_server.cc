#include "daemon/http/http_server.h"

#include <arpa/inet.h>
#include <civetweb.h>
#include <strings.h>

namespace cuzk::daemon {

bool IsLocalHost(std::string_view host) {
  std::string name(host.substr(0, host.find_last_not_of("0123456789") + 1));
  if (name.ends_with(':')) {
    name.pop_back();
  } else {
    name = host;
  }
  in_addr v4{};
  if (inet_pton(AF_INET, name.c_str(), &v4) == 1) return true;
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') {
    in6_addr v6{};
    return inet_pton(AF_INET6, name.substr(1, name.size() - 2).c_str(), &v6) == 1;
  }
  static constexpr std::string_view kLocal = ".localhost";
  if (strcasecmp(name.c_str(), kLocal.data() + 1) == 0) return true;
  return name.size() > kLocal.size() && strcasecmp(name.c_str() + name.size() - kLocal.size(), kLocal.data()) == 0;
}

struct HttpServer::Impl {
  Pages pages;
  bool local_only = true;
  mg_context* context = nullptr;

  ~Impl() {
    if (context) mg_stop(context);
  }

  static int Handle(mg_connection* connection, void* self) {
    const mg_request_info* request = mg_get_request_info(connection);
    const char* host = mg_get_header(connection, "Host");
    HttpAnswer answer =
        static_cast<const Impl*>(self)->Answer(request->request_method, request->local_uri, host ? host : "");
    if (answer.code == 405) answer.headers.emplace_back("Allow", "GET");
    std::string further;
    for (const auto& [name, value] : answer.headers) further += StrCat(name, ": ", value, "\r\n");
    mg_printf(connection,
              "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
              "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
              "Cross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: %s\r\nConnection: close\r\n%s\r\n",
              answer.code, mg_get_response_code_text(connection, answer.code), answer.content_type.c_str(),
              answer.body.size(), answer.policy.c_str(), further.c_str());
    mg_write(connection, answer.body.data(), answer.body.size());
    return answer.code;
  }

  HttpAnswer Answer(std::string_view method, std::string_view path, std::string_view host) const {
    if (local_only && !host.empty() && !IsLocalHost(host)) {
      return {.code = 403, .body = "http.listen is on loopback: ask for it as localhost or by its IP address\n"};
    }
    if (method != "GET") return {.code = 405, .body = "only GET is allowed\n"};
    auto page = pages.find(path);
    if (page == pages.end()) return {.code = 404, .body = "there is no such page\n"};
    return page->second();
  }
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const Address& address, Pages pages, size_t threads) {
  if (address.kind != Address::Kind::kTcp) return absl::InvalidArgumentError("http.listen: must be HOST:PORT");
  std::string host = address.host == "localhost" ? "127.0.0.1" : address.host;
  if (host.find(':') != std::string::npos) host = StrCat("[", host, "]");
  std::string port = StrCat(host, ":", address.port);
  const std::string count = StrCat(threads);
  const char* options[] = {"listening_ports",
                           port.c_str(),
                           "num_threads",
                           count.c_str(),
                           "request_timeout_ms",
                           "5000",
                           "enable_keep_alive",
                           "no",
                           "keep_alive_timeout_ms",
                           "0",
                           nullptr};
  auto impl = std::make_unique<Impl>();
  impl->pages = std::move(pages);
  impl->local_only = address.IsLocal();
  mg_callbacks callbacks{};
  impl->context = mg_start(&callbacks, impl.get(), options);
  if (!impl->context) return absl::FailedPreconditionError(StrCat("http.listen: cannot listen on ", port));
  mg_set_request_handler(impl->context, "**", &Impl::Handle, impl.get());
  mg_server_port opened{};
  unsigned given = mg_get_server_ports(impl->context, 1, &opened) == 1 ? static_cast<unsigned>(opened.port) : 0;
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(impl)));
  server->port_ = given;
  return server;
}

}  // namespace cuzk::daemon
