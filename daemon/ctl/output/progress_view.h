#pragma once
// Progress of a job on a terminal, in a log, or as JSON lines.

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "core/base/progress.h"
#include "cuzkd/v1/operator.pb.h"

namespace cuzk::daemon {

/// A guess of what is left where the daemon has none yet: that the rest goes as what was seen did.
class Extrapolation {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  /// Nothing before a twentieth of the way was seen.
  std::optional<double> SecondsLeft(double fraction, TimePoint now);

 private:
  std::optional<TimePoint> begin_;
  double first_ = 0;
};

/// As one JSON object on one line.
std::string ProgressJson(const cuzkd::v1::JobProgress& progress);
/// "device  3/10  42 %  18 s left".
std::string ProgressText(const cuzkd::v1::JobProgress& progress);

/// For logs and people who look on: a line when a job's state or stage has changed, "15:04:05  porep-1000-84  synthesis
/// 0/10 partitions  7 %", with the local time.
class StageLines {
 public:
  /// Nothing if state and stage are those of the job's last line.
  std::optional<std::string> LineOf(const cuzkd::v1::JobProgress& progress, std::chrono::system_clock::time_point now);

 private:
  std::map<std::string, std::string> last_;  // by kind and id; jobs that have ended leave it
};

/// Where progress of one thing goes: a bar that redraws itself on a terminal's stderr, else a line per stage and tenth
/// there; JSON lines go to stdout. One thread at a time.
class ProgressView {
 public:
  explicit ProgressView(bool json);
  /// Leaves the bar's line.
  ~ProgressView();

  void Show(cuzkd::v1::JobProgress progress);
  /// Of work without a job's messages: "WHAT  42 %  DETAIL". In a log, a line for each tenth of the way.
  void Show(const std::string& what, double fraction, const std::string& detail = "");
  /// Leaves the bar's line, so that something else can be printed.
  void Finish();

 private:
  void Draw(double fraction, const std::string& text);
  const bool json_, terminal_;
  Extrapolation extrapolation_;
  bool drawn_ = false;
  std::string last_step_;
};

/// A Progress that is shown under `what`.
Progress ShownAs(ProgressView& view, std::string what);

}  // namespace cuzk::daemon
