#pragma once
// The kinds' parts of made_request.cc.

#include "core/filecoin/chacha.h"
#include "core/filecoin/samples/made_request.h"

namespace cuzk::filecoin {

/// The values of a made request, drawn from its seed.
class MadeValues {
 public:
  MadeValues(const RegisteredProof& proof, uint64_t seed);
  /// 32 bytes whose two top bits are clear, which is a field element and could be a SHA-256 node.
  Bytes32 NextBytes();
  Fr NextElement();

 private:
  ChaChaStream stream_;
};

void MakePorep(const MadeOptions& options, MadeValues& values, MadeRequest& made);
void MakePost(const MadeOptions& options, MadeValues& values, MadeRequest& made);
void MakeUpdate(MadeValues& values, MadeRequest& made);

}  // namespace cuzk::filecoin
