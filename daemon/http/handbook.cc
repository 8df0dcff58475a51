#include "daemon/http/handbook.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/base/text.h"
#include "daemon/http/page.h"

namespace cuzk::daemon {
namespace {

constexpr std::string_view kHead =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width, "
    "initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\"><title>cuzkd: troubleshooting</title><style>"
    "body{max-width:50rem;margin:1rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif;color-scheme:light dark;"
    "overflow-wrap:anywhere}pre{overflow:auto;font-size:.9em}h3{scroll-margin-top:1rem}h3:target{text-decoration:"
    "underline}"
    "</style></head><body><p><a href=\"/\">Back to the page</a></p>\n";

void AppendEscaped(std::string_view text, std::string& html) {
  for (char c : text) {
    if (c == '&') {
      html += "&amp;";
    } else if (c == '<') {
      html += "&lt;";
    } else if (c == '>') {
      html += "&gt;";
    } else {
      html += c;
    }
  }
}

/// A line with its code and its links.
void AppendLine(std::string_view line, std::string& html) {
  bool code = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const size_t middle = line.find("](", i), end = line.find(')', i);
    if (line[i] == '`') {
      code = !code;
      html += code ? "<code>" : "</code>";
    } else if (!code && line[i] == '[' && middle != line.npos && end != line.npos && middle < end) {
      AppendLine(line.substr(i + 1, middle - i - 1), html);
      i = end;
    } else {
      AppendEscaped(line.substr(i, 1), html);
    }
  }
  if (code) html += "</code>";
}

/// "CuzkdGpuLost" is "cuzkdgpulost", "The daemon" is "the-daemon".
std::string IdOf(std::string_view heading) {
  std::string id;
  for (char c : heading) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) id += static_cast<char>(std::tolower(letter));
    if (c == ' ') id += '-';
  }
  return id;
}

/// How many signs of a heading a line begins with; 0: none.
size_t LevelOf(std::string_view line) {
  const size_t level = line.find_first_not_of('#');
  return level != line.npos && level > 0 && line[level] == ' ' ? level : 0;
}

/// Writes element after element; one that holds several lines is open between them.
class Writer {
 public:
  void Line(std::string_view line) {
    if (line.starts_with("```")) {
      fenced_ = !fenced_;
      Open(fenced_ ? "pre" : "");
    } else if (fenced_) {
      AppendEscaped(line, html_);
      html_ += '\n';
    } else if (const size_t level = LevelOf(line)) {
      Open("");
      const std::string_view text = line.substr(level + 1);
      html_ += StrCat("<h", level, " id=\"", IdOf(text), "\">");
      AppendLine(text, html_);
      html_ += StrCat("</h", level, ">\n");
    } else if (line.starts_with("|")) {
      Open("pre");
      AppendEscaped(line, html_);
      html_ += '\n';
    } else if (line.empty()) {
      Open("");
    } else {
      const bool item = line.starts_with("- ");
      if (item || open_ == "pre" || open_.empty()) Open(item ? "li" : "p", true);
      AppendLine(item ? line.substr(2) : line, html_);
      html_ += '\n';
    }
  }
  std::string Take() {
    Open("");
    return std::move(html_);
  }

 private:
  /// Closes what is open and opens another element, or none. The same element stays open unless it is to be a new one.
  void Open(std::string_view element, bool anew = false) {
    if (element == open_ && !anew) return;
    if (!open_.empty()) html_ += StrCat("</", open_, ">\n");
    if (!element.empty()) html_ += StrCat("<", element, ">");
    open_ = element;
  }

  std::string html_;
  std::string_view open_;
  bool fenced_ = false;
};

}  // namespace

std::string HandbookHtml(std::string_view markdown) {
  Writer writer;
  while (!markdown.empty()) {
    const size_t end = std::min(markdown.find('\n'), markdown.size());
    writer.Line(markdown.substr(0, end));
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
  }
  return StrCat(kHead, writer.Take(), "</body></html>\n");
}

HttpAnswer Handbook() {
  std::string html = HandbookHtml(HandbookText());
  const std::string style = InlineHash(html, "style");
  return {.content_type = "text/html; charset=utf-8",
          .body = std::move(html),
          .policy = StrCat("default-src 'none'; style-src ", style,
                           "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")};
}

}  // namespace cuzk::daemon
