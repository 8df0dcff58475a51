#include "daemon/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Sends the text to a port of this machine and reads until the other end closes.
std::string Exchange(unsigned port, const std::string& request) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<uint16_t>(port));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
  EXPECT_EQ(write(fd, request.data(), request.size()), static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;) answer.append(buffer, static_cast<size_t>(n));
  close(fd);
  return answer;
}

class HttpServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    HttpServer::Pages pages;
    pages["/status"] = [] { return HttpAnswer{.content_type = "application/json", .body = "{}"}; };
    pages["/readyz"] = [] { return HttpAnswer{.code = 503, .body = "draining\n"}; };
    auto server = HttpServer::Start(*ParseAddress("127.0.0.1:0"), std::move(pages));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  std::string Get(const std::string& path) {
    return Exchange(server_->port(), StrCat("GET ", path, " HTTP/1.1\r\nHost: x\r\n\r\n"));
  }
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, PagesAreServedWithTheirTypeAndCode) {
  std::string status = Get("/status");
  EXPECT_THAT(status, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(status, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(status, ::testing::EndsWith("\r\n\r\n{}"));
  EXPECT_THAT(Get("/readyz"), StartsWith("HTTP/1.1 503 "));
}

TEST_F(HttpServerTest, EverythingElseIsRefused) {
  EXPECT_THAT(Get("/"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Get("/status/../../etc/passwd"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Get("/status2"), StartsWith("HTTP/1.1 404 "));
  std::string post = Exchange(server_->port(), "POST /status HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(post, StartsWith("HTTP/1.1 405 "));
}

TEST_F(HttpServerTest, NoOtherSiteMayReadIt) {
  EXPECT_THAT(Get("/status"), ::testing::Not(HasSubstr("Access-Control")));
}

TEST_F(HttpServerTest, APortInUseIsAnError) {
  Address address = *ParseAddress("127.0.0.1:0");
  address.port = server_->port();
  EXPECT_EQ(HttpServer::Start(address, {}).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(HttpServer::Start(*ParseAddress("unix:/tmp/x"), {}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cuzk::daemon
