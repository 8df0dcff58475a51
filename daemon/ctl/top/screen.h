#pragma once
// A picture of a daemon as lines of text.

#include <string>
#include <vector>

#include "daemon/ctl/top/state.h"

namespace cuzk::daemon {

/// What the user of the live view has chosen.
struct TopView {
  enum class Order { kSeen, kAge, kPriority, kKind, kDone } order = Order::kSeen;
  size_t scroll = 0;  ///< jobs above the first that is shown
  bool help = false;
  bool keys = false;  ///< the last line names the keys
};
/// The next order, after the last one the first.
TopView::Order NextOrder(TopView::Order order);

struct TopLine {
  enum class Look { kPlain, kHead, kGood, kBad, kFaint } look = Look::kPlain;
  std::string text;
};

/// At most `height` lines of at most `width` columns each, without control characters. What is cut is said in the last
/// line. A height of 0: all lines. `view.scroll` is lowered to what there is to scroll.
std::vector<TopLine> DrawTop(const TopPicture& picture, TopView& view, size_t width, size_t height);
/// The line with the escapes of a terminal for its look.
std::string Coloured(const TopLine& line);
/// The picture as one JSON object.
std::string TopJson(const TopPicture& picture);

}  // namespace cuzk::daemon
