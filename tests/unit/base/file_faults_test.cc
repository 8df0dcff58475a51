// Every call of the system that AtomicFile and InputFile make fails once. The program is linked with the calls wrapped
// (see CMakeLists.txt), so that a disk need not be full or broken for it.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "core/base/file.h"
#include "core/base/input_file.h"

namespace {

/// The call that fails once, and with what.
struct Injected {
  std::string call;
  int error = 0;
  int skip = 0;  // so many calls succeed first
  bool struck = false;
};
Injected injected;

bool Strikes(const char* call) {
  if (injected.error == 0 || injected.call != call || injected.skip-- > 0) return false;
  errno = std::exchange(injected.error, 0);
  injected.struck = true;
  return true;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's.
extern "C" {
int __real_mkostemp(char* name, int flags);
int __real_fchmod(int fd, mode_t mode);
ssize_t __real_write(int fd, const void* data, size_t size);
ssize_t __real_pwrite(int fd, const void* data, size_t size, off_t offset);
ssize_t __real_pread(int fd, void* data, size_t size, off_t offset);
int __real_fsync(int fd);
int __real_rename(const char* from, const char* to);
int __real_fallocate(int fd, int mode, off_t offset, off_t length);
int __real_fstat(int fd, struct stat* info);

int __wrap_mkostemp(char* name, int flags) { return Strikes("mkostemp") ? -1 : __real_mkostemp(name, flags); }
int __wrap_fchmod(int fd, mode_t mode) { return Strikes("fchmod") ? -1 : __real_fchmod(fd, mode); }
ssize_t __wrap_write(int fd, const void* data, size_t size) {
  if (Strikes("write")) return -1;
  // Short writes are the rule here.
  return __real_write(fd, data, size > 3 && fd > 2 ? size / 2 : size);
}
ssize_t __wrap_pwrite(int fd, const void* data, size_t size, off_t offset) {
  return Strikes("pwrite") ? -1 : __real_pwrite(fd, data, size > 3 ? size / 2 : size, offset);
}
ssize_t __wrap_pread(int fd, void* data, size_t size, off_t offset) {
  return Strikes("pread") ? -1 : __real_pread(fd, data, size > 3 ? size / 2 : size, offset);
}
int __wrap_fsync(int fd) { return Strikes("fsync") ? -1 : __real_fsync(fd); }
int __wrap_rename(const char* from, const char* to) { return Strikes("rename") ? -1 : __real_rename(from, to); }
int __wrap_fallocate(int fd, int mode, off_t offset, off_t length) {
  return Strikes("fallocate") ? -1 : __real_fallocate(fd, mode, offset, length);
}
int __wrap_fstat(int fd, struct stat* info) { return Strikes("fstat") ? -1 : __real_fstat(fd, info); }
}
// NOLINTEND(bugprone-reserved-identifier)

namespace cuzk {
namespace {

class FileFaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cuzk-faults-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = directory_ / "file";
  }
  void TearDown() override {
    injected = {};
    std::filesystem::remove_all(directory_);
  }
  /// Everything that AtomicFile can do.
  Status WriteTwice() {
    CUZK_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path_, 0600));
    CUZK_RETURN_IF_ERROR(file.Reserve(2000));
    CUZK_RETURN_IF_ERROR(file.Append(AsBytes(std::string(1000, 'a'))));
    CUZK_RETURN_IF_ERROR(file.Append(AsBytes(std::string(1000, 'b'))));
    CUZK_RETURN_IF_ERROR(file.WriteAt(500, AsBytes(std::string(1000, 'c'))));
    return file.Commit();
  }
  std::set<std::string> Names() const {
    std::set<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) out.insert(entry.path().filename());
    return out;
  }
  std::filesystem::path directory_;
  std::filesystem::path path_;
};

TEST_F(FileFaultsTest, ShortWritesAndInterruptionsAreGoneThrough) {
  for (const char* call : {"write", "pwrite"}) {
    injected = {call, EINTR, 1};
    ASSERT_TRUE(WriteTwice().ok());
    EXPECT_EQ(ReadFile(path_).value(), std::string(500, 'a') + std::string(1000, 'c') + std::string(500, 'b'));
  }
  injected = {"pread", EINTR, 1};
  EXPECT_EQ(ReadFile(path_)->size(), 2000u);
}

TEST_F(FileFaultsTest, EveryFailingCallIsAnErrorThatNamesTheFileAndLeavesTheOldOne) {
  ASSERT_TRUE(WriteFile(path_, AsBytes("old")).ok());
  struct Case {
    const char* call;
    int error, skip;
    absl::StatusCode code;
  };
  const Case cases[] = {{"mkostemp", EACCES, 0, absl::StatusCode::kPermissionDenied},
                        {"fchmod", EPERM, 0, absl::StatusCode::kPermissionDenied},
                        {"fallocate", ENOSPC, 0, absl::StatusCode::kResourceExhausted},
                        {"write", ENOSPC, 0, absl::StatusCode::kResourceExhausted},
                        {"write", EDQUOT, 1, absl::StatusCode::kResourceExhausted},
                        {"write", EFBIG, 2, absl::StatusCode::kResourceExhausted},
                        {"write", EIO, 7, absl::StatusCode::kInternal},
                        {"pwrite", ENOSPC, 1, absl::StatusCode::kResourceExhausted},
                        {"fsync", EIO, 0, absl::StatusCode::kInternal},
                        {"rename", EROFS, 0, absl::StatusCode::kInternal}};
  for (const Case& c : cases) {
    injected = {c.call, c.error, c.skip};
    Status status = WriteTwice();
    ASSERT_TRUE(injected.struck) << c.call;
    EXPECT_EQ(status.code(), c.code) << c.call << ": " << status;
    EXPECT_NE(status.message().find(path_.string()), std::string::npos) << status;
    EXPECT_NE(status.message().find(std::strerror(c.error)), std::string::npos) << status;
    EXPECT_EQ(ReadFile(path_).value(), "old") << c.call;
    EXPECT_EQ(Names(), std::set<std::string>{"file"}) << c.call;
  }
  injected = {};
  EXPECT_TRUE(WriteTwice().ok());
}

TEST_F(FileFaultsTest, WhereTheSystemCannotReserveNothingIsReserved) {
  injected = {"fallocate", EOPNOTSUPP, 0};
  EXPECT_TRUE(WriteTwice().ok());
  EXPECT_TRUE(injected.struck);
}

TEST_F(FileFaultsTest, AFolderThatCannotBeFlushedIsAnError) {
  injected = {"fsync", EIO, 1};
  Status status = WriteTwice();
  EXPECT_TRUE(injected.struck);
  EXPECT_NE(status.message().find(directory_.string()), std::string::npos) << status;
}

TEST_F(FileFaultsTest, FailingReadsNameTheFile) {
  ASSERT_TRUE(WriteTwice().ok());
  for (const char* call : {"fstat", "pread"}) {
    injected = {call, EIO, 0};
    Status status = ReadFile(path_).status();
    ASSERT_TRUE(injected.struck) << call;
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_NE(status.message().find(path_.string()), std::string::npos) << status;
  }
  InputFile file = [&] {
    injected = {};
    return InputFile::Open(path_).value();
  }();
  injected = {"fstat", EIO, 0};
  EXPECT_EQ(file.CheckUnchanged().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace cuzk
