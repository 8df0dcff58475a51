// What reading a C1 takes in memory beside the text and the result, however the text is escaped. Every allocation of
// the program is counted.

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "core/filecoin/format/c1_reader.h"
#include "tests/unit/filecoin/samples.h"

namespace {

std::atomic<size_t> live = 0, peak = 0;

void* Count(void* data) {
  if (data == nullptr) std::abort();
  const size_t now = live += malloc_usable_size(data);
  size_t seen = peak;
  while (seen < now && !peak.compare_exchange_weak(seen, now)) {
  }
  return data;
}

void Forget(void* data) {
  if (data == nullptr) return;
  live -= malloc_usable_size(data);
  std::free(data);
}

}  // namespace

void* operator new(size_t size) { return Count(std::malloc(size)); }
void* operator new[](size_t size) { return Count(std::malloc(size)); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Count(std::malloc(size)); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Count(std::malloc(size)); }
void operator delete(void* data) noexcept { Forget(data); }
void operator delete[](void* data) noexcept { Forget(data); }
void operator delete(void* data, size_t) noexcept { Forget(data); }
void operator delete[](void* data, size_t) noexcept { Forget(data); }

namespace cuzk::filecoin {
namespace {

/// The most that was allocated at once while the text was read.
size_t PeakOfReading(std::string_view text) {
  const size_t before = live;
  peak = before;
  auto c1 = ReadC1(text);
  EXPECT_TRUE(c1.ok()) << c1.status();
  return peak - before;
}

/// The same text with one character of each few of its base64 escaped.
std::string Escaped(const std::string& text, size_t every) {
  const size_t begin = text.find("\"Phase1Out\":\"") + 13, end = text.find('"', begin);
  std::string out = text.substr(0, begin);
  for (size_t i = begin; i < end; ++i) {
    const auto code = static_cast<uint8_t>(text[i]);
    if (text[i] == '/') {
      out += "\\/";
    } else if (i % every == 0) {
      out += StrCat("\\u00", ToHex({&code, 1}));
    } else {
      out += text[i];
    }
  }
  return out + text.substr(end);
}

TEST(C1Memory, EscapesTakeNoFurtherCopy) {
  const std::string text = testing_support::Recorded("porep/2KiB-v1_1-1000-84").request.vanilla_proof;
  ASSERT_GT(text.size(), size_t{100} << 10);
  const size_t plain = PeakOfReading(text);
  EXPECT_LT(plain, text.size() / 2 + (128 << 10));
  for (size_t every : {1, 2, 7, 1000, 4096}) {
    EXPECT_LT(PeakOfReading(Escaped(text, every)), plain + (32 << 10)) << every;
  }
}

TEST(C1Memory, EscapedBase64IsReadAsStrictly) {
  const std::string text = testing_support::Recorded("porep/2KiB-v1_1-1000-84").request.vanilla_proof;
  const auto plain = ReadC1(text);
  const std::string escaped = Escaped(text, 50);
  const auto read = ReadC1(escaped);
  ASSERT_TRUE(plain.ok() && read.ok());
  EXPECT_EQ(read->vanilla.comm_r, plain->vanilla.comm_r);
  EXPECT_EQ(read->vanilla.ticket, plain->vanilla.ticket);
  EXPECT_EQ(read->vanilla.partitions.size(), plain->vanilla.partitions.size());
  const size_t begin = escaped.find("\"Phase1Out\":\"") + 13, end = escaped.find('"', begin);
  for (size_t at : {begin, begin + 4096, (begin + end) / 2, end - 1}) {
    for (const char* wrong : {"!", "=", "\\n", "\\u00e9", "A", "\\x", "\\u12", "\x01"}) {
      std::string bad = escaped;
      // Between two characters, not inside of an escape.
      size_t place = at;
      while (place > begin && bad.substr(place - 6, 6).find('\\') != std::string::npos) --place;
      bad.insert(place, wrong);
      EXPECT_FALSE(ReadC1(bad).ok()) << wrong << " at " << place;
    }
  }
}

}  // namespace
}  // namespace cuzk::filecoin
