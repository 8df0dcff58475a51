#pragma once
// The page of metrics, docs/METRICS.md, printed from the tables of metrics and labels.

#include <string>

namespace cuzk::daemon {

/// Markdown, with one row for each metric and one for each label.
std::string MetricsPage();

}  // namespace cuzk::daemon
