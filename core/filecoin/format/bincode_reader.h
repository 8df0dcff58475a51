#pragma once
// The two bincode messages: a PoSt item (one sector) and a snap item (one partition). Every length is known from the
// circuit, so a length field that says anything else is refused before anything is allocated; so are bytes after the
// end. Values are checked to be canonical. InvalidArgument says where: "challenge 7: level 4: 3 hashes, not 7".

#include "core/filecoin/types/vanilla.h"

namespace cuzk::filecoin {

/// A FallbackPoStSectorProof for a window or winning circuit.
StatusOr<PostVanilla> ReadPostVanilla(const Circuit& circuit, ByteSpan bytes);

/// A snap PartitionProof.
StatusOr<UpdateVanilla> ReadUpdateVanilla(const Circuit& circuit, ByteSpan bytes);

/// The same layouts written; for made requests and tests. Values must have the circuit's counts.
std::string WritePostVanilla(const Circuit& circuit, const PostVanilla& vanilla);
std::string WriteUpdateVanilla(const Circuit& circuit, const UpdateVanilla& vanilla);

}  // namespace cuzk::filecoin
