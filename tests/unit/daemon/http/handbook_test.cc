#include "daemon/http/handbook.h"

#include <gmock/gmock.h>

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(HandbookTest, MarkdownBecomesHtmlAndNothingElse) {
  const std::string html = HandbookHtml(
      "# The title\n\nA paragraph with `code <b>` and a [link](there.md#x)\nin two lines.\n\n### CuzkdGpuLost\nWords & "
      "more.\n\n"
      "- one\n  goes on\n- two\n\n```sh\ncat <file> # no heading\n```\n\n| a | b |\n|---|---|\n\nThe `end\n");
  EXPECT_THAT(html, HasSubstr("<h1 id=\"the-title\">The title</h1>"));
  EXPECT_THAT(html, HasSubstr("<p>A paragraph with <code>code &lt;b&gt;</code> and a link\nin two lines.\n</p>"));
  EXPECT_THAT(html, HasSubstr("<h3 id=\"cuzkdgpulost\">CuzkdGpuLost</h3>\n<p>Words &amp; more.\n</p>"));
  EXPECT_THAT(html, HasSubstr("<li>one\n  goes on\n</li>\n<li>two\n</li>"));
  EXPECT_THAT(html, HasSubstr("<pre>cat &lt;file&gt; # no heading\n</pre>"));
  EXPECT_THAT(html, HasSubstr("<pre>| a | b |\n|---|---|\n</pre>"));
  EXPECT_THAT(html, HasSubstr("<p>The <code>end</code>\n</p>"));
}

TEST(HandbookTest, TheDocumentIsServedWithASectionForEachAlert) {
  const HttpAnswer page = Handbook();
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  for (const char* id : {"cuzkddown", "cuzkdgpulost", "cuzkdnotready", "cuzkdjobstorehangs", "numbers-of-the-driver"}) {
    EXPECT_THAT(page.body, HasSubstr(StrCat("id=\"", id, "\"")));
  }
  EXPECT_THAT(page.body, Not(HasSubstr("<script")));
  EXPECT_THAT(page.policy, HasSubstr("style-src 'sha256-"));
  EXPECT_THAT(page.policy, Not(HasSubstr("unsafe")));
}

}  // namespace
}  // namespace cuzk::daemon
