#pragma once
// A strict pull reader of JSON text that arrives in pieces. It exists because a C1 is tens of megabytes of small
// numbers inside base64 inside JSON: a parser that wants the whole text padded in memory, and an index beside it, would
// hold several copies (docs/decisions/). Nesting is the caller's, so nothing recurses; no length that the text claims
// is ever allocated.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace cuzk::filecoin {

/// Text from outside, made fit for an error message: characters that are not printable ASCII become '?', and the end of
/// a long text becomes "...".
std::string Printable(std::string_view text);

/// A source of text.
class TextSource {
 public:
  virtual ~TextSource() = default;
  /// Fills at most `capacity` bytes, which are kLeastCapacity or more; returns how many, 0 at the end only.
  virtual StatusOr<size_t> Read(char* out, size_t capacity) = 0;
  static constexpr size_t kLeastCapacity = 16;
};

/// All errors are InvalidArgument and end with the byte offset. After an error the reader is spent. One thread.
class JsonReader {
 public:
  /// Reads text that is in memory; it must outlive the reader.
  explicit JsonReader(std::string_view text)
      : next_(text.data()), end_(text.data() + text.size()), length_(text.size()) {}
  /// Reads through a window of its own; the source must outlive the reader.
  explicit JsonReader(TextSource& source);

  Status BeginObject() { return Expect('{'); }
  /// Moves to the next member: false at the closing brace. `first` says whether none was read yet.
  StatusOr<bool> NextMember(bool first) { return Next(first, '}'); }
  Status BeginArray() { return Expect('['); }
  StatusOr<bool> NextElement(bool first) { return Next(first, ']'); }

  /// A member's key and the colon. Escapes are decoded; `longest` bounds the bytes of a string.
  StatusOr<std::string> Key();
  StatusOr<std::string> String(size_t longest = kMaxString);
  /// A plain unsigned integer: no sign, fraction or exponent.
  StatusOr<uint64_t> Integer();
  /// An array of exactly 32 integers 0 … 255.
  Status Digest(Bytes32& out);
  Status Null();
  /// A string in pieces, however long: BeginString, then StringPiece until it returns 0. Escapes are decoded; each
  /// piece has at most `capacity` bytes, which is kLeastCapacity or more, and fewer by three or more at the string's
  /// end alone.
  Status BeginString() {
    string_ended_ = false;
    return Expect('"');
  }
  StatusOr<size_t> StringPiece(char* out, size_t capacity);
  /// The characters between two quotes as they stand, escapes and all; only from text in memory.
  StatusOr<std::string_view> RawString();
  /// Nothing but space follows.
  Status End();

  /// InvalidArgument with the offset.
  Status Error(std::string_view what) const;

  static constexpr size_t kMaxString = 256;

 private:
  static constexpr size_t kWindow = size_t{1} << 16;
  /// The longest digest without spaces, and what the quick reading may look at beyond.
  static constexpr size_t kDigestText = 32 * 4 + 8;

  Status Refill();
  /// The next character that is no space, not taken; 0 at the end of the text.
  StatusOr<char> Peek();
  Status Expect(char wanted);
  StatusOr<bool> Next(bool first, char close);
  bool QuickDigest(Bytes32& out);
  Status SlowDigest(Bytes32& out);
  Status Escape(std::string& out);
  StatusOr<char> Character();
  StatusOr<bool> StringCharacter(std::string& out);

  TextSource* source_ = nullptr;
  std::unique_ptr<char[]> window_;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  uint64_t length_ = 0;        // bytes of text up to end_
  bool ended_ = false;         // the source has no more
  bool string_ended_ = false;  // the quote that closes the string that is read in pieces was taken
};

/// Reads an object with exactly the keys `keys`, each once, in any order: `member(i)` reads the value of keys[i].
template <size_t N, class Member>
Status ReadObject(JsonReader& reader, const std::array<std::string_view, N>& keys, Member&& member) {
  static_assert(N < 32);
  CUZK_RETURN_IF_ERROR(reader.BeginObject());
  uint32_t seen = 0;
  for (bool first = true;; first = false) {
    auto more = reader.NextMember(first);
    if (!more.ok()) return more.status();
    if (!*more) break;
    CUZK_ASSIGN_OR_RETURN(std::string key, reader.Key());
    size_t i = 0;
    while (i < N && keys[i] != key) ++i;
    if (i == N) return reader.Error(StrCat("unknown key '", Printable(key), "'"));
    if (seen >> i & 1) return reader.Error(StrCat("key '", key, "' twice"));
    seen |= 1u << i;
    CUZK_RETURN_IF_ERROR(member(i));
  }
  for (size_t i = 0; i < N; ++i) {
    if (!(seen >> i & 1)) return reader.Error(StrCat("key '", keys[i], "' is missing"));
  }
  return absl::OkStatus();
}

/// Reads an array of exactly `count` elements: `element(i)` reads one. `what` names an element in errors.
template <class Element>
Status ReadArray(JsonReader& reader, size_t count, std::string_view what, Element&& element) {
  CUZK_RETURN_IF_ERROR(reader.BeginArray());
  for (size_t i = 0;; ++i) {
    auto more = reader.NextElement(i == 0);
    if (!more.ok()) return more.status();
    if (!*more) {
      if (i != count) return reader.Error(StrCat(i, " ", what, ", not ", count));
      return absl::OkStatus();
    }
    if (i == count) return reader.Error(StrCat("more than ", count, " ", what));
    CUZK_RETURN_IF_ERROR(element(i));
  }
}

}  // namespace cuzk::filecoin
