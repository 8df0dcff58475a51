#include "daemon/http/page_maker.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

namespace cuzk::daemon {
namespace {

constexpr std::string_view kAllow = "GET, HEAD, OPTIONS";

/// "Tue, 01 Dec 2026 02:48:03 GMT".
std::string Date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 64> text{};
  static constexpr std::array<const char*, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const size_t size = std::strftime(text.data(), text.size(), "%Y %H:%M:%S GMT", &parts);
  return StrCat(kDays[static_cast<size_t>(parts.tm_wday)], ", ", parts.tm_mday < 10 ? "0" : "", parts.tm_mday, " ",
                kMonths[static_cast<size_t>(parts.tm_mon)], " ", std::string(text.data(), size));
}

std::string Head(const HttpAnswer& answer) {
  std::string head = StrCat("HTTP/1.1 ", answer.code, " ", ReasonOf(answer.code), "\r\nDate: ", Date(), "\r\n");
  // 204 has no content, of no length and no type.
  if (answer.code != 204) {
    head += StrCat("Content-Type: ", answer.content_type, "\r\nContent-Length: ", answer.body.size(), "\r\n");
  }
  head += StrCat(
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: ",
      answer.policy, "\r\nConnection: close\r\n");
  for (const auto& [name, value] : answer.headers) head += StrCat(name, ": ", value, "\r\n");
  return head + "\r\n";
}

HttpAnswer Only(int code) {
  HttpAnswer answer{.code = code, .body = StrCat(ReasonOf(code), "\n")};
  answer.headers.emplace_back("Allow", kAllow);
  return answer;
}

bool IsKnownMethod(std::string_view method) {
  static constexpr std::array<std::string_view, 6> kKnown{"POST", "PUT", "DELETE", "TRACE", "CONNECT", "PATCH"};
  return std::find(kKnown.begin(), kKnown.end(), method) != kKnown.end();
}

}  // namespace

HttpAnswer PageMaker::Find(const HttpRequest& request) const {
  if (local_only_ && !request.host.empty() && !IsLocalHost(request.host)) {
    return {.code = 403, .body = "cuzkd answers here only if the URL has localhost or an IP address as its host\n"};
  }
  const bool shows = request.method == "GET" || request.method == "HEAD";
  if (!shows && request.method != "OPTIONS") return Only(IsKnownMethod(request.method) ? 405 : 501);
  if (request.target == "*") return Only(204);
  const auto page = pages_.find(request.target);
  if (page == pages_.end()) return {.code = 404, .body = "no such page\n"};
  return shows ? page->second() : Only(204);
}

PageMaker::Bytes PageMaker::Answer(const HttpRequest& request) const {
  if (request.refused != 0) return {.text = Refusal(request.refused)};
  HttpAnswer answer = Find(request);
  std::string text = Head(answer);
  if (request.method != "HEAD" && answer.code != 204) text += answer.body;
  return {.text = std::move(text), .place = std::move(answer.place)};
}

std::string PageMaker::Refusal(int code) {
  const HttpAnswer answer{.code = code, .body = StrCat(ReasonOf(code), "\n")};
  return Head(answer) + answer.body;
}

}  // namespace cuzk::daemon
