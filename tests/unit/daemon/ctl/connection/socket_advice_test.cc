#include "daemon/ctl/connection/socket_advice.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "core/base/text.h"
#include "tests/unit/groth16/scratch_dir.h"

namespace cuzk::daemon {
namespace {

const Status kUnreachable = absl::UnavailableError("nobody answers");

TEST(SocketAdviceTest, WhoeverMayUseTheSocketGetsNone) {
  testing_support::ScratchDir scratch;
  const std::string address = StrCat("unix:", (scratch / "s").string());
  EXPECT_EQ(WithSocketAdvice(kUnreachable, address), kUnreachable);  // there is no socket
  EXPECT_EQ(WithSocketAdvice(kUnreachable, "127.0.0.1:1"), kUnreachable);
  EXPECT_EQ(WithSocketAdvice(absl::InternalError("x"), address), absl::InternalError("x"));
  EXPECT_TRUE(WithSocketAdvice(absl::OkStatus(), address).ok());
}

/// Ends the process with 0 if a user whom the folder keeps out is told its group, and nothing else is changed.
void AskAsSomebodyElse(const std::filesystem::path& folder) {
  constexpr unsigned kNobody = 65534;
  if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0)) std::_Exit(2);
  const Status said = WithSocketAdvice(kUnreachable, StrCat("unix:", (folder / "s").string()));
  const std::string text(said.message());
  const bool told = text.find("nobody answers; ") == 0 && text.find("is open to the group ") != text.npos &&
                    text.find("usermod -aG") != text.npos;
  std::_Exit(absl::IsUnavailable(said) && told ? 0 : 1);
}

TEST(SocketAdviceTest, WhoeverIsKeptOutIsToldTheGroup) {
  testing_support::ScratchDir scratch;
  const std::filesystem::path folder = scratch / "closed";
  std::filesystem::create_directory(folder);
  ASSERT_EQ(chmod((scratch / "").c_str(), 0755), 0);
  ASSERT_EQ(chmod(folder.c_str(), 0), 0);
  EXPECT_EXIT(AskAsSomebodyElse(folder), testing::ExitedWithCode(0), "");
  ASSERT_EQ(chmod(folder.c_str(), 0700), 0);
}

}  // namespace
}  // namespace cuzk::daemon
