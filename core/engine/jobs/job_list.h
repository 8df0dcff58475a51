#pragma once
// Lists of jobs, those that are unfinished and those that ended, in pages.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/jobs/status.h"
#include "core/store/history.h"

namespace cuzk::engine {

/// Which jobs are listed; an absent value admits all.
struct JobQuery {
  std::optional<filecoin::Kind> kind;
  std::optional<JobState> state;
  std::optional<double> since_seconds;  ///< unfinished jobs, and those that ended at most so long ago
  std::string place;                    ///< JobList::next of the page before; empty: the first page
  size_t most = 100;
};

struct ListedJob {
  store::EndedJob facts;  ///< of an unfinished job so far: no number, no end
  JobState state{};
  std::optional<JobStatus> live;  ///< of an unfinished job
};

/// Unfinished jobs in the order in which they are served, then ended ones, the latest first.
struct JobList {
  std::vector<ListedJob> jobs;
  std::string next;  ///< the place of the next page; empty: this is the last
};

/// The place at which the ended jobs begin.
std::string EndedJobsPlace();

}  // namespace cuzk::engine
