#include "core/memory/detect.h"

#include <gtest/gtest.h>

#include <fstream>

namespace cuzk::memory {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

/// A folder that stands for "/".
class Root {
 public:
  Root() {
    std::string name = (std::filesystem::temp_directory_path() / "cuzk-detect-XXXXXX").string();
    path_ = mkdtemp(name.data());
    Write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:         1000000 kB\n");
  }
  ~Root() { std::filesystem::remove_all(path_); }
  void Write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text;
  }
  MemoryLimits Detect() const {
    auto limits = DetectMemory(path_);
    EXPECT_TRUE(limits.ok()) << limits.status();
    return limits.ok() ? *limits : MemoryLimits{};
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(Detect, MachineWithoutControlGroups) {
  Root root;
  MemoryLimits limits = root.Detect();
  EXPECT_EQ(limits.machine_bytes, 16384 * kMiB);
  EXPECT_EQ(limits.usable_bytes(), 16384 * kMiB);
  EXPECT_EQ(limits.cgroup_source, "");
}

TEST(Detect, Version2TakesTheSmallestLimitOnTheWayUp) {
  Root root;
  root.Write("proc/self/cgroup", "0::/system.slice/cuzkd.service\n");
  root.Write("sys/fs/cgroup/system.slice/cuzkd.service/memory.max", "max\n");
  root.Write("sys/fs/cgroup/system.slice/memory.max", "2147483648\n");
  root.Write("sys/fs/cgroup/memory.max", "4294967296\n");
  MemoryLimits limits = root.Detect();
  EXPECT_EQ(limits.usable_bytes(), 2048 * kMiB);
  EXPECT_TRUE(limits.cgroup_source.ends_with("system.slice/memory.max")) << limits.cgroup_source;
}

TEST(Detect, ContainerThatSeesItsGroupAsTheRoot) {
  Root root;
  root.Write("proc/self/cgroup", "0::/../../not-visible-here\n");
  root.Write("sys/fs/cgroup/memory.max", "1073741824\n");
  EXPECT_EQ(root.Detect().usable_bytes(), 1024 * kMiB);
}

TEST(Detect, Version1) {
  Root root;
  root.Write("proc/self/cgroup", "12:cpuset:/a\n5:cpu,memory:/docker/x\n1:name=systemd:/y\n");
  root.Write("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "536870912\n");
  root.Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(root.Detect().usable_bytes(), 512 * kMiB);
}

TEST(Detect, LimitAboveTheMachineIsNone) {
  Root root;
  root.Write("proc/self/cgroup", "0::/\n");
  root.Write("sys/fs/cgroup/memory.max", "9223372036854771712\n");
  EXPECT_EQ(root.Detect().cgroup_bytes, 0u);
}

TEST(Detect, UnreadableMachineIsAnError) {
  Root root;
  root.Write("proc/meminfo", "MemFree: 12 kB\n");
  EXPECT_TRUE(absl::IsInternal(DetectMemory(root.path()).status()));
}

TEST(Detect, ThisMachine) {
  auto limits = DetectMemory();
  ASSERT_TRUE(limits.ok()) << limits.status();
  EXPECT_GT(limits->usable_bytes(), 16 * kMiB);
  EXPECT_LT(DefaultBudget(*limits), limits->usable_bytes());
}

TEST(Detect, ReserveIsAnEighthWithinBounds) {
  EXPECT_EQ(DefaultReserve(256 * kMiB), 128 * kMiB);
  EXPECT_EQ(DefaultReserve(1024 * kMiB), 256 * kMiB);
  EXPECT_EQ(DefaultReserve(16384 * kMiB), 2048 * kMiB);
  EXPECT_EQ(DefaultReserve(1048576 * kMiB), 8192 * kMiB);
}

}  // namespace
}  // namespace cuzk::memory
