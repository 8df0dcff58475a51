#pragma once
// Writes one JSON value at a time, commas and quotes included.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cuzk::daemon {

/// `JsonWriter w; w.BeginObject().Key("a").Value(1).EndObject(); w.text()`. Not checked: that the calls nest.
class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view name);

  JsonWriter& Value(std::string_view text);
  JsonWriter& Value(const char* text) { return Value(std::string_view(text)); }
  JsonWriter& Value(const std::string& text) { return Value(std::string_view(text)); }
  JsonWriter& Value(std::same_as<bool> auto value) { return Raw(value ? "true" : "false"); }
  JsonWriter& Value(std::integral auto value) requires(!std::same_as<decltype(value), bool>) {
    return Raw(std::to_string(value));
  }
  /// With three decimals.
  JsonWriter& Value(double value);
  JsonWriter& Null() { return Raw("null"); }
  /// Text that is JSON already.
  JsonWriter& Raw(std::string_view json);

  /// Key and value in one.
  template <class T>
  JsonWriter& Member(std::string_view name, const T& value) {
    return Key(name).Value(value);
  }

  const std::string& text() const { return text_; }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void Separate();

  std::string text_;
  bool first_ = true;  // nothing precedes in the innermost array or object
  bool after_key_ = false;
};

}  // namespace cuzk::daemon
