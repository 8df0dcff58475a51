#include "core/base/log.h"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/base/log_writer.h"

namespace cuzk {
namespace {

// Values may come from outside: one that could pass for another field is quoted.
std::string TextValue(const LogField& field) {
  auto plain = [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '_' || c == ':' || c == '-'; };
  if (std::all_of(field.value.begin(), field.value.end(), plain)) return field.value;
  std::string quoted;
  for (char c : field.value) quoted += c == '"' || c == '\\' ? StrCat("\\", std::string(1, c)) : std::string(1, c);
  return StrCat("\"", EscapeControl(quoted), "\"");
}

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// syslog's numbers.
std::string_view JournalPriority(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "<7>";
    case LogLevel::kInfo:
      return "<6>";
    case LogLevel::kWarning:
      return "<4>";
    case LogLevel::kError:
      return "<3>";
  }
  return "";
}

bool IsControl(unsigned char c) { return c < 0x20 || c == 0x7f; }

// Bytes of the well-formed UTF-8 sequence that begins at `text`, 0 if there is none. C1 controls (U+0080 to U+009F)
// count as none: terminals act on them.
size_t SequenceLength(std::string_view text) {
  auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  size_t length = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (lead > 0xf4 || length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  bool overlong = (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xf0 && at(1) < 0x90);
  bool surrogate = lead == 0xed && at(1) >= 0xa0;
  bool beyond = lead == 0xf4 && at(1) >= 0x90;
  bool control = lead == 0xc2 && at(1) < 0xa0;
  return overlong || surrogate || beyond || control ? 0 : length;
}

// "2026-01-31T23:59:59.123Z".
std::string Timestamp() {
  auto now = std::chrono::system_clock::now();
  auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  time_t time = std::chrono::system_clock::to_time_t(seconds);
  tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  size_t length = strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - seconds).count();
  length += static_cast<size_t>(snprintf(text.data() + length, text.size() - length, ".%03dZ", static_cast<int>(ms)));
  return {text.data(), length};
}

std::string HexByte(char c) {
  auto byte = static_cast<uint8_t>(c);
  return ToHex({&byte, 1});
}

struct Form {
  bool json = false, journal_priority = false;
};

std::string LineOf(const Form& form, LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  static constexpr std::string_view kNames[] = {"debug", "info", "warning", "error"};
  std::string_view name = kNames[static_cast<size_t>(level)];
  std::string line(form.journal_priority ? JournalPriority(level) : std::string_view());
  if (form.json) {
    line += StrCat("{\"ts\":\"", Timestamp(), "\",\"level\":\"", name, "\",\"msg\":\"", EscapeJson(message), "\"");
    for (const LogField& field : fields) {
      bool number = field.name.ends_with("_ms");
      line += StrCat(",\"", field.name, number ? "\":" : "\":\"", EscapeJson(field.value), number ? "" : "\"");
    }
    return line + "}";
  }
  if (!form.journal_priority) line += StrCat(Timestamp(), " ");  // the journal has its own
  line += StrCat(name, " ", EscapeControl(message));
  for (const LogField& field : fields) line += StrCat(" ", field.name, "=", TextValue(field));
  return line;
}

/// Passes whole lines to a writer, which does not wait for their reader.
class WriterSink final : public spdlog::sinks::sink {
 public:
  explicit WriterSink(std::shared_ptr<LogWriter> writer) : writer_(std::move(writer)) {}
  void log(const spdlog::details::log_msg& message) override {
    writer_->Write(StrCat(std::string_view(message.payload.data(), message.payload.size()), "\n"));
  }
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  const std::shared_ptr<LogWriter> writer_;
};

std::shared_ptr<LogWriter> MakeWriter(const LogOptions& options) {
  if (options.stream != nullptr) return nullptr;
  const Form form{.json = options.json, .journal_priority = options.journal_priority};
  return std::make_shared<LogWriter>(LogWriter::Options{
      .descriptor = options.descriptor, .dropped_line = [form](uint64_t lines) {
        return LineOf(form, LogLevel::kWarning,
                      StrCat(lines, " log lines were dropped because stderr was not read fast enough"), {}) +
               "\n";
      }});
}

std::shared_ptr<spdlog::logger> MakeLogger(const LogOptions& options, const std::shared_ptr<LogWriter>& writer) {
  spdlog::sink_ptr sink;
  if (writer != nullptr) {
    sink = std::make_shared<WriterSink>(writer);
  } else {
    sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(*options.stream, true);
  }
  auto logger = std::make_shared<spdlog::logger>("cuzk", std::move(sink));
  logger->set_pattern("%v");
  logger->set_level(SpdlogLevel(options.level));
  return logger;
}

}  // namespace

std::string EscapeJson(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    char c = text[0];
    size_t length = SequenceLength(text);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
      length = 1;
    } else if (c == '\n') {
      out += "\\n";
    } else if (length == 0 || IsControl(static_cast<unsigned char>(c))) {
      out += StrCat("\\u00", HexByte(c));
      length = 1;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string EscapeControl(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    char c = text[0];
    size_t length = SequenceLength(text);
    if (c == '\n' || c == '\t' || c == '\r') {
      out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
    } else if (length == 0 || IsControl(static_cast<unsigned char>(c))) {
      out += StrCat("\\x", HexByte(c));
      length = 1;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

LogLevel LogLevelFromName(std::string_view name) {
  if (name == "debug") return LogLevel::kDebug;
  if (name == "warning") return LogLevel::kWarning;
  if (name == "error") return LogLevel::kError;
  CUZK_CHECK(name == "info");
  return LogLevel::kInfo;
}

bool StderrIsJournal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat info {};
  if (stream == nullptr || fstat(STDERR_FILENO, &info) != 0) return false;
  return StrCat(info.st_dev, ":", info.st_ino) == stream;
}

Logger::Logger(const LogOptions& options)
    : options_(options), writer_(MakeWriter(options)), logger_(MakeLogger(options, writer_)) {}

Logger::~Logger() {
  for (const auto& [message, repeats] : repeats_) WriteLeftOut(message, repeats);
}

void Logger::SetLevel(LogLevel level) { logger_->set_level(SpdlogLevel(level)); }

uint64_t Logger::dropped() const { return writer_ ? writer_->dropped() : 0; }

void Logger::WriteLeftOut(const std::string& message, const Repeats& repeats) {
  if (repeats.count <= kRepeats) return;
  Emit(LogLevel::kWarning, StrCat(repeats.count - kRepeats, " more messages like this were left out: ", message), {});
}

bool Logger::Admit(LogLevel level, std::string_view message) {
  auto now = options_.now ? options_.now() : std::chrono::steady_clock::now();
  MutexLock lock(mutex_);
  for (auto it = repeats_.begin(); it != repeats_.end();) {
    if (now - it->second.since < kRepeatWindow) {
      ++it;
      continue;
    }
    WriteLeftOut(it->first, it->second);
    it = repeats_.erase(it);
  }
  if (level < LogLevel::kWarning) return true;
  auto found = repeats_.find(message);
  if (found == repeats_.end()) found = repeats_.emplace(std::string(message), Repeats{.since = now}).first;
  return ++found->second.count <= kRepeats;
}

void Logger::Write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (!logger_->should_log(SpdlogLevel(level))) return;
  if (Admit(level, message)) Emit(level, message, fields);
}

void Logger::Emit(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  std::string line =
      LineOf({.json = options_.json, .journal_priority = options_.journal_priority}, level, message, fields);
  logger_->log(SpdlogLevel(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace cuzk
