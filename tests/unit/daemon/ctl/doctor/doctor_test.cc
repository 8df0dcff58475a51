#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "core/base/text.h"
#include "core/filecoin/types/registry.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/ctl/doctor/finding.h"

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;
using Level = Finding::Level;
namespace fs = std::filesystem;

Settings With(std::vector<std::pair<std::string, std::string>> flags) {
  StatusOr<Settings> settings = Settings::Load({.flags = std::move(flags)});
  EXPECT_TRUE(settings.ok()) << settings.status();
  return *std::move(settings);
}

// A folder that stands for "/", or that a setting names.
class DoctorTest : public ::testing::Test {
 protected:
  DoctorTest() : root_(fs::path(::testing::TempDir()) / StrCat("doctor_", getpid())) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~DoctorTest() override { fs::remove_all(root_); }

  void Put(const std::string& name, std::string_view text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }

  Finding Only(const Findings& findings, std::string_view check) {
    for (const Finding& finding : findings) {
      if (finding.check == check) return finding;
    }
    ADD_FAILURE() << "no finding \"" << check << "\"";
    return {};
  }

  // A finding that is not ok says what to do.
  static void ExpectAdvice(const Findings& findings) {
    for (const Finding& finding : findings) {
      EXPECT_FALSE(finding.said.empty()) << finding.check;
      EXPECT_TRUE(finding.level == Level::kOk || !finding.advice.empty()) << finding.check;
    }
  }

  const fs::path root_;
};

TEST_F(DoctorTest, HugePages) {
  Put("proc/meminfo", "MemTotal:       536870912 kB\n");
  const std::string file = "sys/kernel/mm/transparent_hugepage/enabled";
  EXPECT_EQ(Only(CheckMachine(root_, With({})), "huge pages").level, Level::kWarn);
  Put(file, "always madvise [never]\n");
  Finding never = Only(CheckMachine(root_, With({})), "huge pages");
  EXPECT_EQ(never.level, Level::kWarn);
  EXPECT_THAT(never.advice, HasSubstr("madvise"));
  Put(file, "always [madvise] never\n");
  EXPECT_EQ(Only(CheckMachine(root_, With({})), "huge pages").level, Level::kOk);
}

TEST_F(DoctorTest, Memory) {
  EXPECT_EQ(Only(CheckMachine(root_, With({})), "memory").level, Level::kFail);  // no /proc/meminfo
  Put("proc/meminfo", "MemTotal:       536870912 kB\n");
  EXPECT_EQ(Only(CheckMachine(root_, With({})), "memory").level, Level::kOk);
  EXPECT_EQ(Only(CheckMachine(root_, With({{"memory.budget", "8GiB"}})), "memory").level, Level::kWarn);
  EXPECT_EQ(Only(CheckMachine(root_, With({{"memory.budget", "1TiB"}})), "memory").level, Level::kFail);
  ExpectAdvice(CheckMachine(root_, With({{"memory.budget", "1TiB"}})));
}

TEST_F(DoctorTest, LimitsOfTheDaemonElseOfTheShell) {
  Put("proc/self/limits",
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max locked memory         8388608              8388608              bytes     \n"
      "Max open files            1024                 524288               files     \n");
  Put("proc/77/limits",
      "Max locked memory         unlimited            unlimited            bytes     \n"
      "Max open files            1048576              1048576              files     \n");
  Findings shell = CheckLimits(root_, 0);
  EXPECT_EQ(Only(shell, "open files").level, Level::kWarn);
  EXPECT_EQ(Only(shell, "open files").said, "1024, of this shell");
  EXPECT_EQ(Only(shell, "locked memory").level, Level::kWarn);
  EXPECT_THAT(Only(shell, "locked memory").advice, HasSubstr("pinned"));
  ExpectAdvice(shell);
  Findings daemon = CheckLimits(root_, 77);
  EXPECT_EQ(Only(daemon, "open files").said, "1048576, of the daemon");
  EXPECT_EQ(Only(daemon, "open files").level, Level::kOk);
  EXPECT_EQ(Only(daemon, "locked memory").level, Level::kOk);
  EXPECT_EQ(Only(CheckLimits(root_, 78), "open files").said, "1024, of this shell");
  EXPECT_EQ(Only(CheckLimits(root_ / "nothing", 0), "limits").level, Level::kWarn);
}

TEST_F(DoctorTest, ParametersThatAreNotThere) {
  Settings nowhere = With({{"params.directory", (root_ / "nowhere").string()}});
  EXPECT_EQ(Only(CheckParameters(nowhere, false), "parameters").level, Level::kFail);
  Settings empty = With({{"params.directory", root_.string()}});
  Finding none = Only(CheckParameters(empty, false), "parameters for 32GiB sectors");
  EXPECT_EQ(none.level, Level::kFail);
  EXPECT_THAT(none.advice, HasSubstr("fetch-params 32GiB"));
  EXPECT_EQ(Only(CheckDisk(empty), "disk").level, Level::kOk);
  ExpectAdvice(CheckParameters(empty, false));
}

TEST_F(DoctorTest, AParameterFileThatIsCutIsFound) {
  const filecoin::Circuit* circuit = filecoin::FindCircuit("winning-32g");
  ASSERT_NE(circuit, nullptr);
  Put(circuit->params_file(), std::string(5000, 'x'));
  Settings settings = With({{"params.directory", root_.string()}});
  Findings findings = CheckParameters(settings, false);
  EXPECT_EQ(Only(findings, "parameters winning-32g").level, Level::kFail);
  // Some circuits of a size are there: the others are missed.
  Finding others = Only(findings, "parameters for 32GiB sectors");
  EXPECT_EQ(others.level, Level::kWarn);
  EXPECT_THAT(others.said, HasSubstr("porep-32g"));
  EXPECT_EQ(Only(findings, "parameters for 64GiB sectors").level, Level::kOk);
  EXPECT_THAT(Only(CheckDisk(settings), "disk").said, HasSubstr("MB/s"));
}

