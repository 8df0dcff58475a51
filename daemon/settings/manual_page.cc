#include "daemon/settings/manual_page.h"

#include "core/base/text.h"
#include "daemon/common/version.h"

namespace cuzk::daemon {
namespace {

// One line of text that roff prints as it is.
std::string Escape(std::string_view text) {
  std::string out;
  // A line that begins with one of these would be a request.
  if (!text.empty() && (text.front() == '.' || text.front() == '\'')) out = "\\&";
  for (char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '"':
        out += "\\(dq";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '\n':
        out += ' ';
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

ManualPage::ManualPage(std::string_view name, int section, std::string_view brief) {
  text_ = StrCat(".TH ", Escape(name), " ", section, " \"\" \"cuzkd ", Build().version, "\"\n");
  text_ += ".nh\n.ad l\n";  // no hyphens in names, no stretched lines
  text_ += StrCat(".SH NAME\n", Escape(name), " \\- ", Escape(brief), "\n");
}

ManualPage& ManualPage::Section(std::string_view title) {
  text_ += StrCat(".SH ", Escape(title), "\n");
  return *this;
}

ManualPage& ManualPage::Subsection(std::string_view title) {
  text_ += StrCat(".SS ", Escape(title), "\n");
  return *this;
}

ManualPage& ManualPage::Paragraph(std::string_view text) {
  text_ += StrCat(".PP\n", Escape(text), "\n");
  return *this;
}

ManualPage& ManualPage::Item(std::string_view term, std::string_view text) {
  text_ += StrCat(".TP\n\\fB", Escape(term), "\\fR\n", Escape(text), "\n");
  return *this;
}

ManualPage& ManualPage::Literal(std::string_view lines) {
  text_ += ".PP\n.RS\n.nf\n";
  while (!lines.empty()) {
    size_t end = lines.find('\n');
    text_ += StrCat(Escape(lines.substr(0, end)), "\n");
    lines = end == std::string_view::npos ? std::string_view() : lines.substr(end + 1);
  }
  text_ += ".fi\n.RE\n";
  return *this;
}

}  // namespace cuzk::daemon
