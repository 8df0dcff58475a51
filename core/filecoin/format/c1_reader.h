#pragma once
// The input of PoRep: a JSON wrapper around base64 around the JSON of a C1 output.

#include <string_view>

#include "core/filecoin/types/vanilla.h"

namespace cuzk::filecoin {

struct C1 {
  uint64_t sector_number = 0;  // of the wrapper; nothing depends on it
  uint64_t sector_size = 0;    // of the wrapper
  PorepVanilla vanilla;
};

/// Reads `text`, which is what Curio sends as vanilla_proof. The base64 is decoded as it is parsed, through a small
/// window, so that beside the text there is only the result. Strict: exactly the known keys, each once; all counts
/// those of the sector size and the registered proof; Poseidon and commitment values canonical; comm_r, comm_d and seed
/// not zero. InvalidArgument names the place and the byte: "partition 3, challenge 7: comm_r_last_proof: level 4: …".
StatusOr<C1> ReadC1(std::string_view text);

/// The inner JSON alone, after base64.
StatusOr<PorepVanilla> ReadCommitOutput(std::string_view json);

}  // namespace cuzk::filecoin
