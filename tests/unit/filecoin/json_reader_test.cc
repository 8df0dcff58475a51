#include "core/filecoin/format/json_reader.h"

#include <gtest/gtest.h>

#include "core/filecoin/format/base64.h"

namespace cuzk::filecoin {
namespace {

/// Hands out text a few bytes at a time.
class Dripping : public TextSource {
 public:
  Dripping(std::string_view text, size_t drop) : text_(text), drop_(drop) {}
  StatusOr<size_t> Read(char* out, size_t capacity) override {
    size_t count = std::min({drop_, capacity, text_.size()});
    text_.copy(out, count);
    text_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view text_;
  size_t drop_;
};

std::string Message(const Status& status) { return std::string(status.message()); }

std::string DigestText(const Bytes32& bytes, std::string_view comma = ",") {
  std::string text = "[";
  for (size_t i = 0; i < 32; ++i) {
    if (i != 0) text += comma;
    text += std::to_string(bytes[i]);
  }
  return text + "]";
}

Bytes32 Counting(uint8_t first, uint8_t step) {
  Bytes32 bytes;
  for (uint8_t& byte : bytes) byte = first, first = static_cast<uint8_t>(first + step);
  return bytes;
}

TEST(JsonReader, DigestsOfEveryByteAndWindowPosition) {
  // Many digests in one text, so that some lie across the window's end; with spaces too, which the quick way refuses.
  for (std::string_view comma : {",", " ,\n"}) {
    std::string text = "[";
    const size_t count = 2000;
    for (size_t i = 0; i < count; ++i) {
      if (i != 0) text += ',';
      text += DigestText(Counting(static_cast<uint8_t>(i), static_cast<uint8_t>(i / 7)), comma);
    }
    text += "]";
    for (size_t drop : {size_t{1} << 20, size_t{977}}) {
      Dripping source(text, drop);
      JsonReader streamed(source), whole(text);
      for (JsonReader* reader : {&streamed, &whole}) {
        Status status = ReadArray(*reader, count, "digests", [&](size_t i) -> Status {
          Bytes32 bytes;
          CUZK_RETURN_IF_ERROR(reader->Digest(bytes));
          EXPECT_EQ(bytes, Counting(static_cast<uint8_t>(i), static_cast<uint8_t>(i / 7)));
          return absl::OkStatus();
        });
        EXPECT_TRUE(status.ok()) << status;
        EXPECT_TRUE(reader->End().ok());
      }
    }
  }
}

Status ReadOneDigest(std::string text) {
  text.resize(text.size() + 200, ' ');  // room enough for the quick way
  JsonReader reader(text);
  Bytes32 bytes;
  CUZK_RETURN_IF_ERROR(reader.Digest(bytes));
  return reader.End();
}

TEST(JsonReader, BadDigestsAreNamed) {
  std::string good = DigestText(Counting(100, 1));
  EXPECT_TRUE(ReadOneDigest(good).ok());
  auto replaced = [&](std::string_view what, std::string_view with) {
    std::string text = good;
    return text.replace(text.find(what), what.size(), with);
  };
  EXPECT_NE(Message(ReadOneDigest(replaced("107", "256"))).find("256 where a byte belongs"), std::string::npos);
  EXPECT_NE(Message(ReadOneDigest(replaced("107", "1000"))).find("1000 where a byte belongs"), std::string::npos);
  EXPECT_NE(Message(ReadOneDigest(replaced("107", "07"))).find("leading zero"), std::string::npos);
  EXPECT_NE(Message(ReadOneDigest(replaced("107", "-7"))).find("'-' where a whole number belongs"), std::string::npos);
  EXPECT_NE(Message(ReadOneDigest(replaced("107", "7.0"))).find("not whole"), std::string::npos);
  EXPECT_NE(Message(ReadOneDigest(replaced("107", "7e1"))).find("not whole"), std::string::npos);
  EXPECT_NE(Message(ReadOneDigest(replaced("107", ""))).find("where a whole number belongs"), std::string::npos);
  EXPECT_NE(Message(ReadOneDigest(replaced("107,", ""))).find("31 bytes, not 32"), std::string::npos);
  EXPECT_NE(Message(ReadOneDigest(replaced("107", "107,107"))).find("more than 32 bytes"), std::string::npos);
  EXPECT_NE(Message(ReadOneDigest(replaced("131]", "131,]"))).find("after a comma"), std::string::npos);
  EXPECT_NE(Message(ReadOneDigest(replaced("131]", "131"))).find("the text ends"), std::string::npos);
  EXPECT_NE(Message(ReadOneDigest(replaced("[", "{"))).find("where '[' belongs"), std::string::npos);
  EXPECT_NE(Message(ReadOneDigest(replaced("107", "\x80\x80\x80"))).find("byte 0x80"), std::string::npos);
}

constexpr std::array<std::string_view, 2> kKeys = {"one", "two"};

Status ReadPair(std::string_view text, uint64_t (&values)[2]) {
  JsonReader reader(text);
  CUZK_RETURN_IF_ERROR(ReadObject(reader, kKeys, [&](size_t key) -> Status {
    CUZK_ASSIGN_OR_RETURN(values[key], reader.Integer());
    return absl::OkStatus();
  }));
  return reader.End();
}

TEST(JsonReader, ObjectsTakeEachKeyOnceInAnyOrder) {
  uint64_t values[2] = {};
  EXPECT_TRUE(ReadPair(R"( {"two":2 , "one": 18446744073709551615} )", values).ok());
  EXPECT_EQ(values[0], UINT64_MAX);
  EXPECT_EQ(values[1], 2u);
  EXPECT_TRUE(ReadPair(R"({"\u006fne":1,"two":2})", values).ok()) << "an escaped key is the same key";
  EXPECT_NE(Message(ReadPair(R"({"one":1})", values)).find("key 'two' is missing"), std::string::npos);
  EXPECT_NE(Message(ReadPair(R"({"one":1,"two":2,"one":1})", values)).find("key 'one' twice"), std::string::npos);
  EXPECT_NE(Message(ReadPair(R"({"one":1,"two":2,"Two":1})", values)).find("unknown key 'Two'"), std::string::npos);
  EXPECT_NE(Message(ReadPair(R"({"one":1,"two":18446744073709551616})", values)).find("too large"), std::string::npos);
  EXPECT_NE(Message(ReadPair(R"({"one":1,"two":2} x)", values)).find("'x' after the end (at byte 18)"),
            std::string::npos);
  EXPECT_NE(Message(ReadPair(R"({"one":1 "two":2})", values)).find("where ',' belongs"), std::string::npos);
  EXPECT_NE(Message(ReadPair(R"({"one":1,})", values)).find("after a comma"), std::string::npos);
  EXPECT_NE(Message(ReadPair(R"({"one":null,"two":2})", values)).find("where a whole number belongs"),
            std::string::npos);
  EXPECT_NE(Message(ReadPair("", values)).find("the text ends where '{' belongs"), std::string::npos);
}

TEST(JsonReader, StringsOfStrangersDoNotReachErrorsRaw) {
  uint64_t values[2] = {};
  EXPECT_NE(Message(ReadPair("{\"\xff\xfe\\n\":1}", values)).find("unknown key '??\?'"), std::string::npos);
  std::string longest(1000, 'k');
  EXPECT_NE(Message(ReadPair(StrCat("{\"", longest, "\":1}"), values)).find("string too long"), std::string::npos);
  EXPECT_NE(Message(ReadPair("{\"a\\ud800\":1}", values)).find("surrogate"), std::string::npos);
  EXPECT_NE(Message(ReadPair("{\"a\\x\":1}", values)).find("unknown escape"), std::string::npos);
  EXPECT_NE(Message(ReadPair("{\"a\nb\":1}", values)).find("control character"), std::string::npos);
}

StatusOr<std::string> Decode(std::string_view text, size_t capacity = 4096) {
  Base64Source source(text);
  std::string out;
  std::vector<char> buffer(capacity);
  while (true) {
    CUZK_ASSIGN_OR_RETURN(size_t count, source.Read(buffer.data(), capacity));
    if (count == 0) return out;
    out.append(buffer.data(), count);
  }
}

TEST(Base64, DecodesWhatItEncodes) {
  EXPECT_EQ(EncodeBase64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(EncodeBase64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(EncodeBase64("foob"), "Zm9vYg==");
  std::string bytes;
  for (int i = 0; i < 1000; ++i) {
    for (size_t capacity : {size_t{16}, size_t{17}, size_t{23}, size_t{4096}}) {
      auto decoded = Decode(EncodeBase64(bytes), capacity);
      ASSERT_TRUE(decoded.ok()) << decoded.status();
      ASSERT_EQ(*decoded, bytes);
    }
    bytes += static_cast<char>(i * 37 + i / 11);
  }
}

TEST(Base64, RefusesWhatIsNotStrict) {
  for (std::string_view bad : {"Zg=", "Zg", "Z", "Zm9vYg==Zm9v", "Zm9v\nYg==", "Zm9vYg-_", "Zg==\n",
                               "====", "Z===", "=Zg=", "Zm9v Yg=", "Zm9\x80", "Z=g="}) {
    EXPECT_EQ(Decode(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_NE(Message(Decode("Zh==").status()).find("bits set"), std::string::npos);
  EXPECT_NE(Message(Decode("Zm9=").status()).find("bits set"), std::string::npos);
  EXPECT_NE(Message(Decode("Zm9vZm*v").status()).find("'*' at character 6"), std::string::npos);
}

}  // namespace
}  // namespace cuzk::filecoin
