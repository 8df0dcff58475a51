#include "daemon/http/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

int Connect(unsigned port) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<uint16_t>(port));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
  return fd;
}

// Sends the text and reads until the other end closes.
std::string Exchange(int fd, const std::string& request) {
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
  std::string Get(const std::string& path, const std::string& host = "localhost") {
    return Exchange(Connect(server_->port()), StrCat("GET ", path, " HTTP/1.1\r\nHost: ", host, "\r\n\r\n"));
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
  std::string post =
      Exchange(Connect(server_->port()), "POST /status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(post, StartsWith("HTTP/1.1 405 "));
}

TEST_F(HttpServerTest, NoOtherSiteMayReadIt) {
  EXPECT_THAT(Get("/status"), ::testing::Not(HasSubstr("Access-Control")));
  EXPECT_THAT(Get("/status"), HasSubstr("Cross-Origin-Resource-Policy: same-origin\r\n"));
  EXPECT_THAT(Get("/status"), HasSubstr("Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"));
  // Nor one that lets its own name point to this machine.
  EXPECT_THAT(Get("/status", "evil.example:9821"), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(Get("/status", "127.0.0.1:9821"), StartsWith("HTTP/1.1 200 "));
}

// What HTTP/1.1 says of methods and targets, whatever the page.
TEST_F(HttpServerTest, MethodsAndTargetsOfHttp) {
  auto ask = [this](const std::string& line) {
    return Exchange(Connect(server_->port()), StrCat(line, " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  };
  const std::string page = ask("GET /status"), head = ask("HEAD /status");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(head, HasSubstr("Content-Length: 2\r\n"));
  EXPECT_THAT(head, ::testing::EndsWith("\r\n\r\n"));
  EXPECT_THAT(ask("HEAD /readyz"), StartsWith("HTTP/1.1 503 "));
  for (const char* line : {"OPTIONS *", "OPTIONS /status"}) {
    const std::string options = ask(line);
    EXPECT_THAT(options, StartsWith("HTTP/1.1 204 No Content\r\n")) << line;
    EXPECT_THAT(options, HasSubstr("Allow: GET, HEAD, OPTIONS\r\n"));
    EXPECT_THAT(options, ::testing::Not(HasSubstr("Content-Length")));
  }
  EXPECT_THAT(ask("OPTIONS /none"), StartsWith("HTTP/1.1 404 "));
  const std::string at = StrCat("http://127.0.0.1:", server_->port());
  EXPECT_THAT(ask(StrCat("GET ", at, "/status")), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask("GET http://localhost:1/status"), StartsWith("HTTP/1.1 200 "));  // as through a forwarded port
  EXPECT_THAT(ask("GET http://evil.example/status"), StartsWith("HTTP/1.1 403 "));
  for (const char* line : {"POST /status", "TRACE /status", "CONNECT localhost:1", "DELETE /"}) {
    EXPECT_THAT(ask(line), StartsWith("HTTP/1.1 405 ")) << line;
    EXPECT_THAT(ask(line), HasSubstr("Allow: GET, HEAD, OPTIONS\r\n"));
  }
  EXPECT_THAT(ask("BREW /status"), StartsWith("HTTP/1.1 501 "));
  EXPECT_THAT(Exchange(Connect(server_->port()), "GET /status\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
}

// Whatever its client asks for, and even if that has sent its next request already.
TEST_F(HttpServerTest, AConnectionEndsWithItsAnswer) {
  std::string request = "GET /status HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n";
  const std::string answer = Exchange(Connect(server_->port()), request + request);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_EQ(answer.find("HTTP/1.1", 1), answer.npos) << answer;
}

// Browsers open connections before they have anything to ask.
TEST_F(HttpServerTest, IdleConnectionsKeepNobodyWaiting) {
  // Where the answer had to wait, it was until they were closed. On a machine that stops for seconds they may be closed
  // for their age as well, but hardly each time.
  size_t closed = 1;
  for (int attempt = 0; closed > 0 && attempt < 5; ++attempt) {
    std::vector<int> idle;
    for (int i = 0; i < 200; ++i) {
      idle.push_back(socket(AF_INET, SOCK_STREAM, 0));
      sockaddr_in name{};
      name.sin_family = AF_INET;
      name.sin_port = htons(static_cast<uint16_t>(server_->port()));
      name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      ASSERT_EQ(connect(idle.back(), reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
    }
    EXPECT_THAT(Get("/status"), StartsWith("HTTP/1.1 200 "));
    closed = 0;
    for (int fd : idle) {
      char byte = 0;
      closed += recv(fd, &byte, 1, MSG_DONTWAIT) != -1 || errno != EAGAIN;
      close(fd);
    }
  }
  EXPECT_EQ(closed, 0u);
}

// A processor that is taken away: threads that get the signal go on when they are told to.
std::atomic<size_t> paused;
std::atomic<bool> go_on;
void Pause(int) {
  ++paused;
  while (!go_on) {
    const timespec moment{.tv_nsec = 1'000'000};
    nanosleep(&moment, nullptr);
  }
}

void PauseOtherThreads() {
  size_t others = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t thread = std::stoi(task.path().filename().string());
    if (thread != gettid() && syscall(SYS_tgkill, getpid(), thread, SIGUSR1) == 0) ++others;
  }
  while (paused < others) std::this_thread::yield();
}

TEST_F(HttpServerTest, ARequestThatCameWhileTheServerWasLateIsAnswered) {
  const int silent = Connect(server_->port()), begun = Connect(server_->port());
  const std::string request = "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ASSERT_EQ(write(begun, request.data(), 5), 5);
  EXPECT_THAT(Get("/status"), StartsWith("HTTP/1.1 200 "));  // the two before it have been accepted
  paused = 0;
  go_on = false;
  struct sigaction pause {};
  pause.sa_handler = Pause;
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGUSR1, &pause, &before), 0);
  PauseOtherThreads();
  ASSERT_EQ(write(silent, request.data(), 5), 5);
  ASSERT_EQ(write(silent, request.data() + 5, request.size() - 5), static_cast<ssize_t>(request.size() - 5));
  ASSERT_EQ(write(begun, request.data() + 5, request.size() - 5), static_cast<ssize_t>(request.size() - 5));
  std::this_thread::sleep_for(std::chrono::seconds(6));  // more than the five that a request may take
  go_on = true;
  EXPECT_THAT(Exchange(silent, ""), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Exchange(begun, ""), StartsWith("HTTP/1.1 200 "));
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(HttpServerTest, APortInUseIsAnError) {
  Address address = *ParseAddress("127.0.0.1:0");
  address.port = server_->port();
  const Status taken = HttpServer::Start(address, {}).status();
  EXPECT_TRUE(absl::IsAborted(taken)) << taken;
  EXPECT_THAT(std::string(taken.message()),
              HasSubstr(StrCat("http.listen: cannot listen on 127.0.0.1:", address.port)));
  EXPECT_EQ(HttpServer::Start(*ParseAddress("unix:/tmp/x"), {}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cuzk::daemon
