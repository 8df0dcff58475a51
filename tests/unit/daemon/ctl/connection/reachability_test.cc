#include "daemon/ctl/connection/reachability.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/text.h"
#include "daemon/ctl/connection/unit_state.h"
#include "tests/unit/groth16/scratch_dir.h"

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;

/// A port that answers every connection with a text, after it has read something.
class Answering {
 public:
  explicit Answering(std::string_view answer) : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&name), size), 0);
    EXPECT_EQ(listen(listener_, 8), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&name), &size), 0);
    port_ = ntohs(name.sin_port);
    thread_ = std::jthread([this, answer = std::string(answer)] {
      for (int client; (client = accept(listener_, nullptr, nullptr)) >= 0; close(client)) {
        char heard[64];
        if (read(client, heard, sizeof heard) > 0 && !answer.empty()) {
          EXPECT_EQ(write(client, answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
        }
      }
    });
  }
  ~Answering() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  Address address() const { return {.kind = Address::Kind::kTcp, .host = "127.0.0.1", .port = port_}; }

 private:
  int listener_;
  unsigned port_ = 0;
  std::jthread thread_;
};

Address Socket(const std::filesystem::path& path) { return {.kind = Address::Kind::kUnixPath, .path = path.string()}; }

TEST(ReachabilityTest, SocketsThatAreNotThereOrLeftOver) {
  testing_support::ScratchDir scratch;
  const ReachOptions options{.root = scratch / "root"};
  std::optional<Unreachable> found = FindUnreachable(Socket(scratch / "s"), options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->said, StrCat("there is no socket ", (scratch / "s").string()));
  EXPECT_THAT(found->advice, HasSubstr("systemctl start cuzkd"));
  EXPECT_FALSE(found->other_protocol);

  std::ofstream(scratch / "file") << "x";
  EXPECT_THAT(FindUnreachable(Socket(scratch / "file"), options)->said, HasSubstr("is not a socket"));

  const int left = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string path = scratch / "left";
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(bind(left, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  EXPECT_THAT(FindUnreachable(Socket(path), options)->said, HasSubstr("no daemon listens at the socket"));
  ASSERT_EQ(listen(left, 1), 0);
  EXPECT_FALSE(FindUnreachable(Socket(path), options));
  close(left);
}

TEST(ReachabilityTest, PortsOfOtherProtocols) {
  const Answering http("HTTP/1.1 400 Bad Request\r\n\r\n"), alert("\x15\x03\x01"), other("220 smtp ready\r\n");
  const Answering grpc(std::string_view("\0\0\x06\4\0\0\0\0\0\0\4\0\0\0\0", 15));
  std::optional<Unreachable> found = FindUnreachable(http.address(), {});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->said, HasSubstr("speaks HTTP/1, not gRPC"));
  EXPECT_THAT(found->advice, HasSubstr("http.listen"));
  EXPECT_TRUE(found->other_protocol);
  EXPECT_THAT(FindUnreachable(alert.address(), {})->said, HasSubstr("uses TLS"));
  EXPECT_THAT(FindUnreachable(other.address(), {})->said, HasSubstr("does not speak gRPC"));
  EXPECT_FALSE(FindUnreachable(grpc.address(), {}));
}

TEST(ReachabilityTest, NamesAndPortsThatAreNotThere) {
  unsigned closed = 0;
  { closed = Answering("").address().port; }
  Address address{.kind = Address::Kind::kTcp, .host = "127.0.0.1", .port = closed};
  EXPECT_EQ(FindUnreachable(address, {})->said, StrCat("nothing listens at 127.0.0.1:", closed));
  address.host = "prover.invalid";
  EXPECT_THAT(FindUnreachable(address, {})->said, HasSubstr("the name prover.invalid cannot be resolved"));
}

TEST(UnitStateTest, TheControlGroupAndTheUnitFileTell) {
  testing_support::ScratchDir scratch;
  const std::filesystem::path root = scratch / "root";
  EXPECT_EQ(StateOfUnit(root), UnitState::kUnknown);
  std::filesystem::create_directories(root / "run/systemd/system");
  EXPECT_EQ(StateOfUnit(root), UnitState::kNotInstalled);
  std::filesystem::create_directories(root / "lib/systemd/system");
  std::ofstream(root / "lib/systemd/system/cuzkd.service") << "[Unit]\n";
  EXPECT_EQ(StateOfUnit(root), UnitState::kStopped);
  EXPECT_THAT(StartAdvice(UnitState::kStopped), HasSubstr("not running: systemctl start cuzkd"));
  const std::filesystem::path group = root / "sys/fs/cgroup/system.slice/cuzkd.service";
  std::filesystem::create_directories(group);
  std::ofstream(group / "cgroup.procs") << "";
  EXPECT_EQ(StateOfUnit(root), UnitState::kStopped);
  std::ofstream(group / "cgroup.procs") << "4242\n";
  EXPECT_EQ(StateOfUnit(root), UnitState::kRunning);
  EXPECT_THAT(StartAdvice(UnitState::kRunning), HasSubstr("setting listen"));
}

}  // namespace
}  // namespace cuzk::daemon
