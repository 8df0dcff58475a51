// The C1 reader: whatever the bytes, it answers; and it answers the same whether the text is in memory or arrives
// through base64 and a window.

#include "core/base/check.h"
#include "core/filecoin/format/base64.h"
#include "core/filecoin/format/c1_reader.h"
#include "core/filecoin/format/c1_writer.h"

namespace {

using cuzk::filecoin::PorepVanilla;

/// A C1 that was read is written and read again without loss.
void CheckRoundTrip(const PorepVanilla& vanilla) {
  std::string written = WriteCommitOutput(vanilla);
  auto again = cuzk::filecoin::ReadCommitOutput(written);
  CUZK_CHECK(again.ok());
  CUZK_CHECK(WriteCommitOutput(*again) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto wrapped = cuzk::filecoin::ReadC1(text);
  if (wrapped.ok()) CheckRoundTrip(wrapped->vanilla);
  auto whole = cuzk::filecoin::ReadCommitOutput(text);
  auto streamed = cuzk::filecoin::ReadC1(
      cuzk::StrCat("{\"SectorNum\":1,\"Phase1Out\":\"", cuzk::filecoin::EncodeBase64(text), "\",\"SectorSize\":0}"));
  CUZK_CHECK(whole.ok() == streamed.ok());
  CUZK_CHECK(whole.status().message() == streamed.status().message());
  if (whole.ok()) CheckRoundTrip(*whole);
  return 0;
}
