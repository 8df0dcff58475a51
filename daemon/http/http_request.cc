#include "daemon/http/http_request.h"

#include <arpa/inet.h>
#include <strings.h>

#include <algorithm>

namespace cuzk::daemon {
namespace {

constexpr int kBadRequest = 400, kUriTooLong = 414, kHeadTooLarge = 431, kVersionNotSupported = 505;

bool IsTokenByte(char c) {
  const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return word || (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

bool IsToken(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenByte); }

bool IsVisible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

int Digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The path of an origin-form or absolute URI without its query; false if a % is followed by no number.
bool DecodePath(std::string_view text, std::string& path) {
  text = text.substr(0, text.find('?'));
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      path.push_back(text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? Digit(text[i + 1]) : -1, low = high < 0 ? -1 : Digit(text[i + 2]);
    if (low < 0) return false;
    path.push_back(static_cast<char>(high << 4 | low));
    i += 2;
  }
  return true;
}

/// The code for a target that cannot be; 0 if it can.
int ReadTarget(std::string_view target, HttpRequest& request) {
  static constexpr std::string_view kScheme = "http://";
  if (target.empty() || !IsVisible(target)) return kBadRequest;
  if (target == "*") {
    request.target.push_back('*');
    return request.method == "OPTIONS" ? 0 : kBadRequest;
  }
  if (request.method == "CONNECT") {  // its target is a host and a port; the method is refused for itself
    request.target = target;
    return 0;
  }
  if (target.size() >= kScheme.size() && strncasecmp(target.data(), kScheme.data(), kScheme.size()) == 0) {
    target.remove_prefix(kScheme.size());
    const size_t end = std::min(target.find_first_of("/?"), target.size());
    request.host = target.substr(0, end);
    target.remove_prefix(end);
    if (request.host.empty() || request.host.find('@') != std::string::npos) return kBadRequest;
    if (target.empty() || target.front() != '/') {
      request.target.push_back('/');
      return 0;
    }
  }
  return target.front() == '/' && DecodePath(target, request.target) ? 0 : kBadRequest;
}

/// Takes the line of the request; the code that refuses it, or 0.
int ReadLine(std::string_view line, HttpRequest& request, bool& host_needed) {
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return kBadRequest;
  request.method = line.substr(0, first);
  const std::string_view version = line.substr(last + 1);
  if (!IsToken(request.method)) return kBadRequest;
  const bool form = version.size() == 8 && version.starts_with("HTTP/") && Digit(version[5]) >= 0 && version[6] == '.';
  if (!form || Digit(version[7]) < 0) return kBadRequest;
  if (version[5] != '1') return kVersionNotSupported;
  host_needed = version != "HTTP/1.0";
  return ReadTarget(line.substr(first + 1, last - first - 1), request);
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Takes one field; the code that refuses it, or 0. `hosts` counts.
int ReadField(std::string_view line, std::string& host, int& hosts) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) return kBadRequest;
  const std::string_view value = Trim(line.substr(colon + 1));
  if (value.find('\0') != std::string_view::npos || value.find('\r') != std::string_view::npos) return kBadRequest;
  if (colon != 4 || strncasecmp(line.data(), "Host", 4) != 0) return 0;
  if (++hosts > 1 || !IsVisible(value)) return kBadRequest;
  host = value;
  return 0;
}

/// The next line, without its end; a line feed alone ends one as well. Nothing if none has ended.
std::optional<std::string_view> NextLine(std::string_view& bytes) {
  const size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

HttpRequest Refused(int code) { return {.refused = code}; }

}  // namespace

std::optional<HttpRequest> ParseHead(std::string_view bytes) {
  const bool full = bytes.size() > HttpRequest::kMostBytes;
  bytes = bytes.substr(0, HttpRequest::kMostBytes);
  while (bytes.starts_with("\r\n")) bytes.remove_prefix(2);  // some clients end the request before with one
  HttpRequest request;
  bool host_needed = false;
  std::optional<std::string_view> line = NextLine(bytes);
  if (!line) return full ? std::optional(Refused(kUriTooLong)) : std::nullopt;
  int code = ReadLine(*line, request, host_needed);
  std::string host;
  int hosts = 0;
  for (line = NextLine(bytes); line && !line->empty(); line = NextLine(bytes)) {
    if (code == 0) code = ReadField(*line, host, hosts);
  }
  if (!line) return full ? std::optional(Refused(kHeadTooLarge)) : std::nullopt;
  if (code == 0 && host_needed && hosts == 0) code = kBadRequest;
  if (code != 0) return Refused(code);
  if (request.host.empty()) request.host = host;
  return request;
}

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

std::string_view ReasonOf(int code) {
  switch (code) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case kBadRequest:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case kUriTooLong:
      return "URI Too Long";
    case kHeadTooLarge:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case kVersionNotSupported:
      return "HTTP Version Not Supported";
    default:
      return "";
  }
}

}  // namespace cuzk::daemon
