#include "daemon/sockets/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "core/base/file.h"

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;
using Kind = Address::Kind;

TEST(AddressTest, EveryFormOfGrpcIsRead) {
  struct Row {
    const char* text;
    Kind kind;
    const char* target;
    bool local;
  };
  for (const Row& row :
       {Row{"unix:/run/cuzkd/cuzkd.sock", Kind::kUnixPath, "unix:/run/cuzkd/cuzkd.sock", true},
        Row{"unix:///run/curio/cuzk.sock", Kind::kUnixPath, "unix:/run/curio/cuzk.sock", true},
        Row{"unix:relative.sock", Kind::kUnixPath, "unix:relative.sock", true},
        Row{"unix-abstract:cuzkd", Kind::kUnixAbstract, "unix-abstract:cuzkd", true},
        Row{"127.0.0.1:9820", Kind::kTcp, "127.0.0.1:9820", true}, Row{"localhost:0", Kind::kTcp, "localhost:0", true},
        Row{"[::1]:9820", Kind::kTcp, "[::1]:9820", true},
        Row{"[2001:db8::1]:9820", Kind::kTcp, "[2001:db8::1]:9820", false},
        Row{"0.0.0.0:9820", Kind::kTcp, "0.0.0.0:9820", false},
        Row{"dns:///prover.example:65535", Kind::kTcp, "prover.example:65535", false}}) {
    StatusOr<Address> address = ParseAddress(row.text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->kind, row.kind) << row.text;
    EXPECT_EQ(address->Target(), row.target);
    EXPECT_EQ(address->IsLocal(), row.local) << row.text;
  }
}

TEST(AddressTest, MistakesAreRefused) {
  std::string long_path = "unix:/" + std::string(107, 'a');
  for (const std::string& text : {std::string(""), std::string("localhost"), std::string(":9820"), std::string("host:"),
                                  std::string("host:65536"), std::string("host:99999999999"), std::string("host:-1"),
                                  std::string("::1:9820"), std::string("unix:"), std::string("unix://run/x"),
                                  std::string("tcp://host:1"), std::string("http://host:1"), long_path}) {
    EXPECT_FALSE(ParseAddress(text).ok()) << text;
  }
  EXPECT_THAT(std::string(ParseAddress(long_path).status().message()), HasSubstr("107"));
  EXPECT_EQ(ParseAddresses("unix:a,127.0.0.1:1")->size(), 2u);
  EXPECT_FALSE(ParseAddresses("unix:a,").ok());
}

class SocketPathTest : public ::testing::Test {
 protected:
  SocketPathTest() {
    char name[] = "/tmp/cuzkd-socket-XXXXXX";
    folder_ = mkdtemp(name);
    path_ = folder_ / "s";
  }
  ~SocketPathTest() override {
    if (fd_ >= 0) close(fd_);
    std::filesystem::remove_all(folder_);
  }
  void Bind() {
    fd_ = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strcpy(name.sun_path, path_.c_str());
    ASSERT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
  }
  std::filesystem::path folder_, path_;
  int fd_ = -1;
};

TEST_F(SocketPathTest, AFreePathIsFine) { EXPECT_TRUE(CheckSocketPath(path_).ok()); }

TEST_F(SocketPathTest, ASocketThatNobodyAnswersIsReplaced) {
  Bind();
  EXPECT_TRUE(CheckSocketPath(path_).ok());
}

TEST_F(SocketPathTest, ASocketThatSomebodyAnswersIsNot) {
  Bind();
  ASSERT_EQ(listen(fd_, 1), 0);
  const Status taken = CheckSocketPath(path_);
  EXPECT_TRUE(absl::IsAborted(taken)) << taken;
  EXPECT_THAT(std::string(taken.message()), HasSubstr("another process answers"));
}

TEST_F(SocketPathTest, ASocketIsRemovedByWhoBoundIt) {
  Bind();
  BoundSocket(path_).Remove();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SocketPathTest, ASocketThatIsAnothersByNowStays) {
  Bind();
  BoundSocket first(path_);
  std::filesystem::remove(path_);
  close(fd_);
  Bind();  // a file system that gives numbers again would give the first one's
  first.Remove();
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(SocketPathTest, AFileIsNeverRemoved) {
  ASSERT_TRUE(WriteFile(path_, AsBytes("precious")).ok());
  EXPECT_THAT(std::string(CheckSocketPath(path_).message()), HasSubstr("is not a socket"));
}

TEST_F(SocketPathTest, AMissingFolderIsNamed) {
  EXPECT_THAT(std::string(CheckSocketPath(folder_ / "no" / "s").message()), HasSubstr((folder_ / "no").string()));
}

}  // namespace
}  // namespace cuzk::daemon
