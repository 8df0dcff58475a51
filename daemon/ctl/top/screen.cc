#include "daemon/ctl/top/screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "core/base/log.h"
#include "core/base/text.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/output/figures.h"
#include "daemon/ctl/output/progress_view.h"
#include "daemon/ctl/output/text_table.h"

namespace cuzk::daemon {
namespace {

std::string Bar(double fraction, size_t width) {
  std::string bar(static_cast<size_t>(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(width)), '#');
  bar.resize(width, '.');
  return StrCat("[", bar, "]");
}

double Fraction(uint64_t used, uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(used) / static_cast<double>(all);
}

std::string QueueLine(const TopPicture& picture) {
  std::string line = "queue   ";
  for (const TopPicture::Queue& queue : picture.queues) {
    line += StrCat("  ", queue.kind, ": ", queue.pending, " waiting, ", queue.in_progress, " running");
  }
  return picture.queues.empty() ? line + "  empty" : line;
}

std::string ParametersLine(const TopPicture& picture) {
  std::string line = "params  ";
  for (const TopPicture::Parameters& p : picture.parameters) {
    line += StrCat("  ", p.circuit, " ", Amount(p.bytes), " ", p.loading ? "loading" : p.in_use ? "in use" : "idle");
  }
  return picture.parameters.empty() ? line + "  none loaded" : line;
}

std::string DeviceLine(const TopPicture::Device& device) {
  std::string busy = device.busy ? Percent(*device.busy) : "-";
  std::string job = device.job.empty() ? "idle" : EscapeControl(device.job);
  return StrCat("device  ", "  ", device.ordinal, " ", EscapeControl(device.name), "  busy ", busy, "  memory ",
                Share(device.total_bytes - std::min(device.free_bytes, device.total_bytes), device.total_bytes), "  ",
                job);
}

/// Columns of the table of jobs; the id takes what is left. Narrow terminals get short words and no bars, so that the
/// sector's number is seen.
struct Columns {
  explicit Columns(size_t width) : wide(width >= 110), stage(wide ? 19 : 11), done(wide ? 18 : 6) {
    const size_t others = kKind + stage + kParts + done + kLeft + kAge + kPriority, least = 8;
    id = std::max(width, others + least) - others;
  }
  static constexpr size_t kKind = 8, kParts = 6, kLeft = 9, kAge = 9, kPriority = 8;
  bool wide;
  size_t stage, done, id;
};

std::string_view PriorityName(uint32_t priority) {
  static constexpr std::string_view kNames[] = {"", "low", "normal", "high", "critical"};
  return priority < std::size(kNames) ? kNames[priority] : "";
}

std::string_view OrderName(TopView::Order order) {
  static constexpr std::string_view kNames[] = {"arrival", "age", "priority", "kind", "progress"};
  return kNames[static_cast<size_t>(order)];
}

// An id that is too long loses its middle: its end tells the sector.
std::string FitId(const std::string& id, size_t columns) {
  if (ColumnsOf(id) <= columns || columns < 8) return FitTo(id, columns);
  const size_t head = columns / 3;
  size_t begin = id.size();
  for (size_t tail = columns - head - 1; tail > 0; --begin) {
    if ((static_cast<unsigned char>(id[begin - 1]) & 0xC0) != 0x80) --tail;
  }
  return StrCat(FitTo(id, head), "~", id.substr(begin));
}

std::string ShortStage(std::string_view stage) {
  if (stage == "loading-parameters") return "loading";
  return std::string(stage == "waiting-device" ? "waiting" : stage);
}

TopLine JobHead(const Columns& columns) {
  return {TopLine::Look::kHead,
          StrCat(FitTo("JOB", columns.id), FitTo("KIND", Columns::kKind), FitTo("STAGE", columns.stage),
                 FitTo("PARTS", Columns::kParts), FitTo("DONE", columns.done), FitTo("LEFT", Columns::kLeft),
                 FitTo("AGE", Columns::kAge), FitTo("PRIORITY", Columns::kPriority))};
}

TopLine JobLine(const TopPicture::Job& shown, const Columns& columns) {
  const cuzkd::v1::JobProgress& job = shown.progress;
  const bool running = job.state() == "running";
  const std::string stage = running ? job.stage() : job.state();
  std::string parts = job.partitions_total() > 0 ? StrCat(job.partitions_done(), "/", job.partitions_total()) : "";
  std::string left = job.seconds_left() >= 0 && running ? DurationText(job.seconds_left()) : "";
  const std::string done =
      columns.wide ? StrCat(Bar(job.fraction(), 10), " ", Percent(job.fraction())) : Percent(job.fraction());
  std::string line = StrCat(FitId(EscapeControl(job.job_id()), columns.id - 1), " ", FitTo(job.kind(), Columns::kKind),
                            FitTo(columns.wide ? stage : ShortStage(stage), columns.stage));
  if (job.state() == "failed") return {TopLine::Look::kBad, StrCat(line, EscapeControl(job.message()))};
  line += StrCat(FitTo(parts, Columns::kParts), FitTo(done, columns.done), FitTo(left, Columns::kLeft),
                 FitTo(DurationText(shown.age_seconds), Columns::kAge), PriorityName(job.priority()));
  if (job.state() == "completed") return {TopLine::Look::kGood, line};
  return {running ? TopLine::Look::kPlain : TopLine::Look::kFaint, line};
}

// The jobs in the order of the view; unfinished ones stay first.
std::vector<const TopPicture::Job*> Sorted(const TopPicture& picture, TopView::Order order) {
  std::vector<const TopPicture::Job*> jobs;
  for (const TopPicture::Job& job : picture.jobs) jobs.push_back(&job);
  auto before = [order](const TopPicture::Job* a, const TopPicture::Job* b) {
    if (a->ended != b->ended) return b->ended;
    switch (order) {
      case TopView::Order::kSeen:
        return false;
      case TopView::Order::kAge:
        return a->age_seconds > b->age_seconds;
      case TopView::Order::kPriority:
        return a->progress.priority() > b->progress.priority();
      case TopView::Order::kKind:
        return a->progress.kind() < b->progress.kind();
      case TopView::Order::kDone:
        return a->progress.fraction() > b->progress.fraction();
    }
    return false;
  };
  std::stable_sort(jobs.begin(), jobs.end(), before);
  return jobs;
}

std::vector<TopLine> HelpLines() {
  std::vector<TopLine> lines{{TopLine::Look::kHead, "cuzkctl top"}};
  for (const char* text :
       {"", "q, Ctrl-C       end", "?               show or hide this help",
        "s               sort by arrival, age, priority, kind or progress", "j, down arrow   scroll down one job",
        "k, up arrow     scroll up one job", "space, Page Dn  scroll down ten jobs",
        "b, Page Up      scroll up ten jobs", "g, Home         scroll to the first job", "",
        "PARTS: partitions that are proved, of all. LEFT: an estimate of the time to the proof.",
        "AGE: time since the submission. Ended jobs stay for ten seconds, failed ones for two",
        "minutes with the reason. The environment variable NO_COLOR turns colours off."}) {
    lines.push_back({TopLine::Look::kPlain, text});
  }
  return lines;
}

std::vector<TopLine> HeadLines(const TopPicture& p) {
  std::vector<TopLine> lines;
  auto add = [&](std::string text) { lines.push_back({TopLine::Look::kPlain, std::move(text)}); };
  if (!p.trouble.empty()) {
    lines.push_back({TopLine::Look::kBad, StrCat("NO ANSWER from ", p.address, ": ", EscapeControl(p.trouble))});
  }
  const std::string rate = p.proofs_per_hour ? StrCat(", ", std::lround(*p.proofs_per_hour), " an hour") : "";
  add(StrCat("cuzkd at ", EscapeControl(p.address), "  up ", DurationText(static_cast<double>(p.uptime_seconds)), "  ",
             p.completed, " completed", rate, ", ", p.failed, " failed"));
  if (p.failed > 0) lines.back().look = TopLine::Look::kBad;
  add(StrCat("budget    ", Bar(Fraction(p.budget_used_bytes, p.budget_bytes), 20), " ",
             Share(p.budget_used_bytes, p.budget_bytes)));
  add(StrCat("buffers   ", Bar(Fraction(p.pool_used_bytes, p.pool_bytes), 20), " ",
             Share(p.pool_used_bytes, p.pool_bytes), " leased"));
  add(QueueLine(p));
  for (const TopPicture::Device& device : p.devices) {
    add(DeviceLine(device));
    const bool bad = std::ranges::any_of(std::array{"(lost: ", "(quarantined: ", "(doubted: "},
                                         [&](const char* mark) { return device.name.find(mark) != std::string::npos; });
    if (bad) lines.back().look = TopLine::Look::kBad;
  }
  add(ParametersLine(p));
  return lines;
}

// Leaves at most `height` lines: of the jobs, those from the view's scroll on.
void Cut(std::vector<TopLine>& lines, size_t head, TopView& view, size_t height) {
  const size_t jobs = lines.size() - head;
  if (height == 0 || (lines.size() + (view.keys ? 1 : 0) <= height)) {
    view.scroll = 0;
  } else if (height < head + 2) {
    const size_t hidden = lines.size() - height + 1;
    lines.resize(height);
    lines.back() = {TopLine::Look::kFaint, StrCat("... and ", hidden, " more lines")};
    return;
  } else {
    const size_t rows = height - head - 1;
    view.scroll = std::min(view.scroll, jobs - rows);
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(head),
                lines.begin() + static_cast<std::ptrdiff_t>(head + view.scroll));
    lines.resize(head + rows);
    lines.push_back({TopLine::Look::kFaint, StrCat("jobs ", view.scroll + 1, " to ", view.scroll + rows, " of ", jobs,
                                                   view.keys ? "; j and k scroll, s sorts, ? helps, q ends" : "")});
    return;
  }
  if (view.keys && height > 0) {
    lines.push_back({TopLine::Look::kFaint, StrCat("sorted by ", OrderName(view.order), "; s sorts, ? helps, q ends")});
  }
}

}  // namespace

