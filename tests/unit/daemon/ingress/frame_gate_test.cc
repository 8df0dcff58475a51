#include "daemon/ingress/frame_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "daemon/ingress/http2_frames.h"

namespace cuzk::daemon {
namespace {

using namespace http2;  // NOLINT: its names are those of the RFC
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr int kNumber = 12;

struct Frame {
  uint8_t type = 0, flags = 0;
  uint32_t stream = 0;
  std::string payload;
};

std::vector<Frame> FramesIn(std::string& bytes) {
  std::vector<Frame> frames;
  std::string_view left = bytes;
  if (left.starts_with(kPreface)) left.remove_prefix(kPreface.size());
  while (left.size() >= kHeadBytes) {
    const uint32_t size = ReadNumber(left.substr(0, 3));
    frames.push_back({static_cast<uint8_t>(left[3]), static_cast<uint8_t>(left[4]), ReadNumber(left.substr(5, 4)),
                      std::string(left.substr(kHeadBytes, size))});
    left.remove_prefix(kHeadBytes + size);
  }
  EXPECT_THAT(left, IsEmpty());
  bytes.clear();
  return frames;
}

std::string Made(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string bytes;
  AppendFrame(bytes, type, flags, stream, payload);
  return bytes;
}

std::string Headers(size_t value = 5) {
  std::string block("\0\4name", 6);
  block.push_back(static_cast<char>(value));
  return block + std::string(value, 'v');
}

std::string Message(size_t length) {
  return std::string(1, '\0') + Number(static_cast<uint32_t>(length)) + std::string(length, 'm');
}

class FrameGateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EXPECT_TRUE(Client(std::string(kPreface) + Made(kSettings, 0, 0, "")).ok());
    FramesIn(gate_.to_server());
  }
  Status Client(const std::string& bytes) { return gate_.FromClient(bytes, now_); }
  Status Open(uint32_t stream) { return Client(Made(kHeaders, kEndHeaders, stream, Headers())); }
  void Server(const std::string& bytes) { gate_.FromServer(bytes); }
  /// The data of a call that gRPC sees, and whether it ended.
  std::string Data(uint32_t stream, bool* ended = nullptr) {
    std::string data;
    for (const Frame& frame : FramesIn(gate_.to_server())) {
      if (frame.type != kData || frame.stream != stream) continue;
      data += frame.payload;
      if (ended != nullptr) *ended = (frame.flags & kEndStream) != 0;
    }
    return data;
  }
  uint32_t GoAwayCode() {
    for (const Frame& frame : FramesIn(gate_.to_client())) {
      if (frame.type == kGoAway) return ReadNumber(std::string_view(frame.payload).substr(4, 4));
    }
    return 0;
  }

  FrameGate::Time now_{std::chrono::hours(1)};
  IngressMemory memory_{64 * kMiB};
  FrameGate gate_{{.memory = &memory_, .max_message = 16 * kMiB}, kNumber, now_};
};

TEST_F(FrameGateTest, WhatIsInOrderPassesByteForByteHoweverItIsCut) {
  const std::string call = Made(kHeaders, kEndHeaders, 1, Headers()) + Made(kData, kEndStream, 1, Message(300)) +
                           Made(kPing, 0, 0, "12345678") + Made(kWindowUpdate, 0, 0, Number(9));
  for (char byte : call) EXPECT_TRUE(Client(std::string(1, byte)).ok());
  bool ended = false;
  std::string seen = gate_.to_server();
  EXPECT_EQ(Data(1, &ended), Message(300));
  EXPECT_TRUE(ended);
  EXPECT_THAT(seen, StartsWith(Made(kHeaders, kEndHeaders, 1, Headers())));
  EXPECT_THAT(seen, HasSubstr(Made(kPing, 0, 0, "12345678")));
  EXPECT_THAT(gate_.to_client(), IsEmpty());
}

TEST_F(FrameGateTest, AMessageCountsUntilItsCallEnds) {
  ASSERT_TRUE(Open(1).ok());
  const uint64_t open = memory_.in_use();
  EXPECT_GT(open, OpenCalls::kCallBytes);
  ASSERT_TRUE(Client(Made(kData, 0, 1, Message(1000).substr(0, 100))).ok());
  EXPECT_EQ(memory_.in_use(), open + 2000 + IngressMemory::kMessageBytes);  // by its length, not by what has come
  Server(Made(kHeaders, kEndHeaders | kEndStream, 1, "trailers"));
  EXPECT_EQ(memory_.in_use(), 0u);
  EXPECT_THAT(FramesIn(gate_.to_client()), ::testing::SizeIs(1));
}

