// The reader of snap items: whatever the bytes, it answers, and what it accepts it can write back byte for byte.

#include "core/base/check.h"
#include "core/filecoin/format/bincode_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cuzk::ByteSpan bytes(data, size);
  for (const char* id : {"snap-2k", "snap-8m", "snap-32g", "snap-64g"}) {
    const cuzk::filecoin::Circuit& circuit = *cuzk::filecoin::FindCircuit(std::string_view(id));
    auto vanilla = cuzk::filecoin::ReadUpdateVanilla(circuit, bytes);
    CUZK_CHECK(!vanilla.ok() || size == circuit.vanilla_bytes);
    if (!vanilla.ok()) continue;
    std::string written = cuzk::filecoin::WriteUpdateVanilla(circuit, *vanilla);
    CUZK_CHECK(written == std::string_view(reinterpret_cast<const char*>(data), size));
  }
  return 0;
}
