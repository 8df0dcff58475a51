// A folder of payloads on a disk that fails: readdir and remove are this program's own, and fail when a test says so.

#include <dirent.h>
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "core/base/file.h"
#include "core/store/payload.h"
#include "tests/unit/groth16/scratch_dir.h"

namespace {

/// So many calls succeed, and the next one fails. Negative: all succeed.
int entries_before_failure = -1;
/// The name of the file that cannot be deleted.
std::string undeletable;

}  // namespace

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the names are the system's.
extern "C" __attribute__((visibility("default"))) dirent* readdir(DIR* directory) {
  static const auto real = reinterpret_cast<dirent* (*)(DIR*)>(dlsym(RTLD_NEXT, "readdir"));
  if (entries_before_failure >= 0 && entries_before_failure-- == 0) {
    errno = EIO;
    return nullptr;
  }
  return real(directory);
}

extern "C" __attribute__((visibility("default"))) int remove(const char* path) {
  static const auto real = reinterpret_cast<int (*)(const char*)>(dlsym(RTLD_NEXT, "remove"));
  if (!undeletable.empty() && std::string(path).ends_with(undeletable)) {
    errno = EIO;
    return -1;
  }
  return real(path);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

namespace cuzk::store {
namespace {

using testing::HasSubstr;

class PayloadFaultsTest : public testing::Test {
 protected:
  PayloadFaultsTest() {
    for (int row = 1; row <= 4; ++row) EXPECT_TRUE(WriteFile(PathOf(row), AsBytes("eight by")).ok());
  }
  ~PayloadFaultsTest() override {
    entries_before_failure = -1;
    undeletable.clear();
  }
  std::filesystem::path PathOf(int row) const { return scratch_ / StrCat(row, ".payload"); }

  testing_support::ScratchDir scratch_;
  PayloadFiles files_{scratch_.path()};
};

TEST_F(PayloadFaultsTest, AFolderThatCannotBeReadToItsEndIsAnError) {
  // "." and ".." are entries as well: the folder fails at its first entry, in the midst, and behind the last one.
  for (int entries = 0; entries <= 6; ++entries) {
    entries_before_failure = entries;
    const Status status = files_.DeleteAllBut({1, 2, 3, 4});
    EXPECT_EQ(entries_before_failure, -1) << "the failure was not met";
    EXPECT_FALSE(status.ok()) << entries;
    EXPECT_THAT(std::string(status.message()), HasSubstr(scratch_.path().string()));
  }
  entries_before_failure = -1;
  EXPECT_TRUE(files_.DeleteAllBut({1, 2, 3, 4}).ok());
  EXPECT_EQ(files_.bytes(), 32u);
}

TEST_F(PayloadFaultsTest, AFileThatCannotBeDeletedIsCountedWhereverItIsInTheFolder) {
  for (int row = 1; row <= 4; ++row) {
    undeletable = PathOf(row).filename();
    std::set<int64_t> others{1, 2, 3, 4};
    others.erase(row);
    EXPECT_TRUE(files_.DeleteAllBut(others).ok()) << row;
    EXPECT_EQ(files_.bytes(), 32u);
    EXPECT_TRUE(std::filesystem::exists(PathOf(row)));
  }
}

}  // namespace
}  // namespace cuzk::store
