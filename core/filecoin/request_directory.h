#pragma once
// A request as files: request.json and the vanilla proofs beside it (docs/FORMATS.md), any of them compressed with xz.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/filecoin/public_inputs.h"
#include "core/filecoin/types/request.h"

namespace cuzk::filecoin {

/// gRPC allows no larger message.
inline constexpr uint64_t kLargestMessage = (uint64_t{1} << 31) - 1;

/// A directory read whole: the fields of the message that Curio would send for it.
struct DirectoryRequest {
  std::string request_id;  // as Curio forms it: "porep-1000-84"
  VanillaRequest request;
};
/// NotFound if there is no directory or no request.json. InvalidArgument names the file and the key or line, or the
/// size if the request has more than `most_bytes`. CheckRequest, not this function, checks the values themselves.
StatusOr<DirectoryRequest> ReadRequestDirectory(const std::filesystem::path& directory,
                                                uint64_t most_bytes = kLargestMessage);

/// The public inputs to verify a proof of this request, from request.json; no vanilla proof is read.
struct Verification {
  const RegisteredProof* proof;
  std::vector<std::vector<algebra::Fr>> public_inputs;  // per partition, without ONE
};
/// InvalidArgument names the key, or what its values do not fit; NotFound for a missing file.
StatusOr<Verification> ReadVerification(const std::filesystem::path& directory);

/// The id that Curio gives to a request. `randomness` counts for PoSt only.
std::string CurioRequestId(const VanillaRequest& request);

}  // namespace cuzk::filecoin
