#include "daemon/common/json_writer.h"

#include <cmath>
#include <cstdio>

#include "core/base/log.h"

namespace cuzk::daemon {

void JsonWriter::Separate() {
  if (!first_ && !after_key_) text_ += ',';
  first_ = after_key_ = false;
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  text_ += bracket;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  text_ += bracket;
  first_ = after_key_ = false;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Value(name);
  text_ += ':';
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::Value(std::string_view text) {
  Separate();
  text_ += '"';
  text_ += EscapeJson(text);
  text_ += '"';
  return *this;
}

JsonWriter& JsonWriter::Value(double value) {
  if (!std::isfinite(value)) return Null();
  char digits[400];
  std::snprintf(digits, sizeof digits, "%.3f", value);
  return Raw(digits);
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  text_ += json;
  return *this;
}

}  // namespace cuzk::daemon
