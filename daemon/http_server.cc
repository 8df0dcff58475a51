#include "daemon/http_server.h"

#include <civetweb.h>

#include <string_view>

namespace cuzk::daemon {

struct HttpServer::Impl {
  Pages pages;
  mg_context* context = nullptr;

  ~Impl() {
    if (context) mg_stop(context);
  }

  static int Handle(mg_connection* connection, void* self) {
    const mg_request_info* request = mg_get_request_info(connection);
    HttpAnswer answer = static_cast<const Impl*>(self)->Answer(request->request_method, request->local_uri);
    mg_printf(connection,
              "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
              "X-Content-Type-Options: nosniff\r\nConnection: close\r\n%s\r\n",
              answer.code, mg_get_response_code_text(connection, answer.code), answer.content_type.c_str(),
              answer.body.size(), answer.code == 405 ? "Allow: GET\r\n" : "");
    mg_write(connection, answer.body.data(), answer.body.size());
    return answer.code;
  }

  HttpAnswer Answer(std::string_view method, const char* path) const {
    if (method != "GET") return {.code = 405, .body = "only GET\n"};
    auto page = pages.find(path);
    if (page == pages.end()) return {.code = 404, .body = "no such page\n"};
    return page->second();
  }
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const Address& address, Pages pages) {
  if (address.kind != Address::Kind::kTcp) return absl::InvalidArgumentError("http.listen: must be HOST:PORT");
  std::string host = address.host == "localhost" ? "127.0.0.1" : address.host;
  if (host.find(':') != std::string::npos) host = StrCat("[", host, "]");
  std::string port = StrCat(host, ":", address.port);
  const char* options[] = {"listening_ports",       port.c_str(), "num_threads", "4", "request_timeout_ms", "10000",
                           "keep_alive_timeout_ms", "0",          nullptr};
  auto impl = std::make_unique<Impl>();
  impl->pages = std::move(pages);
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
