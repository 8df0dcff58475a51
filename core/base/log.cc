#include "core/base/log.h"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/check.h"

namespace cuzk {
namespace {

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

std::string HexByte(char c) {
  auto byte = static_cast<uint8_t>(c);
  return ToHex({&byte, 1});
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

Logger::Logger(const LogOptions& options) : options_(options) {
  spdlog::sink_ptr sink;
  if (options.stream) {
    sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(*options.stream, true);
  } else {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  }
  logger_ = std::make_shared<spdlog::logger>("cuzk", std::move(sink));
  std::string pattern = "{\"ts\":\"%Y-%m-%dT%H:%M:%S.%eZ\",%v}";
  if (!options.json) pattern = options.journal_priority ? "%v" : "%Y-%m-%dT%H:%M:%S.%eZ %v";
  logger_->set_pattern(pattern, spdlog::pattern_time_type::utc);
  logger_->flush_on(spdlog::level::debug);
  SetLevel(options.level);
}

Logger::~Logger() = default;

void Logger::SetLevel(LogLevel level) { logger_->set_level(SpdlogLevel(level)); }

void Logger::Write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (!logger_->should_log(SpdlogLevel(level))) return;
  static constexpr std::string_view kNames[] = {"debug", "info", "warning", "error"};
  std::string_view name = kNames[static_cast<size_t>(level)];
  std::string line;
  if (options_.json) {
    line = StrCat("\"level\":\"", name, "\",\"msg\":\"", EscapeJson(message), "\"");
    for (const LogField& field : fields) line += StrCat(",\"", field.name, "\":\"", EscapeJson(field.value), "\"");
  } else {
    if (options_.journal_priority) line += JournalPriority(level);
    line += StrCat(name, " ", EscapeControl(message));
    for (const LogField& field : fields) line += StrCat(" ", field.name, "=", EscapeControl(field.value));
  }
  logger_->log(SpdlogLevel(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace cuzk
