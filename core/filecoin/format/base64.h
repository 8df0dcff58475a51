#pragma once
// Base64 of the standard alphabet with padding (RFC 4648, section 4), decoded piece by piece.

#include <array>
#include <string_view>

#include "core/filecoin/format/json_reader.h"

namespace cuzk::filecoin {

/// Decodes text that is in memory and outlives the source. Strict: the length is a multiple of four, no line breaks, no
/// other characters, padding at the end only, and no bits set that padding cuts off. InvalidArgument says where.
class Base64Source : public TextSource {
 public:
  explicit Base64Source(std::string_view text) : text_(text) {}
  StatusOr<size_t> Read(char* out, size_t capacity) override;

 private:
  Status DecodeLast(char* out, size_t& count);
  Status BadCharacter(size_t begin) const;

  std::string_view text_;
  size_t position_ = 0;  // a multiple of four
};

/// The same from inside a JSON string with escapes, which are decoded a piece at a time. Base64 needs no escapes, but
/// JSON allows them, and the text has tens of megabytes.
class EscapedBase64Source : public TextSource {
 public:
  /// `quoted` is the string with its quotes; it must outlive the source.
  explicit EscapedBase64Source(std::string_view quoted) : reader_(quoted) {}
  StatusOr<size_t> Read(char* out, size_t capacity) override;

 private:
  Status Fill();

  JsonReader reader_;
  std::array<char, 4096> window_;
  size_t held_ = 0;  // characters in the window
  bool begun_ = false, ended_ = false;
};

/// For tests and made requests.
std::string EncodeBase64(std::string_view bytes);

}  // namespace cuzk::filecoin
