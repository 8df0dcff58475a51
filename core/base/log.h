#pragma once
// Logging: one line per event on stderr, for people or as JSON. Never payload bytes; text from outside is escaped here,
// so a line is always one line.

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/mutex.h"

namespace spdlog {
class logger;
}

namespace cuzk {

class LogWriter;

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// One named value beside the message: {"job_id", id}. Names in use: job_id, kind, circuit, gpu, stage, dur_ms, err. In
/// JSON a value is a string, except that of a name that ends in "_ms", which is a number.
struct LogField {
  std::string_view name;
  std::string value;
};

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  bool json = false;
  /// Begin each line with "<N>", which journald reads as its priority; for stderr that goes to the journal.
  bool journal_priority = false;
  int descriptor = 2;  ///< stderr
  /// Instead of that, for tests; must outlive the logger.
  std::ostream* stream = nullptr;
  /// Instead of the steady clock, for tests.
  std::function<std::chrono::steady_clock::time_point()> now;
};

/// Whether stderr is connected to the journal: $JOURNAL_STREAM names its device and inode.
bool StderrIsJournal();

/// "debug", "info", "warning", "error" as in the settings.
LogLevel LogLevelFromName(std::string_view name);

/// Thread-safe. A slow reader of the log delays a caller at most once, by the patience of LogWriter. A warning or error
/// whose message was already written kRepeats times within kRepeatWindow is counted instead, and the count is written
/// when the window has ended. Only messages are compared, which are constants of the program; fields may differ.
class Logger {
 public:
  static constexpr uint64_t kRepeats = 20;
  static constexpr std::chrono::seconds kRepeatWindow{10};

  explicit Logger(const LogOptions& options);
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  void Write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});
  void Debug(std::string_view message, std::initializer_list<LogField> fields = {}) {
    Write(LogLevel::kDebug, message, fields);
  }
  void Info(std::string_view message, std::initializer_list<LogField> fields = {}) {
    Write(LogLevel::kInfo, message, fields);
  }
  void Warning(std::string_view message, std::initializer_list<LogField> fields = {}) {
    Write(LogLevel::kWarning, message, fields);
  }
  void Error(std::string_view message, std::initializer_list<LogField> fields = {}) {
    Write(LogLevel::kError, message, fields);
  }
  void SetLevel(LogLevel level);
  /// Lines that were dropped because the stream was not read fast enough.
  uint64_t dropped() const;

 private:
  struct Repeats {
    std::chrono::steady_clock::time_point since;
    uint64_t count = 0;
  };
  void Emit(LogLevel level, std::string_view message, std::initializer_list<LogField> fields);
  /// Whether the message is to be written. Also writes the counts of windows that have ended.
  bool Admit(LogLevel level, std::string_view message);
  void WriteLeftOut(const std::string& message, const Repeats& repeats);

  const LogOptions options_;
  const std::shared_ptr<LogWriter> writer_;  // null: to the stream
  const std::shared_ptr<spdlog::logger> logger_;
  Mutex mutex_;
  std::map<std::string, Repeats, std::less<>> repeats_ ABSL_GUARDED_BY(mutex_);  // by message
};

/// Text as the inside of a JSON string: quotes, backslashes, control characters and bytes that are not UTF-8 escaped.
std::string EscapeJson(std::string_view text);
/// Text on one line of a terminal: control characters as \n, \t, \x1b; bytes that are not UTF-8 as \xNN.
std::string EscapeControl(std::string_view text);

}  // namespace cuzk
