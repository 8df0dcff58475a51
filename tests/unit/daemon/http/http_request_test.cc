#include "daemon/http/http_request.h"

#include <gtest/gtest.h>

#include "core/base/text.h"

namespace cuzk::daemon {
namespace {

HttpRequest Parsed(const std::string& line, const std::string& fields = "Host: localhost\r\n") {
  std::optional<HttpRequest> request = ParseHead(StrCat(line, "\r\n", fields, "\r\n"));
  EXPECT_TRUE(request.has_value()) << line;
  return request.value_or(HttpRequest{});
}

TEST(HttpRequestTest, EveryFormOfTarget) {
  EXPECT_EQ(Parsed("GET /status?a=b HTTP/1.1").target, "/status");
  EXPECT_EQ(Parsed("GET /a%2fb%20 HTTP/1.1").target, "/a/b ");
  EXPECT_EQ(Parsed("OPTIONS * HTTP/1.1").target, "*");
  const HttpRequest absolute = Parsed("GET HTTP://example.org:80/metrics HTTP/1.1");
  EXPECT_EQ(absolute.target, "/metrics");
  EXPECT_EQ(absolute.host, "example.org:80");  // it stands before the Host header
  EXPECT_EQ(Parsed("GET http://localhost HTTP/1.1").target, "/");
  EXPECT_EQ(Parsed("GET http://localhost?x HTTP/1.1").target, "/");
}

TEST(HttpRequestTest, WhatIsMalformedIsRefused) {
  for (const char* line :
       {"GET", "GET /", "GET /x", "GET  / HTTP/1.1", "G@T / HTTP/1.1", "GET * HTTP/1.1", "GET x HTTP/1.1",
        "GET /%4 HTTP/1.1", "GET /%zz HTTP/1.1", "GET http:///x HTTP/1.1", "GET http://a@b/ HTTP/1.1", "GET / HTTP/11",
        "GET / http/1.1", "GET /\x01 HTTP/1.1", "GET ftp://localhost/ HTTP/1.1"}) {
    EXPECT_EQ(Parsed(line).refused, 400) << line;
  }
  EXPECT_EQ(Parsed("GET / HTTP/2.0").refused, 505);
  EXPECT_EQ(Parsed("PRI * HTTP/2.0").refused, 505);
  for (const char* fields : {"", "Host: a\r\nhost: b\r\n", "Host\r\n", "Host : a\r\n", " Host: a\r\n", "Host: a b\r\n",
                             "Host: a\r\nX: a\rb\r\n"}) {
    EXPECT_EQ(Parsed("GET / HTTP/1.1", fields).refused, 400) << fields;
  }
  EXPECT_EQ(Parsed("GET / HTTP/1.0", "").refused, 0);
}

TEST(HttpRequestTest, AHeadThatDoesNotEndIsRefusedOnceItIsTooLong) {
  EXPECT_FALSE(ParseHead("GET / HTTP/1.1\r\nHost: a\r\n").has_value());
  EXPECT_FALSE(ParseHead(std::string(HttpRequest::kMostBytes, 'x')).has_value());
  EXPECT_EQ(ParseHead(std::string(HttpRequest::kMostBytes + 1, 'x'))->refused, 414);
  EXPECT_EQ(ParseHead(StrCat("GET / HTTP/1.1\r\n", std::string(HttpRequest::kMostBytes, 'x')))->refused, 431);
}

TEST(IsLocalHostTest, NamesOfThisMachineAndAddresses) {
  for (const char* host : {"localhost", "LocalHost:80", "a.localhost:1", "127.0.0.1", "127.0.0.1:9821", "10.1.2.3:1",
                           "[::1]", "[::1]:9821", "[fe80::1]"}) {
    EXPECT_TRUE(IsLocalHost(host)) << host;
  }
  for (const char* host : {"", "localhost.evil.example", "evillocalhost", "127.0.0.1.evil.example", "example:9821",
                           "127.0.0.1:80:80", "[::1", ".localhost"}) {
    EXPECT_FALSE(IsLocalHost(host)) << host;
  }
}

}  // namespace
}  // namespace cuzk::daemon
