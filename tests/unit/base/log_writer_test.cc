#include "core/base/log_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <deque>
#include <sstream>
#include <thread>

#include "core/base/log.h"
#include "core/base/text.h"

namespace cuzk {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

/// A pipe of one page whose reader does what the test says.
class Pipe {
 public:
  Pipe() {
    EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0);
    EXPECT_GT(fcntl(ends_[1], F_SETPIPE_SZ, 4096), 0);
  }
  ~Pipe() {
    CloseReader();
    close(ends_[1]);
  }
  int writing() const { return ends_[1]; }
  void CloseReader() {
    if (ends_[0] >= 0) close(ends_[0]);
    ends_[0] = -1;
  }
  void Fill() const {
    const std::string page(4096, '\n');
    EXPECT_EQ(write(writing(), page.data(), page.size()), 4096);
  }
  /// What is there now, or "" without waiting.
  std::string ReadNow() const {
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    return Read();
  }
  /// Waits for more until the text contains `last`.
  std::string ReadUntil(const std::string& last) const {
    std::string text;
    while (text.find(last) == std::string::npos) text += Read();
    return text;
  }

 private:
  std::string Read() const {
    std::array<char, 4096> bytes{};
    const ssize_t got = read(ends_[0], bytes.data(), bytes.size());
    return got <= 0 ? std::string() : std::string(bytes.data(), static_cast<size_t>(got));
  }
  std::array<int, 2> ends_{};
};

LogWriter::Options Options(const Pipe& pipe, std::chrono::milliseconds patience) {
  return {.descriptor = pipe.writing(),
          .dropped_line = [](uint64_t lines) { return StrCat("dropped ", lines, "\n"); },
          .most_bytes = 1000,
          .patience = patience};
}

constexpr std::chrono::milliseconds kShort{5};
constexpr std::chrono::minutes kLong{10};

TEST(LogWriterTest, ALineIsOutWhenTheCallReturns) {
  Pipe pipe;
  LogWriter writer(Options(pipe, kLong));
  for (int i = 0; i < 100; ++i) {
    writer.Write(StrCat("line ", i, "\n"));
    EXPECT_EQ(pipe.ReadNow(), StrCat("line ", i, "\n"));
  }
  EXPECT_EQ(writer.dropped(), 0u);
}

TEST(LogWriterTest, AReaderThatStandsStillCostsTheOldestLinesAndIsToldHowMany) {
  Pipe pipe;
  pipe.Fill();
  LogWriter writer(Options(pipe, kShort));
  constexpr uint64_t kLines = 1000;
  for (uint64_t i = 1; i <= kLines; ++i) writer.Write(StrCat("line ", i, "\n"));
  const uint64_t dropped = writer.dropped();
  EXPECT_GT(dropped, 0u);
  std::istringstream text(pipe.ReadUntil(StrCat("line ", kLines, "\n")));
  uint64_t seen = 0, told = 0, last = 0;
  for (std::string word; text >> word;) {
    uint64_t number = 0;
    text >> number;
    if (word == "dropped") told += number;
    if (word != "line") continue;
    EXPECT_GT(number, last) << "out of order";
    last = number;
    ++seen;
  }
  EXPECT_EQ(last, kLines);
  EXPECT_EQ(told, dropped);
  EXPECT_EQ(seen + told, kLines);
  EXPECT_EQ(writer.dropped(), dropped);
}

TEST(LogWriterTest, ItEndsWithAReaderThatStandsStill) {
  // Never closed: the thread that is left behind may write to its one until the process ends.
  static auto& pipes = *new std::deque<Pipe>;
  Pipe& pipe = pipes.emplace_back();
  pipe.Fill();
  {
    LogWriter writer(Options(pipe, kShort));
    for (int i = 0; i < 1000; ++i) writer.Write("line\n");
    EXPECT_GT(writer.dropped(), 0u);
  }
}

TEST(LogWriterTest, TheLastLinesAreWaitedFor) {
  Pipe pipe;
  pipe.Fill();
  std::string text;
  std::thread reader;
  {
    LogWriter::Options options = Options(pipe, kShort);
    options.patience = std::chrono::seconds(2);
    LogWriter writer(options);
    writer.Write("nobody took this in time\n");
    writer.Write("the last line\n");  // does not wait any more
    reader = std::thread([&] { text = pipe.ReadUntil("the last line\n"); });
  }
  reader.join();
  EXPECT_THAT(text, EndsWith("nobody took this in time\nthe last line\n"));
}

TEST(LogWriterTest, AReaderThatHasGoneCostsLinesOnly) {
  std::signal(SIGPIPE, SIG_IGN);  // as the daemon does
  Pipe pipe;
  pipe.CloseReader();
  LogWriter writer(Options(pipe, kLong));
  for (uint64_t i = 1; i <= 10; ++i) {
    writer.Write("line\n");
    EXPECT_EQ(writer.dropped(), i);
  }
}

TEST(LogWriterTest, ALoggerSaysWhatItDropped) {
  for (bool json : {false, true}) {
    Pipe pipe;
    pipe.Fill();
    Logger logger({.json = json, .descriptor = pipe.writing()});
    const std::string filler(1 << 20, 'x');
    logger.Info(filler);  // waits for nobody after this one
    logger.Info(filler);
    logger.Info(filler);
    EXPECT_GE(logger.dropped(), 1u);
    std::string text;
    while (text.find("log lines were dropped") == std::string::npos) text += pipe.ReadUntil("\n");
    EXPECT_THAT(text, HasSubstr(StrCat(json ? "\",\"level\":\"warning\",\"msg\":\"" : "warning ", logger.dropped(),
                                       " log lines were dropped because stderr was not read fast enough")));
    while (text.find("dropped") + filler.size() > text.size()) text += pipe.ReadNow();
  }
}

TEST(LogWriterTest, LastWordsWaitForNobody) {
  Pipe pipe;
  pipe.Fill();
  WriteWithin(pipe.writing(), "lost\n", kShort);
  EXPECT_EQ(pipe.ReadNow(), std::string(4096, '\n'));
  WriteWithin(pipe.writing(), "heard\n", kLong);
  EXPECT_EQ(pipe.ReadNow(), "heard\n");
}

}  // namespace
}  // namespace cuzk
