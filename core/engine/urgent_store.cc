#include "core/engine/urgent_store.h"

#include <utility>

#include "core/base/thread.h"
#include "core/engine/schedule/policy.h"

namespace cuzk::engine {
namespace {

constexpr char kThread[] = "storing urgent requests";

}  // namespace

UrgentStore::UrgentStore(store::JobStore& store) : store_(store) {
  // Without the thread no request can be stored in this way, which each is told: it is proved all the same.
  StatusOr<std::jthread> thread = StartThread(kThread, [this](const std::stop_token& stop) { Run(stop); });
  if (thread.ok()) thread_ = *std::move(thread);
}

UrgentStore::~UrgentStore() { thread_.request_stop(); }

StatusOr<int64_t> UrgentStore::Accept(const store::StoredJob& job, const filecoin::VanillaRequest& request,
                                      uint64_t most_bytes) {
  if (!thread_.joinable()) return NoThread(kThread, "the daemon did not get the thread when it started");
  auto attempt = std::make_shared<Attempt>(Attempt{.job = job, .request = request, .most_bytes = most_bytes});
  const TimePoint until = std::chrono::steady_clock::now() + kUrgentPatience;
  MutexLock lock(mutex_);
  attempts_.push_back(attempt);
  asked_.NotifyOne();
  while (!attempt->answer && answered_.WaitUntil(mutex_, until)) {
  }
  if (attempt->answer) return *attempt->answer;
  attempt->abandoned = true;
  return absl::UnavailableError(StrCat("the job store has not answered for ", kUrgentPatience.count(), " s"));
}

void UrgentStore::Run(const std::stop_token& stop) {
  for (;;) {
    std::shared_ptr<Attempt> attempt;
    {
      MutexLock lock(mutex_);
      while (attempts_.empty() && !stop.stop_requested()) asked_.WaitUntil(mutex_, std::nullopt, stop);
      if (attempts_.empty()) return;
      attempt = std::move(attempts_.front());
      attempts_.pop_front();
      if (attempt->abandoned) continue;
    }
    StatusOr<int64_t> row = store_.Accept(attempt->job, attempt->request, attempt->most_bytes);
    bool abandoned = false;
    {
      MutexLock lock(mutex_);
      abandoned = attempt->abandoned;
      attempt->answer = row;
      answered_.NotifyAll();
    }
    // The job is proved without it. If this fails as well, the row is one job more at the next start.
    if (abandoned && row.ok()) (void)store_.Forget(*row);
  }
}

}  // namespace cuzk::engine
