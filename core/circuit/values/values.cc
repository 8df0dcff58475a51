#include "core/circuit/values/values.h"

namespace cuzk::circuit {

void WriteBits(r1cs::WitnessWriter& cs, const Words256& value, unsigned count) {
  const __m256i one = _mm256_set1_epi8(1);
  const __m256i zero = _mm256_setzero_si256();
  for (unsigned i = 0; i < count; i += 32) {
    const unsigned n = count - i < 32 ? count - i : 32;
    const uint32_t mask = n == 32 ? ~0u : (1u << n) - 1;
    const uint32_t bits = static_cast<uint32_t>(value[i / 64] >> (i % 64)) & mask;
    const __m256i set = _mm256_and_si256(r1cs::ExpandMask(bits), one);
    cs.a().Push(_mm256_sub_epi8(one, set), n);
    cs.b().Push(set, n);
    cs.c().Push(zero, n);
    cs.aux().PushBits(bits, n);
  }
}

void WriteZeroRow(r1cs::WitnessWriter& cs) {
  cs.a().Push(int8_t{0});
  cs.b().Push(int8_t{0});
  cs.c().Push(Fr::Zero());
}

}  // namespace cuzk::circuit
