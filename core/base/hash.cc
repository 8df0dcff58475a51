#include "core/base/hash.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>

#include "core/base/check.h"

namespace cuzk {
namespace {

const EVP_MD* Algorithm(HashKind kind) {
  switch (kind) {
    case HashKind::kSha256:
      return EVP_sha256();
    case HashKind::kBlake2s256:
      return EVP_blake2s256();
    case HashKind::kBlake2b512:
      return EVP_blake2b512();
  }
  return nullptr;
}

Bytes32 First32(const std::array<uint8_t, 64>& full) {
  Bytes32 out;
  std::copy_n(full.begin(), 32, out.begin());
  return out;
}

}  // namespace

void Hasher::Free::operator()(evp_md_ctx_st* ctx) const { EVP_MD_CTX_free(ctx); }

Hasher::Hasher(HashKind kind) : ctx_(EVP_MD_CTX_new()) {
  CUZK_CHECK(ctx_ && EVP_DigestInit_ex(ctx_.get(), Algorithm(kind), nullptr) == 1);
}
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;
Hasher::~Hasher() = default;

void Hasher::Update(ByteSpan bytes) { CUZK_CHECK(EVP_DigestUpdate(ctx_.get(), bytes.data(), bytes.size()) == 1); }

std::array<uint8_t, 64> Hasher::Finish() {
  std::array<uint8_t, 64> out{};
  CUZK_CHECK(EVP_DigestFinal_ex(ctx_.get(), out.data(), nullptr) == 1);
  return out;
}

Bytes32 Hasher::Finish32() { return First32(Finish()); }

Bytes32 Sha256(ByteSpan bytes) {
  Hasher h(HashKind::kSha256);
  h.Update(bytes);
  return h.Finish32();
}

Bytes32 Blake2s256(ByteSpan bytes) {
  Hasher h(HashKind::kBlake2s256);
  h.Update(bytes);
  return h.Finish32();
}

std::array<uint8_t, 64> Blake2b512(ByteSpan bytes) {
  Hasher h(HashKind::kBlake2b512);
  h.Update(bytes);
  return h.Finish();
}

Bytes32 KeyedBlake2b256(ByteSpan key, ByteSpan bytes) {
  std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> mac(EVP_MAC_fetch(nullptr, "BLAKE2BMAC", nullptr), EVP_MAC_free);
  CUZK_CHECK(mac);
  std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> ctx(EVP_MAC_CTX_new(mac.get()), EVP_MAC_CTX_free);
  size_t length = 32;
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &length), OSSL_PARAM_construct_end()};
  Bytes32 out{};
  CUZK_CHECK(EVP_MAC_init(ctx.get(), key.data(), key.size(), params) == 1);
  CUZK_CHECK(EVP_MAC_update(ctx.get(), bytes.data(), bytes.size()) == 1);
  CUZK_CHECK(EVP_MAC_final(ctx.get(), out.data(), &length, out.size()) == 1 && length == out.size());
  return out;
}

}  // namespace cuzk
