#include "core/base/hash.h"

#include <gtest/gtest.h>

namespace cuzk {
namespace {

// FIPS 180-4 and RFC 7693 examples for "abc".
TEST(Hash, PublishedVectors) {
  EXPECT_EQ(ToHex(Sha256(AsBytes("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(ToHex(Blake2s256(AsBytes("abc"))), "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982");
  EXPECT_EQ(ToHex(Blake2b512(AsBytes("abc"))),
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
            "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
}

TEST(Hash, PiecesEqualWhole) {
  Hasher h(HashKind::kSha256);
  h.Update(AsBytes("a"));
  h.Update(AsBytes("bc"));
  EXPECT_EQ(h.Finish32(), Sha256(AsBytes("abc")));
}

TEST(Hash, KeyMatters) {
  EXPECT_NE(KeyedBlake2b256(AsBytes("k"), AsBytes("abc")), KeyedBlake2b256(AsBytes("l"), AsBytes("abc")));
  // Keyed BLAKE2b-256, key "k", message "abc": hashlib.blake2b(b"abc", key=b"k", digest_size=32).
  EXPECT_EQ(ToHex(KeyedBlake2b256(AsBytes("k"), AsBytes("abc"))),
            "12f0b4a482a321476483eac3387d86e810573152916fb35bf7a6b9951f221db3");
}

}  // namespace
}  // namespace cuzk
