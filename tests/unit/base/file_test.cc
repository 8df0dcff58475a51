#include "core/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <vector>

#include "core/base/input_file.h"

namespace cuzk {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cuzk-file-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  size_t Entries() const {
    auto it = std::filesystem::directory_iterator(directory_);
    return static_cast<size_t>(std::distance(begin(it), end(it)));
  }
  std::filesystem::path directory_;
};

TEST_F(FileTest, AppearsOnlyWhenCommitted) {
  auto path = directory_ / "x";
  {
    auto file = AtomicFile::Create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Append(AsBytes("hello")).ok());
    EXPECT_FALSE(std::filesystem::exists(path));
    ASSERT_TRUE(file->WriteAt(0, AsBytes("J")).ok());
    ASSERT_TRUE(file->Commit().ok());
  }
  EXPECT_EQ(ReadFile(path).value(), "Jello");
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(FileTest, LinksStayAndTheirTargetsAreWritten) {
  ASSERT_TRUE(WriteFile(directory_ / "x", AsBytes("old")).ok());
  std::filesystem::create_directory(directory_ / "folder");
  std::filesystem::create_symlink("../x", directory_ / "folder" / "a");
  std::filesystem::create_symlink("folder/a", directory_ / "b");
  std::filesystem::create_symlink("y", directory_ / "dangling");
  for (auto [name, target] : {std::pair("b", "x"), std::pair("dangling", "y")}) {
    ASSERT_TRUE(CheckOutput(directory_ / name).ok());
    ASSERT_TRUE(WriteFile(directory_ / name, AsBytes("new")).ok());
    EXPECT_TRUE(std::filesystem::is_symlink(directory_ / name));
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(directory_ / target)));
    EXPECT_EQ(ReadFile(directory_ / target).value(), "new");
  }
  std::filesystem::create_symlink("loop", directory_ / "loop");
  EXPECT_FALSE(WriteFile(directory_ / "loop", AsBytes("new")).ok());
  EXPECT_EQ(Entries(), 6u);
}

TEST_F(FileTest, APipeIsWrittenIntoAndStays) {
  const auto pipe = directory_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", directory_ / "link");
  int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(CheckOutput(directory_ / "link").ok());
  ASSERT_TRUE(WriteFile(directory_ / "link", AsBytes("proof")).ok());
  char text[16] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 5);
  EXPECT_STREQ(text, "proof");
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(Entries(), 2u);
}

TEST_F(FileTest, AnOpenDescriptorIsWrittenWhereItStands) {
  const auto path = directory_ / "x";
  int fd = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(write(fd, "text ", 5), 5);
  // As /dev/stdout is.
  std::filesystem::create_symlink(StrCat("/proc/self/fd/", fd), directory_ / "out");
  ASSERT_TRUE(CheckOutput(directory_ / "out").ok());
  ASSERT_TRUE(WriteFile(directory_ / "out", AsBytes("proof")).ok());
  ASSERT_EQ(write(fd, " text", 5), 5);
  close(fd);
  EXPECT_EQ(ReadFile(path).value(), "text proof text");
  EXPECT_EQ(Entries(), 2u);
}

