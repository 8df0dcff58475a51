// How much of a request directory is read.
#include "core/filecoin/request_directory.h"

#include <gmock/gmock.h>

#include "core/base/file.h"
#include "core/filecoin/format/xz.h"
#include "tests/unit/groth16/scratch_dir.h"

namespace cuzk::filecoin {
namespace {

using testing::HasSubstr;
using testing_support::ScratchDir;

/// 100,000 bytes of zero, packed.
constexpr std::string_view kPacked =
    "fd377a585a000004e6d6b446020021011c00000010cf58cce1869f00535d00006ffdffffa3b7ff473e481572396151b89228e6a38607f9eee4"
    "1e82d32fc53a3c014bb17ec98a8a4d2fa30dd97fa6e38c231153e05918c5758ae277f8b6947f0c6ac0de744964e2e95c53b204d6b1f5970000"
    "00008fc694a218e370f100016fa08d06000090e46e51b1c467fb020000000004595a";

std::string Text(const Status& status) { return std::string(status.message()); }

TEST(ReadFileOrXz, StopsAtTheLimitPackedAndUnpacked) {
  ScratchDir scratch;
  ASSERT_TRUE(WriteFile(scratch / "packed.xz", *FromHex(kPacked)).ok());
  EXPECT_EQ(*ReadFileOrXz(scratch / "packed", 100'000), std::string(100'000, '\0'));
  const Status unpacked = ReadFileOrXz(scratch / "packed", 99'999).status();
  EXPECT_TRUE(absl::IsInvalidArgument(unpacked));
  EXPECT_THAT(Text(unpacked), HasSubstr("packed.xz: unpacks to more than 99999 bytes"));
  EXPECT_THAT(Text(ReadFileOrXz(scratch / "packed", 100).status()), HasSubstr("packed.xz: has 148 bytes; at most 100"));
  ASSERT_TRUE(WriteFile(scratch / "plain", AsBytes("123456")).ok());
  EXPECT_EQ(*ReadFileOrXz(scratch / "plain", 6), "123456");
  EXPECT_THAT(Text(ReadFileOrXz(scratch / "plain", 5).status()), HasSubstr("plain: has 6 bytes; at most 5"));
}

TEST(ReadRequestDirectory, CountsAllItemsTogether) {
  ScratchDir scratch;
  const std::string request = StrCat(
      R"({"kind": "window", "registered_proof": 5, "sector_size": 2048, "miner_id": 1, "partition_index": 0,
          "randomness": ")",
      std::string(64, '0'), R"(", "sectors": [{"file": "a"}, {"file": "b"}]})");
  ASSERT_TRUE(WriteFile(scratch / "request.json", AsBytes(request)).ok());
  ASSERT_TRUE(WriteFile(scratch / "a", AsBytes("12345")).ok());
  ASSERT_TRUE(WriteFile(scratch / "b", AsBytes("123")).ok());
  auto read = ReadRequestDirectory(scratch / "", 8);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->request.vanilla_proofs, testing::ElementsAre("12345", "123"));
  EXPECT_THAT(Text(ReadRequestDirectory(scratch / "", 7).status()), HasSubstr("b: has 3 bytes; at most 2"));
}

}  // namespace
}  // namespace cuzk::filecoin
