#include "daemon/app/watch/supervisor.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "core/base/check.h"
#include "core/base/text.h"

namespace cuzk::daemon {
namespace {

using std::chrono::microseconds;
using ::testing::Eq;
using ::testing::Optional;
using ::testing::StartsWith;

// Systemd's end of the socket, in a folder or in the abstract namespace ('@' first); $NOTIFY_SOCKET names it.
class Systemd {
 public:
  explicit Systemd(const std::string& name) : descriptor_(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    CUZK_CHECK(bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), length) == 0);
    CUZK_CHECK(setenv("NOTIFY_SOCKET", name.c_str(), 1) == 0);
  }
  ~Systemd() {
    unsetenv("NOTIFY_SOCKET");
    close(descriptor_);
  }
  // The next datagram, empty if there is none: a datagram is there once it is sent.
  std::string Receive() {
    std::array<char, 4096> bytes{};
    const ssize_t size = recv(descriptor_, bytes.data(), bytes.size(), 0);
    return size < 0 ? "" : std::string(bytes.data(), static_cast<size_t>(size));
  }

 private:
  const int descriptor_;
};

TEST(Supervisor, SendsToASocketWithAPath) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / StrCat("cuzk-supervisor-", getpid());
  std::filesystem::create_directory(folder);
  {
    Systemd systemd((folder / "notify").string());
    Supervisor supervisor;
    supervisor.Ready();
    supervisor.Say("serving\n2");
    supervisor.Say("serving\n2");
    supervisor.Extend(microseconds(1500));
    supervisor.Reloading();
    supervisor.Stopping();
    supervisor.Ping();
    EXPECT_EQ(systemd.Receive(), "READY=1");
    EXPECT_EQ(systemd.Receive(), "STATUS=serving\\n2");
    EXPECT_EQ(systemd.Receive(), "EXTEND_TIMEOUT_USEC=1500");
    EXPECT_THAT(systemd.Receive(), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
    EXPECT_EQ(systemd.Receive(), "STOPPING=1");
    EXPECT_EQ(systemd.Receive(), "WATCHDOG=1");
    EXPECT_EQ(systemd.Receive(), "");
  }
  std::filesystem::remove_all(folder);
}

TEST(Supervisor, SendsToASocketInTheAbstractNamespace) {
  Systemd systemd(StrCat("@cuzk-supervisor-", getpid()));
  Supervisor().Ready();
  EXPECT_EQ(systemd.Receive(), "READY=1");
}

TEST(Supervisor, AnswersTheWatchdogWithoutAFreeDescriptor) {
  Systemd systemd(StrCat("@cuzk-supervisor-", getpid()));
  Supervisor supervisor;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  supervisor.Ping();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(systemd.Receive(), "WATCHDOG=1");
}

TEST(Supervisor, GoesOnWhereNothingListens) {
  for (const std::string& name : {std::string(), std::string("/nowhere/at/all"), std::string("relative"),
                                  std::string("vsock:2:1"), StrCat("/", std::string(4096, 'x'))}) {
    ASSERT_EQ(setenv("NOTIFY_SOCKET", name.c_str(), 1), 0);
    Supervisor().Ready();
  }
  unsetenv("NOTIFY_SOCKET");
  Supervisor().Ready();
}

TEST(Supervisor, WatchdogIsForTheProcessThatItNames) {
  unsetenv("WATCHDOG_USEC");
  unsetenv("WATCHDOG_PID");
  EXPECT_THAT(Supervisor::WatchdogInterval(), Eq(std::nullopt));
  setenv("WATCHDOG_USEC", "30000000", 1);
  EXPECT_THAT(Supervisor::WatchdogInterval(), Optional(microseconds(30'000'000)));
  setenv("WATCHDOG_PID", StrCat(getpid()).c_str(), 1);
  EXPECT_THAT(Supervisor::WatchdogInterval(), Optional(microseconds(30'000'000)));
  for (const char* other : {"1", "", "self"}) {
    setenv("WATCHDOG_PID", other, 1);
    EXPECT_THAT(Supervisor::WatchdogInterval(), Eq(std::nullopt)) << other;
  }
  unsetenv("WATCHDOG_PID");
  for (const char* wrong : {"0", "", "-1", "1s", " 5", "99999999999999999999", "18446744073709551615"}) {
    setenv("WATCHDOG_USEC", wrong, 1);
    EXPECT_THAT(Supervisor::WatchdogInterval(), Eq(std::nullopt)) << wrong;
  }
  unsetenv("WATCHDOG_USEC");
}

}  // namespace
}  // namespace cuzk::daemon
