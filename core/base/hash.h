#pragma once
// Hashes over bytes that are not witness, from libcrypto. (Witness hashes live in core/circuit.)

#include <array>
#include <cstdint>
#include <memory>

#include "core/base/bytes.h"

struct evp_md_ctx_st;

namespace cuzk {

enum class HashKind { kSha256, kBlake2s256, kBlake2b512 };

/// Incremental hash. Move-only; one thread at a time.
class Hasher {
 public:
  explicit Hasher(HashKind kind);
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;
  ~Hasher();

  void Update(ByteSpan bytes);
  /// 32 bytes, 64 for BLAKE2b-512. The hasher is spent afterwards.
  std::array<uint8_t, 64> Finish();
  /// The first 32 bytes of Finish().
  Bytes32 Finish32();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* ctx) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> ctx_;
};

Bytes32 Sha256(ByteSpan bytes);
Bytes32 Blake2s256(ByteSpan bytes);
std::array<uint8_t, 64> Blake2b512(ByteSpan bytes);
/// Keyed BLAKE2b with 32 bytes of output (RFC 7693); key of 1 to 64 bytes.
Bytes32 KeyedBlake2b256(ByteSpan key, ByteSpan bytes);

}  // namespace cuzk