TopView::Order NextOrder(TopView::Order order) {
  return order == TopView::Order::kDone ? TopView::Order::kSeen
                                        : static_cast<TopView::Order>(static_cast<int>(order) + 1);
}

std::vector<TopLine> DrawTop(const TopPicture& p, TopView& view, size_t width, size_t height) {
  std::vector<TopLine> lines = view.help ? HelpLines() : HeadLines(p);
  if (!view.help) {
    const Columns columns(width);
    lines.emplace_back();
    lines.push_back(JobHead(columns));
    const size_t head = lines.size();
    for (const TopPicture::Job* job : Sorted(p, view.order)) lines.push_back(JobLine(*job, columns));
    if (p.jobs.empty()) lines.push_back({TopLine::Look::kFaint, "no jobs"});
    Cut(lines, head, view, height);
  } else if (height > 0 && lines.size() > height) {
    lines.resize(height);
  }
  for (TopLine& line : lines) {
    line.text = FitTo(line.text, width);
    line.text.erase(line.text.find_last_not_of(' ') + 1);
  }
  return lines;
}

std::string Coloured(const TopLine& line) {
  std::string_view code;
  switch (line.look) {
    case TopLine::Look::kPlain:
      return line.text;
    case TopLine::Look::kHead:
      code = "1";
      break;
    case TopLine::Look::kGood:
      code = "32";
      break;
    case TopLine::Look::kBad:
      code = "31";
      break;
    case TopLine::Look::kFaint:
      code = "2";
      break;
  }
  return StrCat("\x1b[", code, "m", line.text, "\x1b[0m");
}