TEST_F(FileTest, WhatCannotBeWrittenIsKnownBefore) {
  for (const char* name : {"", "folder", "none/x", "none/"}) {
    std::filesystem::create_directory(directory_ / "folder");
    Status checked = CheckOutput(directory_ / name);
    EXPECT_FALSE(checked.ok()) << name;
    EXPECT_EQ(WriteFile(directory_ / name, AsBytes("x")), checked) << name;
  }
  EXPECT_EQ(CheckOutput(directory_).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckOutput(directory_ / "none" / "x").code(), absl::StatusCode::kNotFound);
  // Nor is what came there meanwhile replaced.
  AtomicFile file = AtomicFile::Create(directory_ / "y").value();
  ASSERT_EQ(mkfifo((directory_ / "y").c_str(), 0600), 0);
  EXPECT_EQ(file.Commit().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(std::filesystem::is_fifo(directory_ / "y"));
}

TEST_F(FileTest, LargerFilesThanAskedForAreRefused) {
  const auto path = directory_ / "sparse";
  std::ofstream(path) << "x";
  std::filesystem::resize_file(path, uint64_t{100} << 30);
  Status status = ReadFile(path, 1920).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  for (const char* part : {"sparse", "107374182400", "1920"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status;
  }
  EXPECT_EQ(ReadFile(path).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(FileTest, AbandonedFileLeavesNothing) {
  {
    auto file = AtomicFile::Create(directory_ / "x");
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Append(AsBytes("half")).ok());
  }
  EXPECT_EQ(Entries(), 0u);
}

TEST_F(FileTest, ErrorsNameThePath) {
  auto missing = ReadFile(directory_ / "none");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(missing.status().message().find("none"), std::string::npos);
  EXPECT_EQ(ReadFile(directory_).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(AtomicFile::Create(directory_ / "none" / "x").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(FileTest, ReadsAnywhere) {
  auto path = directory_ / "x";
  ASSERT_TRUE(WriteFile(path, AsBytes("0123456789")).ok());
  auto file = InputFile::Open(path);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size(), 10u);
  uint8_t three[3];
  ASSERT_TRUE(file->ReadAt(6, three).ok());
  EXPECT_EQ(std::string(three, three + 3), "678");
  EXPECT_TRUE(file->ReadAt(10, {}).ok());
  file->Announce(0, 10);
  EXPECT_TRUE(file->CheckUnchanged().ok());
  InputFile moved = *std::move(file);
  EXPECT_TRUE(moved.ReadAt(0, three).ok());
}

TEST_F(FileTest, EmptyFilesAreRead) {
  ASSERT_TRUE(WriteFile(directory_ / "e", {}).ok());
  EXPECT_EQ(ReadFile(directory_ / "e").value(), "");
}

TEST_F(FileTest, APipeIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(mkfifo((directory_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(InputFile::Open(directory_ / "pipe").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(FileTest, AFileThatWasCutGivesAnErrorAndNoSignal) {
  auto path = directory_ / "x";
  ASSERT_TRUE(WriteFile(path, AsBytes(std::string(100000, 'x'))).ok());
  auto file = InputFile::Open(path).value();
  std::filesystem::resize_file(path, 5000);
  std::vector<uint8_t> bytes(100000);
  EXPECT_TRUE(file.ReadAt(0, std::span(bytes).first(5000)).ok());
  Status status = file.ReadAt(0, bytes);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("it ends at byte 5000 and had 100000"), std::string::npos) << status;
  EXPECT_EQ(file.CheckUnchanged().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(FileTest, ChangesAreNoticed) {
  auto path = directory_ / "x";
  auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  auto fresh = [&] {
    EXPECT_TRUE(WriteFile(path, AsBytes("content")).ok());
    std::filesystem::last_write_time(path, old);
    return InputFile::Open(path).value();
  };
  InputFile file = fresh();
  std::ofstream(path, std::ios::in | std::ios::out) << "C";
  EXPECT_EQ(file.CheckUnchanged().code(), absl::StatusCode::kFailedPrecondition);
  file = fresh();
  std::ofstream(path, std::ios::app) << "!";
  std::filesystem::last_write_time(path, old);
  EXPECT_EQ(file.CheckUnchanged().code(), absl::StatusCode::kFailedPrecondition);
  // Another file under the name is none of this one's business.
  file = fresh();
  ASSERT_TRUE(WriteFile(path, AsBytes("another")).ok());
  EXPECT_TRUE(file.CheckUnchanged().ok());
  EXPECT_NE(file.identity(), InputFile::Open(path)->identity());
}

}  // namespace
}  // namespace cuzk
