#include "daemon/ctl/top_screen.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/base/log.h"
#include "core/base/text.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/progress_view.h"

namespace cuzk::daemon {
namespace {

// Columns of a text, counting one for each character of UTF-8.
bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

size_t Columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !Continues(c); }));
}

// The text in exactly that many columns.
std::string Fit(std::string_view text, size_t columns) {
  size_t bytes = 0, seen = 0;
  while (bytes < text.size() && (seen < columns || Continues(text[bytes]))) seen += Continues(text[bytes++]) ? 0 : 1;
  std::string out(text.substr(0, bytes));
  out.append(columns - Columns(out), ' ');
  return out;
}

std::string Gib(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(bytes) / static_cast<double>(uint64_t{1} << 30));
  return text;
}

std::string Share(uint64_t used, uint64_t all) { return StrCat(Gib(used), " of ", Gib(all), " GiB"); }

std::string Amount(uint64_t bytes) {
  return bytes >> 30 == 0 ? StrCat(bytes >> 20, " MiB") : StrCat(Gib(bytes), " GiB");
}

std::string Bar(double fraction, size_t width) {
  std::string bar(static_cast<size_t>(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(width)), '#');
  bar.resize(width, '.');
  return StrCat("[", bar, "]");
}

std::string Duration(double seconds) {
  auto whole = static_cast<uint64_t>(std::llround(seconds));
  if (whole < 120) return StrCat(whole, " s");
  if (whole < 7200) return StrCat(whole / 60, " min");
  return StrCat(whole / 3600, " h ", whole % 3600 / 60, " min");
}

std::string Percent(double fraction) { return StrCat(static_cast<int>(std::floor(fraction * 100)), " %"); }

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

// Columns of the table of jobs; the id takes what is left.
constexpr size_t kKind = 8, kStage = 19, kParts = 8, kDone = 20, kLeft = 12;

size_t IdColumns(size_t width) {
  constexpr size_t kOthers = kKind + kStage + kParts + kDone + kLeft, kLeast = 8;
  return std::max(width, kOthers + kLeast) - kOthers;
}

std::string JobHead(size_t width) {
  const size_t id = IdColumns(width);
  return StrCat(Fit("JOB", id), Fit("KIND", kKind), Fit("STAGE", kStage), Fit("PARTS", kParts), Fit("DONE", kDone),
                Fit("LEFT", kLeft));
}

std::string JobLine(const cuzkd::v1::JobProgress& job, size_t width) {
  const size_t id = IdColumns(width);
  bool running = job.state() == "running";
  std::string parts = job.partitions_total() > 0 ? StrCat(job.partitions_done(), "/", job.partitions_total()) : "";
  std::string left = job.seconds_left() >= 0 && running ? Duration(job.seconds_left()) : "";
  return StrCat(Fit(EscapeControl(job.job_id()), id - 1), " ", Fit(job.kind(), kKind),
                Fit(running ? job.stage() : job.state(), kStage), Fit(parts, kParts),
                Fit(StrCat(Bar(job.fraction(), 10), " ", Percent(job.fraction())), kDone), Fit(left, kLeft));
}

void Trim(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

std::vector<std::string> DrawTop(const TopPicture& p, size_t width, size_t height) {
  std::vector<std::string> lines;
  if (!p.trouble.empty()) lines.push_back(StrCat("NO ANSWER from ", p.address, ": ", EscapeControl(p.trouble)));
  lines.push_back(StrCat("cuzkd at ", EscapeControl(p.address), "  up ",
                         Duration(static_cast<double>(p.uptime_seconds)), "  ", p.completed, " completed, ", p.failed,
                         " failed"));
  lines.push_back(StrCat("budget    ", Bar(Fraction(p.budget_used_bytes, p.budget_bytes), 20), " ",
                         Share(p.budget_used_bytes, p.budget_bytes)));
  lines.push_back(StrCat("buffers   ", Bar(Fraction(p.pool_used_bytes, p.pool_bytes), 20), " ",
                         Share(p.pool_used_bytes, p.pool_bytes), " lent"));
  lines.push_back(QueueLine(p));
  for (const TopPicture::Device& device : p.devices) lines.push_back(DeviceLine(device));
  lines.push_back(ParametersLine(p));
  lines.emplace_back();
  lines.push_back(JobHead(width));
  for (const cuzkd::v1::JobProgress& job : p.jobs) lines.push_back(JobLine(job, width));
  if (p.jobs.empty()) lines.push_back("no jobs");
  if (height > 0 && lines.size() > height) {
    size_t hidden = lines.size() - height + 1;
    lines.resize(height);
    lines.back() = StrCat("... and ", hidden, " more lines");
  }
  for (std::string& line : lines) {
    line = Fit(line, width);
    Trim(line);
  }
  return lines;
}

std::string TopJson(const TopPicture& p) {
  JsonWriter json;
  json.BeginObject().Member("address", p.address).Member("trouble", p.trouble);
  json.Member("uptime_seconds", p.uptime_seconds).Member("completed", p.completed).Member("failed", p.failed);
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
  for (const cuzkd::v1::JobProgress& job : p.jobs) json.Raw(ProgressJson(job));
  return json.EndArray().EndObject().text();
}

}  // namespace cuzk::daemon
