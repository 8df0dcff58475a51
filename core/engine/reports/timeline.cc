#include "core/engine/reports/timeline.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/log.h"
#include "core/base/text.h"

namespace cuzk::engine {
namespace {

int64_t Microseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

}  // namespace

void TimelineLog::Add(TimelineBar bar) {
  auto added = std::make_shared<const TimelineBar>(std::move(bar));
  std::shared_ptr<const TimelineBar> dropped;  // destroyed after the lock
  MutexLock lock(mutex_);
  bars_.push_back(std::move(added));
  if (bars_.size() <= most_) return;
  dropped = std::move(bars_.front());
  bars_.pop_front();
}

TimelineLog::Bars TimelineLog::Copy() const {
  MutexLock lock(mutex_);
  return bars_;
}

std::vector<std::shared_ptr<const TimelineBar>> TimelineLog::Since(TimePoint since, size_t most) const {
  std::vector<std::shared_ptr<const TimelineBar>> found;
  const Bars bars = Copy();
  for (auto it = bars.rbegin(); it != bars.rend() && found.size() < most; ++it) {
    if ((*it)->end >= since) found.push_back(*it);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::string TimelineLog::ToJson() const {
  const Bars bars = Copy();
  std::map<std::string, size_t> tracks;
  for (const auto& bar : bars) tracks.emplace(bar->track, 0);
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  size_t number = 0;
  for (auto& [name, id] : tracks) {
    id = ++number;
    if (id > 1) out.push_back(',');
    out.append(StrCat("\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":", id, ",\"args\":{\"name\":"));
    out.append(StrCat("\"", EscapeJson(name), "\""));
    out.append("}}");
  }
  for (const auto& entry : bars) {
    const TimelineBar& bar = *entry;
    out.append(",\n{\"ph\":\"X\",\"cat\":\"cuzk\",\"name\":");
    out.append(StrCat("\"", EscapeJson(bar.name), "\""));
    out.append(StrCat(",\"pid\":1,\"tid\":", tracks.at(bar.track), ",\"ts\":", Microseconds(bar.begin - origin_),
                      ",\"dur\":", Microseconds(bar.end - bar.begin)));
    if (bar.job_key != 0) {
      out.append(StrCat(",\"args\":{\"partition\":", bar.partition, ",\"key\":", bar.job_key, ",\"job\":"));
      out.append(StrCat("\"", EscapeJson(bar.job_id), "\""));
      out.push_back('}');
    }
    out.push_back('}');
  }
  out.append("\n]}\n");
  return out;
}

}  // namespace cuzk::engine
