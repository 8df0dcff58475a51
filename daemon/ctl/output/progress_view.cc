#include "daemon/ctl/output/progress_view.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "core/base/log.h"
#include "core/base/text.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/output/figures.h"

namespace cuzk::daemon {
namespace {

constexpr int kBarWidth = 24;

}  // namespace

std::string ProgressJson(const cuzkd::v1::JobProgress& progress) {
  JsonWriter json;
  json.BeginObject()
      .Member("job_id", progress.job_id())
      .Member("kind", progress.kind())
      .Member("state", progress.state())
      .Member("stage", progress.stage())
      .Member("partitions_total", progress.partitions_total())
      .Member("partitions_done", progress.partitions_done())
      .Member("fraction", progress.fraction())
      .Member("seconds_left", progress.seconds_left())
      .Member("jobs_before", progress.jobs_before())
      .Member("worker", progress.worker())
      .Member("priority", progress.priority())
      .Member("age_seconds", progress.age_seconds())
      .Member("message", progress.message());
  if (progress.bad_sectors_size() > 0) {
    json.Key("bad_sectors").BeginArray();
    for (uint64_t number : progress.bad_sectors()) json.Value(number);
    json.EndArray();
  }
  json.EndObject();
  return json.text();
}

std::string OrdinalText(uint64_t number) {
  const uint64_t tens = number / 10 % 10, ones = number % 10;
  if (tens == 1 || ones == 0 || ones > 3) return StrCat(number, "th");
  return StrCat(number, ones == 1 ? "st" : ones == 2 ? "nd" : "rd");
}

std::string TimeLeftText(double seconds) {
  if (seconds < 100) return StrCat(std::lround(seconds), " s left");
  return StrCat("about ", std::lround(seconds / 60), " min left");
}

std::string ProgressText(const cuzkd::v1::JobProgress& progress) {
  std::string text = progress.state() == "running" ? progress.stage() : progress.state();
  if (progress.partitions_total() > 0) {
    text += StrCat("  ", progress.partitions_done(), "/", progress.partitions_total(), " partitions");
  }
  text += StrCat("  ", Percent(progress.fraction()));
  // Where nothing of the job has begun, its place says more than the stage.
  if (progress.jobs_before() > 0 && progress.stage() == "queued") {
    text += StrCat("  ", OrdinalText(progress.jobs_before() + 1), " in line");
  }
  if (progress.seconds_left() >= 0) text += StrCat("  ", TimeLeftText(progress.seconds_left()));
  if (!progress.message().empty()) text += StrCat("  ", EscapeControl(progress.message()));
  return text;
}

std::optional<std::string> StageLines::LineOf(const cuzkd::v1::JobProgress& progress,
                                              std::chrono::system_clock::time_point now) {
  const std::string job = StrCat(progress.kind(), " ", progress.job_id());
  const std::string step = StrCat(progress.state(), " ", progress.stage());
  std::string& last = last_[job];
  if (last == step) return std::nullopt;
  last = step;
  if (progress.state() != "queued" && progress.state() != "running") last_.erase(job);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm local{};
  localtime_r(&seconds, &local);
  char time[16];
  std::strftime(time, sizeof time, "%H:%M:%S", &local);
  return StrCat(time, "  ", EscapeControl(progress.job_id()), "  ", ProgressText(progress));
}

ProgressView::ProgressView(bool json) : json_(json), terminal_(!json && isatty(STDERR_FILENO) == 1) {}

ProgressView::~ProgressView() { Finish(); }

void ProgressView::Finish() {
  if (drawn_) std::fputs("\n", stderr);
  drawn_ = false;
}

void ProgressView::Draw(double fraction, const std::string& text) {
  int filled = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * kBarWidth);
  std::string bar(static_cast<size_t>(filled), '#');
  bar.resize(kBarWidth, '.');
  std::fprintf(stderr, "\r\x1b[K[%s] %s", bar.c_str(), text.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

std::optional<double> Extrapolation::SecondsLeft(double fraction, TimePoint now) {
  constexpr double kEnough = 0.05;
  if (!begin_) {
    begin_ = now;
    first_ = fraction;
  }
  double seen = fraction - first_;
  if (seen < kEnough) return std::nullopt;
  return std::chrono::duration<double>(now - *begin_).count() / seen * (1 - fraction);
}

void ProgressView::Show(cuzkd::v1::JobProgress progress) {
  std::optional<double> left = extrapolation_.SecondsLeft(progress.fraction(), std::chrono::steady_clock::now());
  if (progress.seconds_left() < 0 && left) progress.set_seconds_left(*left);
  if (json_) {
    std::printf("%s\n", ProgressJson(progress).c_str());
    std::fflush(stdout);
    return;
  }
  if (terminal_) {
    Draw(progress.fraction(), ProgressText(progress));
    return;
  }
  // In a log, a line for each stage and each tenth of the way.
  std::string step = StrCat(progress.stage(), progress.state(), static_cast<int>(progress.fraction() * 10));
  if (step == last_step_) return;
  std::fprintf(stderr, "%s\n", ProgressText(progress).c_str());
  last_step_ = step;
}

void ProgressView::Show(const std::string& what, double fraction, const std::string& detail) {
  if (json_) return;
  const std::string more = detail.empty() ? "" : StrCat("  ", detail);
  if (terminal_) {
    Draw(fraction, StrCat(what, "  ", Percent(fraction), more));
    return;
  }
  const std::string step = StrCat(what, "  ", static_cast<int>(fraction * 10) * 10, " %");
  if (step == last_step_) return;
  std::fprintf(stderr, "%s%s\n", step.c_str(), more.c_str());
  last_step_ = step;
}

Progress ShownAs(ProgressView& view, std::string what) {
  return [&view, what = std::move(what), shown = -1](uint64_t done, uint64_t total) mutable {
    int thousandth =
        total == 0 ? 1000 : static_cast<int>(static_cast<double>(done) * 1000 / static_cast<double>(total));
    if (thousandth == shown) return;
    shown = thousandth;
    view.Show(what, thousandth / 1000.0);
  };
}

}  // namespace cuzk::daemon
