#pragma once
// Rows that come in independent stretches: a circuit's head, and each of its blocks.

#include <functional>
#include <memory>

#include "core/r1cs/shape.h"
#include "core/r1cs/variable.h"

namespace cuzk::r1cs {

/// The variables and rows of a stretch lie in [begin, end); its rows use no others except variables below `head`.
struct RowStretch {
  Position head, begin, end;
};

/// Opens the sink of one stretch, which takes its rows in order and is destroyed when they are done. Called from any
/// thread; the head's sink is gone before the first block's is opened.
using OpenSink = std::function<std::unique_ptr<RowSink>(const RowStretch&)>;

}  // namespace cuzk::r1cs
