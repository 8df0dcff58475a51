#include "daemon/devices/devices.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/prover/cpu_device.h"
#include "daemon/devices/self_test.h"

#ifdef CUZK_HAVE_CUDA
#include "gpu/params/section_maker.h"
#include "gpu/prover/cuda_device.h"
#endif

namespace cuzk::daemon {
namespace {

// The driver shows only the cards that this variable names.
std::string VisibleCards() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible == nullptr ? std::string() : StrCat(" (CUDA_VISIBLE_DEVICES is \"", visible, "\")");
}

#ifdef CUZK_HAVE_CUDA
// A card without a program for it, or one that computes wrong, is found before it gets work. One whose memory others
// hold is not judged.
Status SelfTest(int ordinal, ThreadPool& pool) {
  StatusOr<std::unique_ptr<groth16::BaseMultiplier>> multiplier = gpu::MakeCardMultiplier({.ordinal = ordinal});
  Status status = multiplier.ok() ? TestMultiplier(**multiplier, pool) : multiplier.status();
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}
#endif

// The cards that pass their self-test, or why there is none.
StatusOr<std::vector<std::unique_ptr<prover::Device>>> Cards([[maybe_unused]] const DeviceWishes& wishes,
                                                             [[maybe_unused]] ThreadPool& pool,
                                                             [[maybe_unused]] std::vector<LeftOut>& left_out) {
#ifdef CUZK_HAVE_CUDA
  std::vector<prover::DeviceIdentity> there;
  const int count = gpu::CudaDeviceCount();
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUZK_ASSIGN_OR_RETURN(prover::DeviceIdentity identity, gpu::CudaDeviceIdentity(ordinal));
    there.push_back(std::move(identity));
  }
  CUZK_ASSIGN_OR_RETURN(const std::vector<int> chosen, CardsToUse(wishes.cards, there));
  std::vector<std::unique_ptr<prover::Device>> cards;
  for (int ordinal : chosen) {
    CUZK_ASSIGN_OR_RETURN(std::unique_ptr<gpu::CudaDevice> card,
                          gpu::MakeCudaDevice({.ordinal = ordinal, .pool = &pool, .memory_cap = wishes.memory_bytes}));
    if (Status passed = SelfTest(ordinal, pool); !passed.ok()) {
      left_out.push_back({ordinal, card->identity().uuid,
                          StrCat("card ", ordinal, ", ", card->name(),
                                 ", does not pass its self-test and is left out: ", passed.message())});
      continue;
    }
    cards.push_back(std::move(card));
  }
  if (!cards.empty()) return cards;
  if (!left_out.empty()) return absl::UnavailableError(left_out.front().why);
  return absl::UnavailableError(StrCat("this machine shows no NVIDIA card, or has no driver", VisibleCards()));
#else
  return absl::UnavailableError("this build has no CUDA back end");
#endif
}

}  // namespace

StatusOr<std::vector<int>> CardsToUse(const std::vector<std::string>& wishes,
                                      const std::vector<prover::DeviceIdentity>& there) {
  std::set<int> chosen;
  std::string all;
  for (size_t i = 0; i < there.size(); ++i) {
    if (wishes.empty()) chosen.insert(static_cast<int>(i));
    all += StrCat(i == 0 ? "" : ", ", i, " (", there[i].uuid, ")");
  }
  for (const std::string& wish : wishes) {
    const auto found = std::ranges::find_if(there, [&](const prover::DeviceIdentity& card) {
      return wish == card.uuid || wish == StrCat(&card - there.data());
    });
    if (found == there.end()) {
      return absl::NotFoundError(
          StrCat("devices.cards: there is no card ", wish, "; there are ", all.empty() ? "none" : all));
    }
    chosen.insert(static_cast<int>(found - there.begin()));
  }
  return std::vector<int>(chosen.begin(), chosen.end());
}

StatusOr<DeviceChoice> PickDevices(const DeviceWishes& wishes, algebra::Arithmetic arithmetic, ThreadPool& pool) {
  DeviceChoice choice;
  std::string why_cpu = "because devices.use says so";
  if (wishes.use != "cpu") {
    StatusOr<std::vector<std::unique_ptr<prover::Device>>> cards = Cards(wishes, pool, choice.left_out);
    // Cards that were named are not silently replaced by the CPU.
    if (absl::IsNotFound(cards.status())) return cards.status();
    if (cards.ok()) {
      choice.devices = *std::move(cards);
      choice.explanation = StrCat("proving on ", choice.devices.size(), " GPU");
      for (const auto& card : choice.devices) choice.explanation += StrCat(", ", card->name());
      choice.explanation += VisibleCards();
      return choice;
    }
    if (wishes.use == "gpu") return Annotate(cards.status(), "devices.use = \"gpu\"");
    why_cpu = StrCat("because ", cards.status().message());
  }
  choice.devices.push_back(prover::MakeCpuDevice({.pool = &pool, .arithmetic = arithmetic}));
  choice.explanation = StrCat("proving on the CPU device, ", choice.devices[0]->name(), ", ", why_cpu);
  return choice;
}

std::vector<std::string> DeviceNotes(std::string_view use) {
  if (use == "cpu") return {};
#ifdef CUZK_HAVE_CUDA
  if (gpu::CudaDeviceCount() > 0) return {};
  return {StrCat("devices.use: no NVIDIA card is visible here", VisibleCards())};
#else
  if (use != "gpu") return {};
  return {"devices.use: this build has no CUDA back end"};
#endif
}

StatusOr<std::unique_ptr<groth16::BaseMultiplier>> CardMultiplier() {
#ifdef CUZK_HAVE_CUDA
  return gpu::MakeCardMultiplier({});
#else
  return absl::UnavailableError("this build has no CUDA back end");
#endif
}

}  // namespace cuzk::daemon