// gRPC has closed its end, and the client's frames have no reader.
TEST_F(FrameGateTest, NothingCountsAnyMoreOnceItIsForgotten) {
  ASSERT_TRUE(Open(1).ok());
  gate_.Forget();
  ASSERT_TRUE(Open(3).ok());
  ASSERT_TRUE(Client(Made(kData, 0, 3, Message(1000).substr(0, 100))).ok());
  EXPECT_EQ(memory_.in_use(), 0u);
}

TEST_F(FrameGateTest, AMessageThatIsTooLongIsReplacedByItsRefusal) {
  ASSERT_TRUE(Open(1).ok());
  FramesIn(gate_.to_server());
  std::string prefix = std::string(1, '\0') + Number(2'000'000'000);
  ASSERT_TRUE(Client(Made(kData, 0, 1, prefix.substr(0, 2))).ok());
  ASSERT_TRUE(Client(Made(kData, 0, 1, prefix.substr(2) + std::string(1000, 'x'))).ok());
  bool ended = false;
  const std::string seen = Data(1, &ended);
  EXPECT_TRUE(ended);
  ASSERT_GT(seen.size(), 7u);
  EXPECT_EQ(seen[kPrefixBytes], kRefusalMark);
  EXPECT_EQ(seen[kPrefixBytes + 1], static_cast<char>(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(seen, HasSubstr("message larger than max (2000000000 vs. 16777216)"));
  // The rest goes nowhere, and the connection's window stays what it was for the client.
  ASSERT_TRUE(Client(Made(kData, kEndStream, 1, std::string(5000, 'x'))).ok());
  EXPECT_THAT(gate_.to_server(), IsEmpty());
  uint64_t credit = 0;
  for (const Frame& frame : FramesIn(gate_.to_client())) {
    if (frame.type == kWindowUpdate && frame.stream == 0) credit += ReadNumber(frame.payload);
  }
  EXPECT_EQ(credit, prefix.size() + 1000 + 5000);
  // Once it is answered, the client hears that it need not send the rest.
  Server(Made(kHeaders, kEndHeaders | kEndStream, 1, "trailers"));
  const std::vector<Frame> told = FramesIn(gate_.to_client());
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1].type, kResetStream);
  EXPECT_EQ(memory_.in_use(), 0u);
}

TEST_F(FrameGateTest, AMessageWithoutRoomIsRefusedAndTheNextCallGoesOn) {
  ASSERT_TRUE(memory_.Arrive(99, 27 * kMiB));
  ASSERT_TRUE(Open(1).ok());
  ASSERT_TRUE(Client(Made(kData, 0, 1, Message(2 * kMiB).substr(0, 1000))).ok());
  EXPECT_THAT(Data(1), HasSubstr("no room for a message of 2097152 bytes"));
  ASSERT_TRUE(Open(3).ok());
  ASSERT_TRUE(Client(Made(kData, kEndStream, 3, Message(10))).ok());
  EXPECT_EQ(Data(3), Message(10));
}

TEST_F(FrameGateTest, ACallWithoutRoomIsResetSoThatItCanBeRepeated) {
  ASSERT_TRUE(memory_.Take(64 * kMiB - 100));
  ASSERT_TRUE(Open(1).ok());
  const std::vector<Frame> server = FramesIn(gate_.to_server());
  ASSERT_EQ(server.size(), 2u);  // the headers, which both tables of headers need, and their end
  EXPECT_EQ(server[1].type, kResetStream);
  const std::vector<Frame> client = FramesIn(gate_.to_client());
  ASSERT_EQ(client.size(), 1u);
  EXPECT_EQ(client[0].payload, Number(kRefusedStream));
}

TEST_F(FrameGateTest, RoomIsMadeByCallsThatWaitForTheirMessage) {
  int asked = 0;
  IngressMemory memory(kMiB);
  FrameGate waiting({.memory = &memory, .max_message = kMiB}, 1, now_);
  const std::string greeting = std::string(kPreface) + Made(kSettings, 0, 0, "");
  ASSERT_TRUE(waiting.FromClient(greeting, now_).ok());
  for (uint32_t stream = 1; waiting.to_client().empty(); stream += 2) {  // until one is reset
    ASSERT_TRUE(waiting.FromClient(Made(kHeaders, kEndHeaders, stream, Headers()), now_).ok());
  }
  EXPECT_GT(waiting.waiting_bytes(), kMiB - 2 * OpenCalls::kCallBytes);
  auto make_room = [&] {
    waiting.Forget();
    return ++asked < 2;
  };
  FrameGate other({.memory = &memory, .max_message = kMiB, .make_room = make_room}, 2, now_);
  ASSERT_TRUE(other.FromClient(greeting + Made(kHeaders, kEndHeaders, 1, Headers()), now_).ok());
  EXPECT_EQ(asked, 1);
  EXPECT_THAT(other.to_client(), IsEmpty());
  EXPECT_GT(other.waiting_bytes(), 0u);
  ASSERT_TRUE(other.FromClient(Made(kData, kEndStream, 1, Message(3)), now_).ok());
  EXPECT_EQ(other.waiting_bytes(), 0u);  // it waits for its answer now
}

TEST_F(FrameGateTest, HeadersThatDoNotEndEndTheConnection) {
  ASSERT_TRUE(Client(Made(kHeaders, 0, 1, Headers())).ok());
  Status status;
  size_t sent = 0;
  while (status.ok() && sent < kMiB) {
    status = Client(Made(kContinuation, 0, 1, std::string(16'000, 'a')));
    sent += 16'000;
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_LE(sent, 2 * FrameReader::kHeaderBlock);
  EXPECT_EQ(GoAwayCode(), kEnhanceYourCalm);
  EXPECT_THAT(gate_.to_server(), IsEmpty());
}

TEST_F(FrameGateTest, HeadersThatDecodeToMuchEndTheConnection) {
  // A field of 4,000 bytes goes into the table; each byte after that stands for it.
  std::string block("\x40\1n\x7F", 4);
  block += std::string("\xA1\x1E", 2) + std::string(4000, 'v');
  ASSERT_TRUE(Client(Made(kHeaders, kEndHeaders, 1, block)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Client(Made(kHeaders, kEndHeaders, 3, std::string(17, '\xBE')))));
}

TEST_F(FrameGateTest, BrokenFramesEndTheConnection) {
  for (const std::string& broken :
       {Made(kData, 0, 0, "x"), Made(kContinuation, kEndHeaders, 1, "x"), Made(kHeaders, kEndHeaders, 2, Headers()),
        Made(kHeaders, kEndHeaders, 1, "\x7F"), Made(kHeaders, kEndHeaders | kPadded, 1, "\xFFxx"),
        Made(kHeaders, kEndHeaders | kWithPriority, 1, "xx"), Made(kResetStream, 0, 1, "xx"),
        Made(kSettings, 0, 0, "xx"), Made(kPing, 0, 0, "xx"), Made(kWindowUpdate, 0, 0, "xx"),
        Made(kPushPromise, 0, 1, "xx"), Made(kData, kPadded, 1, "\5xx"), Made(kData, kPadded, 1, ""),
        Made(kHeaders, 0, 1, Headers()) + Made(kPing, 0, 0, "12345678"),
        Made(kPing, 0, 0, std::string(100'000, 'x'))}) {
    FrameGate gate({.memory = &memory_, .max_message = kMiB}, kNumber, now_);
    ASSERT_TRUE(gate.FromClient(std::string(kPreface) + Made(kSettings, 0, 0, ""), now_).ok());
    EXPECT_TRUE(absl::IsInvalidArgument(gate.FromClient(broken, now_)));
    EXPECT_FALSE(gate.to_client().empty());
  }
  FrameGate gate({.memory = &memory_, .max_message = kMiB}, kNumber, now_);
  EXPECT_TRUE(absl::IsInvalidArgument(gate.FromClient("GET / HTTP/1.1\r\n", now_)));
  EXPECT_THAT(gate.to_client(), IsEmpty());
}

TEST_F(FrameGateTest, PaddingIsTakenOutAndItsWindowGivenBack) {
  ASSERT_TRUE(Open(1).ok());
  ASSERT_TRUE(Client(Made(kData, kPadded, 1, std::string("\3", 1) + Message(4) + "ppp")).ok());
  ASSERT_TRUE(Client(Made(kData, kPadded | kEndStream, 1, std::string("\1p", 2))).ok());
  bool ended = false;
  EXPECT_EQ(Data(1, &ended), Message(4));
  EXPECT_TRUE(ended);
  uint64_t credit[2] = {0, 0};
  for (const Frame& frame : FramesIn(gate_.to_client())) credit[frame.stream] += ReadNumber(frame.payload);
  EXPECT_THAT(credit, ElementsAre(6, 6));
}

TEST_F(FrameGateTest, CrumbsAndControlFramesAreLimitedAndAllowedAgainLater) {
  auto flood = [&](const std::string& frame, int most) {
    int passed = 0;
    while (passed < most && Client(frame).ok()) ++passed;
    return passed;
  };
  EXPECT_EQ(flood(Made(kPing, 0, 0, "12345678"), 9000), 9000);
  now_ += std::chrono::seconds(20);
  EXPECT_EQ(flood(Made(kPing, 0, 0, "12345678"), 9000), 9000);
  EXPECT_LT(flood(Made(kPing, 0, 0, "12345678"), 5000), 2000);
  EXPECT_EQ(GoAwayCode(), kEnhanceYourCalm);
}

TEST_F(FrameGateTest, AMessageInCrumbsEndsTheConnection) {
  ASSERT_TRUE(Open(1).ok());
  ASSERT_TRUE(Client(Made(kData, 0, 1, Message(kMiB).substr(0, 5))).ok());
  int passed = 0;
  while (passed < 100'000 && Client(Made(kData, 0, 1, "m")).ok()) ++passed;
  EXPECT_LT(passed, FrameGate::kControlBurst + kMiB / OpenCalls::kSmallFrame + 100);
}

TEST_F(FrameGateTest, WhatTakesTooLongIsEnded) {
  ASSERT_TRUE(Open(1).ok());
  ASSERT_TRUE(Client(Made(kData, 0, 1, Message(kMiB).substr(0, 1000))).ok());
  ASSERT_TRUE(Open(3).ok());
  ASSERT_TRUE(Client(Made(kData, kEndStream, 3, Message(3))).ok());
  now_ += FrameGate::kPatience;
  EXPECT_TRUE(gate_.Tick(now_).ok());
  EXPECT_THAT(gate_.to_client(), IsEmpty());
  now_ += std::chrono::seconds(5);  // four of which the message has for its size
  EXPECT_TRUE(gate_.Tick(now_).ok());
  const std::vector<Frame> told = FramesIn(gate_.to_client());
  ASSERT_EQ(told.size(), 1u);  // the call that waits for its answer is not late
  EXPECT_EQ(told[0].stream, 1u);
  EXPECT_EQ(told[0].payload, Number(kEnhanceYourCalm));
  FrameGate silent({.memory = &memory_, .max_message = kMiB}, kNumber + 1, now_);
  EXPECT_TRUE(absl::IsResourceExhausted(silent.Tick(now_ + FrameGate::kPatience + std::chrono::seconds(1))));
}

TEST_F(FrameGateTest, NothingIsSaidWithinAFrameOrABlockOfTheServer) {
  ASSERT_TRUE(memory_.Take(64 * kMiB - 100));
  const std::string first = Made(kHeaders, 0, 7, "first"), second = Made(kContinuation, kEndHeaders, 7, "second");
  Server(first.substr(0, 12));
  ASSERT_TRUE(Open(1).ok());  // is reset
  EXPECT_EQ(gate_.to_client(), first.substr(0, 12));
  Server(first.substr(12));
  EXPECT_EQ(gate_.to_client(), first);
  Server(second);
  EXPECT_THAT(gate_.to_client(), StartsWith(first + second + Made(kResetStream, 0, 1, Number(kRefusedStream))));
}

TEST_F(FrameGateTest, TheEndOfTheGateReturnsEverything) {
  IngressMemory memory(64 * kMiB);
  {
    FrameGate gate({.memory = &memory, .max_message = kMiB}, kNumber, now_);
    ASSERT_TRUE(gate.FromClient(std::string(kPreface) + Made(kSettings, 0, 0, "") +
                                    Made(kHeaders, kEndHeaders, 1, Headers()) + Made(kData, 0, 1, Message(1000)),
                                now_)
                    .ok());
    EXPECT_GT(memory.in_use(), 0u);
  }
  EXPECT_EQ(memory.in_use(), 0u);
}

}  // namespace
}  // namespace cuzk::daemon
