#include "daemon/devices/card_driver.h"

#ifdef CUZK_HAVE_CUDA
#include "core/prover/device/driver_error.h"
#include "core/prover/device/self_test.h"
#include "daemon/devices/cuda_driver.h"
#include "gpu/params/section_maker.h"
#include "gpu/prover/card_identity.h"
#include "gpu/prover/cuda_device.h"
#endif

namespace cuzk::daemon {

#ifdef CUZK_HAVE_CUDA
namespace {

class CudaCards final : public CardDriver {
 public:
  StatusOr<int> Count() override {
    // The driver's library first: CUDA's runtime keeps the first answer of a driver that is not up yet.
    CUZK_ASSIGN_OR_RETURN(const CudaDriver driver, CudaDriver::Open());
    CUZK_ASSIGN_OR_RETURN(const int shown, driver.Count());
    if (shown == 0) return prover::DriverError("cuDeviceGetCount", prover::kNoDevice);
    return gpu::CudaDeviceCount();
  }
  std::string Uuid(int ordinal) override { return gpu::UuidOfCard(ordinal); }
  StatusOr<std::unique_ptr<prover::Device>> Open(int ordinal, uint64_t memory_bytes, ThreadPool& pool) override {
    CUZK_ASSIGN_OR_RETURN(std::unique_ptr<gpu::CudaDevice> card,
                          gpu::MakeCudaDevice({.ordinal = ordinal, .pool = &pool, .memory_cap = memory_bytes}));
    return card;
  }
  Status Test(prover::Device& card, ThreadPool& pool) override {
    CUZK_ASSIGN_OR_RETURN(std::unique_ptr<groth16::BaseMultiplier> multiplier,
                          gpu::MakeCardMultiplier({.ordinal = card.ordinal()}));
    CUZK_RETURN_IF_ERROR(prover::TestMultiplier(*multiplier, pool));
    multiplier.reset();
    auto& cuda = static_cast<gpu::CudaDevice&>(card);  // Open makes no others
    auto make = [&](const groth16::SectionScalars& scalars, std::shared_ptr<const r1cs::Shape> shape) {
      return cuda.MakeParameters(scalars, std::move(shape), {});
    };
    return prover::TestProofs(card, make, prover::SelfTestCircuits(), pool);
  }
};

}  // namespace

std::unique_ptr<CardDriver> MakeCardDriver() { return std::make_unique<CudaCards>(); }
#else
std::unique_ptr<CardDriver> MakeCardDriver() { return nullptr; }
#endif

}  // namespace cuzk::daemon
