#pragma once
// Base64 of the standard alphabet with padding (RFC 4648, section 4), decoded piece by piece.

#include <string_view>

#include "core/filecoin/json_reader.h"

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

/// For tests and made requests.
std::string EncodeBase64(std::string_view bytes);

}  // namespace cuzk::filecoin
