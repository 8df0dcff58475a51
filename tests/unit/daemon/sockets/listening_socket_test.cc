#include "daemon/sockets/listening_socket.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;

TEST(ListeningSocketTest, AFreePortIsGivenAndTold) {
  StatusOr<ListeningSocket> listening = Listen(*ParseAddress("localhost:0"), 0, "listen");
  ASSERT_TRUE(listening.ok()) << listening.status();
  EXPECT_NE(listening->address.port, 0u);
  EXPECT_FALSE(listening->sockets.empty());
}

TEST(ListeningSocketTest, APortThatIsTakenIsNamedWithItsHolder) {
  StatusOr<ListeningSocket> first = Listen(*ParseAddress("127.0.0.1:0"), 0, "listen");
  ASSERT_TRUE(first.ok());
  const Status taken = Listen(first->address, 0, "http.listen").status();
  EXPECT_TRUE(absl::IsAborted(taken)) << taken;
  const std::string text(taken.message());
  EXPECT_THAT(text, HasSubstr(StrCat("http.listen: cannot listen on 127.0.0.1:", first->address.port, ": process ",
                                     getpid(), " (")));
  EXPECT_THAT(text, HasSubstr(") listens there"));
  first = absl::CancelledError();
  EXPECT_TRUE(Listen(*ParseAddress("127.0.0.1:0"), 0, "listen").ok());
}

TEST(ListeningSocketTest, AnAddressOfAnotherMachineMayComeLater) {
  const Status status = Listen(*ParseAddress("192.0.2.1:0"), 0, "listen").status();
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("192.0.2.1:0"));
}

TEST(ListeningSocketTest, ASocketFileHasItsModeAndReplacesOneThatIsNotServed) {
  char name[] = "/tmp/cuzkd-listen-XXXXXX";
  const std::filesystem::path folder = mkdtemp(name);
  const Address address = *ParseAddress(StrCat("unix:", (folder / "s").string()));
  {
    StatusOr<ListeningSocket> first = Listen(address, 0640, "listen");
    ASSERT_TRUE(first.ok()) << first.status();
    struct stat info {};
    ASSERT_EQ(stat(address.path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0640u);
    EXPECT_TRUE(absl::IsAborted(Listen(address, 0640, "listen").status()));
  }
  EXPECT_TRUE(Listen(address, 0600, "listen").ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cuzk::daemon
