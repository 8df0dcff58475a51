#include "daemon/http/page.h"

#include <openssl/evp.h>

#include "core/base/check.h"
#include "core/base/hash.h"

namespace cuzk::daemon {

std::string InlineHash(std::string_view text, std::string_view tag) {
  const std::string open = StrCat("<", tag, ">"), close = StrCat("</", tag, ">");
  const size_t begin = text.find(open);
  const size_t end = text.find(close);
  CUZK_CHECK(begin != text.npos && end != text.npos && begin < end);
  CUZK_CHECK(text.find(open, begin + 1) == text.npos && text.find(close, end + 1) == text.npos);
  const std::string_view inside = text.substr(begin + open.size(), end - begin - open.size());
  const Bytes32 digest = Sha256(AsBytes(inside));
  unsigned char base64[48];  // 44 digits and a zero
  const int size = EVP_EncodeBlock(base64, digest.data(), static_cast<int>(digest.size()));
  return StrCat("'sha256-", std::string(reinterpret_cast<const char*>(base64), static_cast<size_t>(size)), "'");
}

HttpAnswer LivePage() {
  const std::string_view text = PageText();
  return {.content_type = "text/html; charset=utf-8",
          .body = std::string(text),
          .policy = StrCat("default-src 'none'; script-src ", InlineHash(text, "script"), "; style-src ",
                           InlineHash(text, "style"),
                           "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                           "frame-ancestors 'none'")};
}

}  // namespace cuzk::daemon
