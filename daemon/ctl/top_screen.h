#pragma once
// A picture of a daemon as lines of text.

#include <string>
#include <vector>

#include "daemon/ctl/top_state.h"

namespace cuzk::daemon {

/// At most `height` lines of at most `width` columns each, without control characters: what matters most comes first,
/// the rest is cut. A height of 0: all lines.
std::vector<std::string> DrawTop(const TopPicture& picture, size_t width, size_t height);
/// The picture as one JSON object.
std::string TopJson(const TopPicture& picture);

}  // namespace cuzk::daemon
