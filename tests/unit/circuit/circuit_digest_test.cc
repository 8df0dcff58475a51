// Circuits up to 512 MiB whole, and the first 64 chunks of the larger ones.
#include "tests/unit/circuit/recorded_digests.h"

namespace cuzk::circuit {
namespace {

class RecordedCircuit : public testing::TestWithParam<NamedSpec> {};

TEST_P(RecordedCircuit, EqualsReferenceDigest) {
  const NamedSpec& named = GetParam();
  ThreadPool pool(0);
  const uint64_t max_chunks = named.long_digest ? 64 : 0;
  const auto digest = DigestCircuit(named.spec, {.max_chunks = max_chunks, .progress = {}}, pool);
  ASSERT_TRUE(digest.ok()) << digest.status();
  ExpectEqual(*digest, RecordedFor(named.name), !named.long_digest);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RecordedCircuit, testing::ValuesIn(RecordedSpecs()), TestName);

}  // namespace
}  // namespace cuzk::circuit
