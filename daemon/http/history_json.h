#pragma once
// GET /history: the jobs that ended last, those that failed last, and the record of the day.

#include <string>

#include "core/engine/engine.h"

namespace cuzk::daemon {

/// How many of each the page shows.
inline constexpr size_t kRecentJobs = 40, kFailedJobs = 20;

/// {"recent": [...], "failed": [...], "trouble": "", "day": ...}. `trouble` says why the lists are empty if the history
/// cannot be read. `day` is the JSON of the DayRecord.
std::string HistoryJson(const engine::Engine& engine, const std::string& day);
/// The same from lists that were asked for already.
std::string HistoryJson(const StatusOr<engine::JobList>& recent, const StatusOr<engine::JobList>& failed,
                        int64_t now_ms, const std::string& day);

}  // namespace cuzk::daemon
