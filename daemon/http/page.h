#pragma once
// The live page: one HTML file with its style and its script inside, which asks the daemon for /status and /timeline
// and no other server for anything. Its source is daemon/http/page; cmake/Page.cmake makes one text of it.

#include <string>
#include <string_view>

#include "daemon/http/http_server.h"

namespace cuzk::daemon {

/// The whole text; for as long as the program runs.
std::string_view PageText();

/// The page with the one policy under which it works: its own script and style, recognised by their hashes, and
/// requests to this server.
HttpAnswer LivePage();

/// The SHA-256 of what stands between <tag> and </tag>, as a policy names it: 'sha256-...'. Ends the process if the
/// text has not exactly one such element.
std::string InlineHash(std::string_view text, std::string_view tag);

}  // namespace cuzk::daemon
