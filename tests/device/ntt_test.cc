#include "core/algebra/ntt/ntt.h"

#include "gpu/ntt/transform.h"
#include "tests/device/on_device.h"
#include "tests/unit/algebra/ntt_laws.h"

namespace cuzk::gpu::testing {
namespace {

using algebra::Fr;

class NttOnDevice : public DeviceTest {
 protected:
  /// The device's transforms as the laws want them: host memory in and out.
  algebra::NttOperations Operations(unsigned bits, const DomainTables& tables) {
    Epilogue scaled;
    scaled.scaled = true;
    scaled.scale = algebra::Domain(bits).size_inverse();
    Epilogue shifted_back = scaled;
    shifted_back.shift_powers = -1;
    auto transform = [this, &tables, bits](bool from_reversed, bool inverse, Epilogue end, bool shift_first,
                                           bool reorder) {
      return [=, this, &tables](std::span<Fr> x) {
        auto values = Upload(std::vector<Fr>(x.begin(), x.end()));
        if (shift_first) Check(tables.Shift(values.data(), false, false, stream_));
        Check(from_reversed ? tables.FromReversed(values.data(), inverse, end, stream_)
                            : tables.ToReversed(values.data(), inverse, end, stream_));
        if (reorder) {
          auto copy = Must(Buffer<Fr>::Allocate(memory_, values.size()));
          Check(ReverseOrder(values.data(), copy.data(), bits, stream_));
          values = std::move(copy);
        }
        Check(stream_.view().Synchronize());
        auto out = Download(values);
        std::copy(out.begin(), out.end(), x.begin());
      };
    };
    algebra::NttOperations r;
    r.ntt = transform(false, false, {}, false, true);
    r.inverse = transform(false, true, scaled, false, true);
    r.coset = transform(false, false, {}, true, true);
    r.inverse_coset = transform(false, true, shifted_back, false, true);
    r.ntt_to_reversed = transform(false, false, {}, false, false);
    r.inverse_to_reversed = transform(false, true, scaled, false, false);
    r.coset_to_reversed = transform(false, false, {}, true, false);
    r.ntt_from_reversed = transform(true, false, {}, false, false);
    r.inverse_from_reversed = transform(true, true, scaled, false, false);
    return r;
  }
  static void Check(const Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }
};

TEST_F(NttOnDevice, LawsHoldAtEverySize) {
  for (unsigned bits = 0; bits <= 20; ++bits) {
    auto tables = Must(DomainTables::Make(bits, memory_, stream_));
    EXPECT_EQ(algebra::BrokenNttLaw(Operations(bits, tables), bits), "") << "2^" << bits;
  }
}

TEST_F(NttOnDevice, ABrokenDoubleIsFound) {
  auto tables = Must(DomainTables::Make(12, memory_, stream_));
  auto operations = Operations(12, tables);
  auto right = operations.inverse;
  operations.inverse = [right](std::span<Fr> x) {
    right(x);
    x[77] += Fr::One();
  };
  EXPECT_NE(algebra::BrokenNttLaw(operations, 12), "");
}

TEST_F(NttOnDevice, LargeSizesEvaluate) {
  for (unsigned bits : {22u, 23u, 25u, 27u, 28u}) {
    auto tables = Must(DomainTables::Make(bits, memory_, stream_));
    size_t n = size_t{1} << bits;
    // A sparse polynomial, so that the host can evaluate it.
    std::vector<std::pair<size_t, Fr>> terms;
    std::mt19937_64 random(bits);
    for (const Fr& c : RandomScalars(20, bits)) terms.emplace_back(random() % n, c);
    auto values = Must(Buffer<Fr>::Allocate(memory_, n));
    ASSERT_EQ(cudaMemset(values.data(), 0, values.bytes()), cudaSuccess);
    std::vector<Fr> dense(n, Fr::Zero());
    for (auto& [at, c] : terms) dense[at] += c;
    ASSERT_EQ(cudaMemcpy(values.data(), dense.data(), values.bytes(), cudaMemcpyHostToDevice), cudaSuccess);
    CUZK_ASSERT_OK(tables.ToReversed(values.data(), false, {}, stream_));
    CUZK_ASSERT_OK(stream_.view().Synchronize());
    Fr w = algebra::FrRootOfUnity(bits);
    for (int k = 0; k < 200; ++k) {
      size_t i = k < 8 ? static_cast<size_t>(k) : random() % n;
      Fr expected = Fr::Zero(), got;
      for (auto& [at, c] : terms)
        expected += c * w.Pow(static_cast<uint64_t>(static_cast<unsigned __int128>(i) * at % n));
      ASSERT_EQ(cudaMemcpy(&got, values.data() + algebra::NttReversed(i, bits), sizeof(Fr), cudaMemcpyDeviceToHost),
                cudaSuccess);
      ASSERT_EQ(got, expected) << "2^" << bits << ", " << i;
    }
    Epilogue scaled;
    scaled.scaled = true;
    scaled.scale = algebra::Domain(bits).size_inverse();
    CUZK_ASSERT_OK(tables.FromReversed(values.data(), true, scaled, stream_));
    CUZK_ASSERT_OK(stream_.view().Synchronize());
    EXPECT_TRUE(Download(values) == dense) << "2^" << bits;
  }
}

}  // namespace
}  // namespace cuzk::gpu::testing
