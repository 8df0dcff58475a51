#include "daemon/http/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

namespace cuzk::daemon {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(PageTest, IsWholeAndSelfContained) {
  std::string text(PageText());
  EXPECT_THAT(text, StartsWith("<!doctype html>"));
  EXPECT_THAT(text, EndsWith("</html>\n"));
  EXPECT_THAT(text, Not(HasSubstr("{{")));
  // Nothing is fetched from anywhere else, and no text becomes HTML.
  for (const char* outside : {"http://", "https://", "//cdn", "@import", "url("}) {
    std::string rest = text;
    for (size_t at; (at = rest.find("http://www.w3.org/2000/svg")) != rest.npos;) rest.erase(at, 26);
    EXPECT_THAT(rest, Not(HasSubstr(outside)));
  }
  for (const char* sink : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
                           "srcdoc", "localStorage", " style=", "onclick="}) {
    EXPECT_THAT(text, Not(HasSubstr(sink)));
  }
}

TEST(PageTest, ThePolicyAllowsItsOwnScriptAndStyleAlone) {
  HttpAnswer page = LivePage();
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_TRUE(std::regex_match(page.policy,
                               std::regex("default-src 'none'; script-src 'sha256-[A-Za-z0-9+/]{43}='; style-src "
                                          "'sha256-[A-Za-z0-9+/]{43}='; connect-src 'self'; img-src data:; base-uri "
                                          "'none'; form-action 'none'; frame-ancestors 'none'")))
      << page.policy;
  EXPECT_THAT(page.policy, Not(HasSubstr("unsafe")));
}

TEST(PageTest, HashesAreThoseOfTheStandard) {
  // The example of Content Security Policy Level 3, section 8.
  EXPECT_EQ(InlineHash("<script>alert('Hello, world.');</script>", "script"),
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='");
  EXPECT_DEATH(InlineHash("<script>1</script><script>2</script>", "script"), "");
  EXPECT_DEATH(InlineHash("no script", "script"), "");
}

}  // namespace
}  // namespace cuzk::daemon
