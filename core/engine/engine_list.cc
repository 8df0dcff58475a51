// The lists of jobs: from the table of jobs, from what waits to be written to the history, and from the history.

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "core/engine/engine_impl.h"
#include "core/engine/jobs/queue_order.h"

namespace cuzk::engine {
namespace {

/// Behind which job a page begins; without either, it is the first.
struct PageStart {
  std::optional<ServicePlace> unfinished;
  std::optional<store::HistoryPlace> ended;  ///< then no unfinished job is listed any more
};

std::string TokenOf(const ServicePlace& place) {
  return StrCat("u", place.waits ? 1 : 0, ".", static_cast<unsigned>(place.priority), ".", place.key);
}
std::string TokenOf(const store::HistoryPlace& place) { return StrCat("e", place.finished_ms, ".", place.number); }

StatusOr<PageStart> ParsePageStart(const std::string& text) {
  if (text.empty()) return PageStart{};
  const std::vector<std::string> parts = absl::StrSplit(text.substr(1), '.');
  std::vector<int64_t> numbers;
  for (const std::string& part : parts) {
    int64_t number = 0;
    if (absl::SimpleAtoi(part, &number)) numbers.push_back(number);
  }
  if (numbers.size() == parts.size() && text[0] == 'e' && parts.size() == 2) {
    return PageStart{.ended = store::HistoryPlace{numbers[0], numbers[1]}};
  }
  if (numbers.size() == parts.size() && text[0] == 'u' && parts.size() == 3) {
    return PageStart{.unfinished = ServicePlace{.waits = numbers[0] != 0,
                                                .priority = static_cast<Priority>(numbers[1]),
                                                .key = static_cast<uint64_t>(numbers[2])}};
  }
  return absl::InvalidArgumentError("page_token: this is not a token of an earlier answer");
}

ListedJob Ended(store::EndedJob job) {
  const JobState state = JobStateOf(job.state);
  return {.facts = std::move(job), .state = state};
}

}  // namespace

std::string EndedJobsPlace() { return TokenOf(store::HistoryPlace{INT64_MAX, 0}); }

ListedJob Engine::Impl::Listed(Job& job, uint32_t place) {
  const TimePoint now = Now();
  ListedJob listed{.facts = FactsOf(job, now, parts.clock->WallMs()), .state = StateOf(job)};
  listed.live = StatusOfJob(pipeline.reports(), job, now, place);
  listed.facts.stage = std::string(StageName(listed.live->progress.stage));
  return listed;
}

void Engine::Impl::ListUnfinished(const JobQuery& query, const std::optional<ServicePlace>& after, JobList* list) {
  const std::map<uint64_t, uint32_t> places = PlacesOf(state().jobs);
  std::optional<ServicePlace> last;
  for (const auto& job : InOrderOfService(state().jobs)) {
    const ServicePlace place = PlaceOf(*job);
    if (after && !(*after < place)) continue;
    if ((query.kind && job->facts.kind != *query.kind) || (query.state && StateOf(*job) != *query.state)) continue;
    if (list->jobs.size() == query.most) {
      list->next = TokenOf(*last);
      return;
    }
    list->jobs.push_back(Listed(*job, PlaceIn(places, *job)));
    last = place;
  }
}

StatusOr<JobList> Engine::ListJobs(const JobQuery& query) const {
  CUZK_ASSIGN_OR_RETURN(const PageStart start, ParsePageStart(query.place));
  Impl& impl = *impl_;
  JobList list;
  store::HistoryFilter filter{.kind = query.kind};
  if (query.state) filter.state = RowStateOf(*query.state);
  if (query.since_seconds) {
    filter.since_ms = impl.parts.clock->WallMs() - static_cast<int64_t>(*query.since_seconds * 1000);
  }
  std::vector<store::EndedJob> ended;
  {
    StateLock lock(impl.state(), Actor::kCaller);
    if (!start.ended) impl.ListUnfinished(query, start.unfinished, &list);
    if (!list.next.empty() || (query.state && !IsFinal(*query.state))) return list;
    ended = impl.state().history.List(filter, start.ended, query.most + 1 - list.jobs.size());
  }
  const size_t room = query.most - list.jobs.size();
  CUZK_RETURN_IF_ERROR(impl.AddFromStore(filter, start.ended, room + 1, &ended));
  for (store::EndedJob& job : ended) {
    if (list.jobs.size() == query.most) {
      // Behind a page of unfinished jobs alone, the ended ones begin.
      const bool begun = !list.jobs.empty() && !list.jobs.back().live;
      const store::EndedJob& last = begun ? list.jobs.back().facts : job;
      list.next = begun ? TokenOf(store::HistoryPlace{last.finished_ms, last.number}) : EndedJobsPlace();
      return list;
    }
    list.jobs.push_back(Ended(std::move(job)));
  }
  return list;
}

Status Engine::Impl::AddFromStore(const store::HistoryFilter& filter, std::optional<store::HistoryPlace> after,
                                  size_t most, std::vector<store::EndedJob>* ended) {
  if (store == nullptr) return absl::OkStatus();
  const StatusOr<const store::HistoryReader*> history = store->history();
  if (!history.ok()) return absl::OkStatus();  // it is in memory
  CUZK_RETURN_IF_ERROR(store->health().Answers());
  CUZK_ASSIGN_OR_RETURN(std::vector<store::EndedJob> more, (*history)->List(filter, after, most));
  ended->insert(ended->end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  std::stable_sort(ended->begin(), ended->end(), store::IsListedBefore);
  // What was written since the memory was looked at is in both.
  const auto same = [](const store::EndedJob& x, const store::EndedJob& y) { return x.number == y.number; };
  ended->erase(std::unique(ended->begin(), ended->end(), same), ended->end());
  if (ended->size() > most) ended->resize(most);
  return absl::OkStatus();
}

StatusOr<ListedJob> Engine::FindJob(const std::string& job_id) const {
  Impl& impl = *impl_;
  std::optional<store::EndedJob> ended;
  {
    StateLock lock(impl.state(), Actor::kCaller);
    const std::shared_ptr<Job> job = impl.state().jobs.Newest(job_id);
    if (job != nullptr && !HasEnded(job->life.now())) {
      return impl.Listed(*job, PlaceIn(PlacesOf(impl.state().jobs), *job));
    }
    ended = impl.state().history.Find(job_id);
  }
  if (ended) return Ended(*std::move(ended));
  if (impl.store != nullptr) {
    if (const auto history = impl.store->history(); history.ok()) {
      CUZK_RETURN_IF_ERROR(impl.store->health().Answers());
      CUZK_ASSIGN_OR_RETURN(ended, (*history)->Find(job_id));
    }
  }
  if (ended) return Ended(*std::move(ended));
  return absl::NotFoundError(StrCat("no job ", job_id, " is known"));
}

}  // namespace cuzk::engine