std::string TopJson(const TopPicture& p) {
  JsonWriter json;
  json.BeginObject().Member("address", p.address).Member("trouble", p.trouble);
  json.Member("uptime_seconds", p.uptime_seconds).Member("completed", p.completed).Member("failed", p.failed);
  json.Key("proofs_per_hour");
  p.proofs_per_hour ? json.Value(*p.proofs_per_hour) : json.Null();
  json.Member("budget_bytes", p.budget_bytes).Member("budget_used_bytes", p.budget_used_bytes);
  json.Member("pool_bytes", p.pool_bytes).Member("pool_used_bytes", p.pool_used_bytes);
  json.Key("devices").BeginArray();
  for (const TopPicture::Device& d : p.devices) {
    json.BeginObject().Member("ordinal", d.ordinal).Member("name", d.name).Member("job", d.job).Key("busy");
    d.busy ? json.Value(*d.busy) : json.Null();
    json.Member("total_bytes", d.total_bytes).Member("free_bytes", d.free_bytes).EndObject();
  }
  json.EndArray().Key("queues").BeginArray();
  for (const TopPicture::Queue& q : p.queues) {
    json.BeginObject().Member("kind", q.kind).Member("pending", q.pending).Member("in_progress", q.in_progress);
    json.EndObject();
  }
  json.EndArray().Key("parameters").BeginArray();
  for (const TopPicture::Parameters& q : p.parameters) {
    json.BeginObject().Member("circuit_id", q.circuit).Member("bytes", q.bytes).Member("loading", q.loading);
    json.Member("in_use", q.in_use).EndObject();
  }
  json.EndArray().Key("jobs").BeginArray();
  for (const TopPicture::Job& job : p.jobs) json.Raw(ProgressJson(job.progress));
  return json.EndArray().EndObject().text();
}

}  // namespace cuzk::daemon
