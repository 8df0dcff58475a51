#pragma once
// docs/TROUBLESHOOTING.md as a page, so that the live page can point to the section of what is wrong without a network.

#include <string>
#include <string_view>

#include "daemon/http/http_server.h"

namespace cuzk::daemon {

/// The document as it is written; for as long as the program runs.
std::string_view HandbookText();

/// What the document uses of Markdown as HTML: headings with their names as ids, paragraphs, lists, code, tables as
/// they are written. Links become their words, since what they point to is not served.
std::string HandbookHtml(std::string_view markdown);

HttpAnswer Handbook();

}  // namespace cuzk::daemon
