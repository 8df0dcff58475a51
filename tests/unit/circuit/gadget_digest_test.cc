// Rows of single gadgets against digests (docs/FORMATS.md) that the reference gave.
#include <gtest/gtest.h>

#include "core/circuit/digest.h"
#include "core/circuit/merkle_gadget.h"
#include "core/circuit/porep_circuit.h"
#include "core/circuit/update_circuit.h"
#include "core/r1cs/recorder.h"

namespace cuzk::circuit {
namespace {

using Cs = r1cs::ShapeRecorder;
using N = Num<Cs>;

std::vector<N> Nums(Cs& cs, size_t n) {
  std::vector<N> nums;
  for (size_t i = 0; i < n; ++i) nums.push_back(cs.AllocateNum({}));
  return nums;
}
Booleans<Cs> Bits(Cs& cs, size_t n) {
  Booleans<Cs> bits;
  for (size_t i = 0; i < n; ++i) bits.push_back(Boolean<Cs>::Is(AllocateBit(cs, {})));
  return bits;
}

template <class Make>
CircuitDigest DigestOf(Make make) {
  Cs counting;
  make(counting);
  const r1cs::ShapeCounts counts{counting.position().inputs, counting.position().aux, counting.position().rows, {}};
  Cs recorder;
  DigestSink sink(counts, 1 << 20, {}, [] { return std::string(); });
  recorder.set_sink(&sink);
  make(recorder);
  sink.End();
  return sink.Finish();
}

struct Harness {
  const char* name;
  void (*make)(Cs&);
  uint32_t inputs, aux;
  uint64_t rows;
  const char* digest;
};

void Path(Cs& cs, TreeHash hash, const TreeShape& shape, bool is_public) {
  const N leaf = cs.AllocateNum({});
  const N computed = RootOf(cs, hash, shape, leaf, nullptr);
  const N root = cs.AllocateNum({});
  EnforceSame(cs, computed, root, {"path"});
  if (is_public) Inputize(cs, root);
}

template <size_t kArity>
void InsertHarness(Cs& cs) {
  const std::vector<N> siblings = Nums(cs, kArity - 1);
  const N x = cs.AllocateNum({});
  Insert<Cs>(cs, x, Bits(cs, std::countr_zero(kArity)), siblings);
}
template <size_t kArity>
void PoseidonHarness(Cs& cs) {
  PoseidonMerkle<Cs>(cs, Nums(cs, kArity));
}

void LabelHarness(Cs& cs) {
  std::vector<Booleans<Cs>> parents;
  for (int i = 0; i < 37; ++i) parents.push_back(Bits(cs, 256));
  const Booleans<Cs> id = Bits(cs, 256);
  Booleans<Cs> node;
  for (int i = 0; i < 64; ++i) node.push_back(Boolean<Cs>::Constant(uint64_t{22} >> i & 1));
  CreateLabel<Cs>(cs, id, parents, 3, node);
}

const Harness kHarnesses[] = {
    {"ToBits", [](Cs& cs) { ToBits(cs, cs.AllocateNum({})); }, 1, 256, 256,
     "fe8f60dff8688ec7c39a8ebb4750cc381c306c9f430d43e0fcf0ca5a23025477"},
    {"Compression", [](Cs& cs) { ShaCompress<Cs>(cs, ShaInitialState<Cs>(), Bits(cs, 512)); }, 1, 26326, 26352,
     "a91be46c89fe4cb18f85d99956bf9b1afe0a96d1b6c960a30d4e9dcafcf501ba"},
    {"Sha256Of512Bits", [](Cs& cs) { Sha256(cs, Bits(cs, 512)); }, 1, 45340, 45386,
     "39b920088193af138e8d3494179b1d9a20442bb23e28e65028b068c6a9e48771"},
    {"Sha256Of24Bits", [](Cs& cs) { Sha256(cs, Bits(cs, 24)); }, 1, 24368, 24394,
     "b8deadc533af77f9dd6cf3f4978b3fda67ca7eaeaef387bcf71e1a7be725d49f"},
    {"Sha256Node", [](Cs& cs) { HashGroup<Cs>(cs, TreeHash::kSha256, Nums(cs, 2)); }, 1, 45333, 45379,
     "17fd4b5ddd5b8fe8759308f1b1b019e3a9e00d179d227b5e64580e48a233b91e"},
    {"Poseidon2", PoseidonHarness<2>, 1, 313, 311, "658f013f99360e164ad8e7f96290944601cc064f93c153d9ea7ac1275927175f"},
    {"Poseidon4", PoseidonHarness<4>, 1, 381, 377, "2360602a7c4555d454b46891236273f4ae308090bc916fdcef1fb81d00ebbe70"},
    {"Poseidon8", PoseidonHarness<8>, 1, 513, 505, "ab50aeda63344f7125999ef5c4af7777380b9015ec82ad48bac2213e9353b163"},
    {"Poseidon11", PoseidonHarness<11>, 1, 609, 598,
     "e94a28106cbb9a718e525f0f2593ce3b138350047854ebcc3c83472ed482a6f6"},
    {"PoseidonRandomness",
     [](Cs& cs) {
       const std::vector<N> n = Nums(cs, 2);
       PoseidonRandomnessGadget(cs, n[0], n[1]);
     },
     1, 313, 311, "9675551c881122d99caf9a20a4bf87878e1863c432265a33e98e1c1a74e246a8"},
    {"Insert2", InsertHarness<2>, 1, 5, 3, "a72021877d91846676feb988d2aefb8b83c450d1fc4f48af6d3482199dab9c8e"},
    {"Insert4", InsertHarness<4>, 1, 14, 10, "f152e7ea60f71b6e2c4c057b70732119f02abe754ad3f9f92e3ac48e74c2e0ef"},
    {"Insert8", InsertHarness<8>, 1, 33, 25, "bc8494df7736aefcd16c1366d6c07d246f1ba1ec52b6dd301da9d7fca4f1a208"},
    {"Select",
     [](Cs& cs) {
       const std::vector<N> n = Nums(cs, 8);
       Select<Cs>(cs, n, Bits(cs, 3));
     },
     1, 18, 10, "947ef30b1c67bfdbbabf8c7f14efcbb1f4d43a41877d4ab403f8eb925d186587"},
    // Counts alone: whole circuits show the digest of labels as they are used.
    {"Label", LabelHarness, 1, 531505, 532025, nullptr},
    {"PathSha256",
     [](Cs& cs) {
       Path(cs, TreeHash::kSha256, {64, 2, 0, 0}, true);
     },
     3, 272012, 272295, "06101b213e985a06aa97367fb756d504912d2edfa7169fe7390f3563e2b7bdbf"},
    {"PathPoseidon800",
     [](Cs& cs) {
       Path(cs, TreeHash::kPoseidon, {64, 8, 0, 0}, true);
     },
     3, 1076, 1063, "3bd8cb4719e1ce8b020c078159a77bd5cf9d8eca04ed094eaca290c621f10a20"},
    {"PathPoseidon880",
     [](Cs& cs) {
       Path(cs, TreeHash::kPoseidon, {512, 8, 8, 0}, true);
     },
     3, 1613, 1593, "eca5c6440650cc590e477789dbbcc685627355c9c5dc6008dcb9fc6bfb8d34b8"},
    {"PathPoseidon882",
     [](Cs& cs) {
       Path(cs, TreeHash::kPoseidon, {1024, 8, 8, 2}, true);
     },
     3, 1928, 1907, "1aaf5b3ff8221455ad5ba57746f23db956a2de780213b68d65d8ea0165607e84"},
    {"PathPoseidonPrivateRoot",
     [](Cs& cs) {
       Path(cs, TreeHash::kPoseidon, {64, 8, 0, 0}, false);
     },
     2, 1076, 1062, "a87d5c076c5882911c7073da19dba3a6bc1cfb7bd107afae8a18337734146519"},
    {"ChallengeBits",
     [](Cs& cs) {
       const std::vector<N> n = Nums(cs, 2);
       DrawChallengeBits(cs, n[0], n[1], 86, 26);
     },
     1, 5672, 5680, "1bf6d5ac16908b158b673d380d14de2885d7a11a4ff85b06e9667fed7ba7240b"},
};

class GadgetRows : public testing::TestWithParam<Harness> {};

TEST_P(GadgetRows, EqualReferenceDigest) {
  const Harness& want = GetParam();
  const CircuitDigest digest = DigestOf(want.make);
  EXPECT_EQ(digest.counts.inputs, want.inputs);
  EXPECT_EQ(digest.counts.aux, want.aux);
  EXPECT_EQ(digest.counts.rows, want.rows);
  if (want.digest != nullptr) {
    EXPECT_EQ(ToHex(digest.blake2s), want.digest);
  }
}

INSTANTIATE_TEST_SUITE_P(Gadgets, GadgetRows, testing::ValuesIn(kHarnesses),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(GadgetRows, DigestSeesASwappedOperand) {
  auto with = [](bool swap) {
    return DigestOf([swap](Cs& cs) {
      const Bit<Cs> a = AllocateBit(cs, {}), b = AllocateBit(cs, {});
      swap ? BitXor(cs, b, a) : BitXor(cs, a, b);
    });
  };
  EXPECT_EQ(with(false).blake2s, with(false).blake2s);
  EXPECT_NE(with(false).blake2s, with(true).blake2s);
}

}  // namespace
}  // namespace cuzk::circuit
