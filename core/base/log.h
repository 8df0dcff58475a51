#pragma once
// Logging: one line per event on stderr, for people or as JSON. Never payload bytes; text from outside is escaped here,
// so a line is always one line.

#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

namespace spdlog {
class logger;
}

namespace cuzk {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// One named value beside the message: {"job_id", id}. Names in use: job_id, kind, circuit, device, stage, dur_ms, err.
struct LogField {
  std::string_view name;
  std::string value;
};

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  bool json = false;
  /// Begin each line with "<N>", which journald reads as its priority; for stderr that goes to the journal.
  bool journal_priority = false;
  /// Instead of stderr, for tests; must outlive the logger.
  std::ostream* stream = nullptr;
};

/// "debug", "info", "warning", "error" as in the settings.
LogLevel LogLevelFromName(std::string_view name);

/// Thread-safe.
class Logger {
 public:
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

 private:
  const LogOptions options_;
  std::shared_ptr<spdlog::logger> logger_;
};

/// Text as the inside of a JSON string: quotes, backslashes, control characters and bytes that are not UTF-8 escaped.
std::string EscapeJson(std::string_view text);
/// Text on one line of a terminal: control characters as \n, \t, \x1b; bytes that are not UTF-8 as \xNN.
std::string EscapeControl(std::string_view text);

}  // namespace cuzk