TEST_F(DoctorTest, TheStateDirectory) {
  auto state = [&](const std::string& folder) {
    return Only(CheckState(With({{"jobs.state_directory", folder}, {"jobs.stored", "1MiB"}})), "state directory");
  };
  EXPECT_EQ(state("").level, Level::kWarn);
  EXPECT_EQ(state((root_ / "nowhere").string()).level, Level::kOk);
  EXPECT_THAT(state((root_ / "nowhere").string()).advice, HasSubstr("first start"));
  chmod(root_.c_str(), 0755);
  EXPECT_EQ(state(root_.string()).level, Level::kFail);
  EXPECT_THAT(state(root_.string()).advice, HasSubstr("chmod 0700"));
  chmod(root_.c_str(), 0750);
  EXPECT_EQ(state(root_.string()).level, Level::kWarn);
  EXPECT_THAT(state(root_.string()).advice, HasSubstr("chmod 0700"));
  chmod(root_.c_str(), 0700);
  Finding writable = state(root_.string());
  EXPECT_EQ(writable.level, Level::kOk);
  EXPECT_THAT(writable.said, HasSubstr("writable"));
  EXPECT_TRUE(fs::is_empty(root_)) << "something was left";
  Settings greedy = With({{"jobs.state_directory", root_.string()}, {"jobs.stored", "1000000TiB"}});
  EXPECT_THAT(Only(CheckState(greedy), "state directory").said, HasSubstr("free"));
}

TEST_F(DoctorTest, TheStateDirectoryBelongsOnALocalDisk) {
  EXPECT_EQ(NetworkFileSystem(0x6969), "NFS");
  EXPECT_EQ(NetworkFileSystem(0xff534d42), "SMB");
  for (uint64_t local : {0xef53U, 0x58465342U, 0x01021994U, 0x9123683eU}) EXPECT_EQ(NetworkFileSystem(local), "");
}

TEST_F(DoctorTest, XidsInTheKernelsLog) {
  EXPECT_TRUE(CheckKernelLog(root_).empty());  // neither driver nor log
  Put("sys/module/nvidia/version", "580.65.06\n");
  EXPECT_THAT(Only(CheckKernelLog(root_), "errors of cards").said, HasSubstr("not checked"));
  // As drivers write them, among other records; continuation lines begin with a blank.
  Put("proc/uptime", "10000.25 39000.11\n");
  constexpr std::string_view kBoot =
      "6,1,0,-;Linux version 6.1.0-32-amd64\n"
      "4,812,9312345,-;NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.65.06\n"
      " SUBSYSTEM=pci\n DEVICE=+pci:0000:3b:00.0\n";
  Put("dev/kmsg", kBoot);
  EXPECT_EQ(Only(CheckKernelLog(root_), "errors of cards").said, "no Xid in the kernel's log");
  Put("dev/kmsg", StrCat(kBoot,
                         "3,1183,2500000000,-;NVRM: Xid (PCI:0000:3b:00): 31, pid=2113, name=cuzkd, Ch 00000008, intr "
                         "00000000. MMU Fault: ENGINE GRAPHICS faulted @ 0x7f_00000000.\n"
                         "3,1186,9970000000,-;NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has "
                         "fallen off the bus.\n"
                         "3,1187,9970000100,-;NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.\n"
                         "3,1190,1000000000,-;NVRM: Xid (PCI:0000:5e:00): 43, pid=99, name=python3, Ch 00000010\n"
                         "6,1191,9980000000,-;somebody: NVRM: Xid (nonsense\n"
                         "3,1192,9990000000,-;NVRM: Xid (PCI:0000:86:00): 171, Additional to Xid 48\n"));
  Findings findings = CheckKernelLog(root_);
  ExpectAdvice(findings);
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].level, Level::kWarn);
  EXPECT_EQ(findings[0].said, "PCI:0000:3b:00: 2 Xid, the last 30 s ago: 79, the card has fallen off the bus");
  EXPECT_THAT(findings[0].advice, HasSubstr("reboot"));
  EXPECT_EQ(findings[1].level, Level::kOk);  // a program's fault
  EXPECT_EQ(findings[1].said, "PCI:0000:5e:00: 1 Xid, the last 2 h ago: 43, a program's work was stopped");
  EXPECT_EQ(findings[2].level, Level::kWarn);  // unknown codes too
  EXPECT_THAT(findings[2].said, HasSubstr("171, see NVIDIA's catalogue"));
  // The driver may have been unloaded since.
  fs::remove_all(root_ / "sys");
  EXPECT_EQ(CheckKernelLog(root_).size(), 3u);
}

TEST_F(DoctorTest, ADaemonThatIsNotThere) {
  auto look = [&](const std::string& state) {
    return CheckDaemon(
        {.address = StrCat("unix:", (root_ / "s").string()), .settings = With({{"jobs.state_directory", state}})});
  };
  EXPECT_EQ(look(root_.string()).pid, 0);
  EXPECT_EQ(Only(look(root_.string()).findings, "daemon").level, Level::kFail);
  EXPECT_EQ(Only(look("").findings, "daemon").level, Level::kFail);
  // Without a state directory it has never run.
  EXPECT_EQ(Only(look((root_ / "nowhere").string()).findings, "daemon").level, Level::kWarn);
  EXPECT_EQ(Only(CheckDaemon({.address = "nowhere"}).findings, "daemon").level, Level::kFail);
}

}  // namespace
}  // namespace cuzk::daemon
