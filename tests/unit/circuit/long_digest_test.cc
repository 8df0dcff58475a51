// The largest circuits whole: minutes each. The process must stay below 1 GiB.
#include <sys/resource.h>

#include "tests/unit/circuit/recorded_digests.h"

namespace cuzk::circuit {
namespace {

std::vector<NamedSpec> LongSpecs() {
  std::vector<NamedSpec> specs = RecordedSpecs();
  std::erase_if(specs, [](const NamedSpec& named) { return !named.long_digest; });
  return specs;
}

class LongDigest : public testing::TestWithParam<NamedSpec> {};

TEST_P(LongDigest, EqualsReferenceDigest) {
  ThreadPool pool(0);
  const auto digest = DigestCircuit(GetParam().spec, {}, pool);
  ASSERT_TRUE(digest.ok()) << digest.status();
  ExpectEqual(*digest, RecordedFor(GetParam().name), true);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 1 << 20) << "KiB at the peak";
}

INSTANTIATE_TEST_SUITE_P(Sizes, LongDigest, testing::ValuesIn(LongSpecs()), TestName);

}  // namespace
}  // namespace cuzk::circuit
