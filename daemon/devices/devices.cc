#include "daemon/devices/devices.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>

#include "core/prover/cpu/cpu_device.h"
#include "core/prover/device/driver_error.h"
#include "daemon/common/card_code.h"
#include "daemon/common/version.h"

#ifdef CUZK_HAVE_CUDA
#include "gpu/params/section_maker.h"
#endif

namespace cuzk::daemon {
namespace {

constexpr char kNoBackEnd[] = "this build has no CUDA back end";

// The driver shows only the cards that this variable names.
std::string VisibleCards() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible == nullptr ? std::string() : StrCat(" (CUDA_VISIBLE_DEVICES is \"", visible, "\")");
}

/// "1 NVIDIA card (0000:3b:00.0)", "2 NVIDIA cards (0000:3b:00.0, 0000:af:00.0)".
std::string CardsText(const std::vector<std::string>& cards) {
  std::string text = StrCat(cards.size(), " NVIDIA card", cards.size() == 1 ? "" : "s");
  for (size_t i = 0; i < cards.size(); ++i) text += StrCat(i == 0 ? " (" : ", ", cards[i]);
  return cards.empty() ? text : text + ")";
}

/// Unavailable with that text and the driver's number of `cause`.
Status Unavailable(const Status& cause, absl::string_view text) {
  const std::optional<int> code = prover::DriverCodeOf(cause);
  return code ? prover::WithDriverCode(absl::UnavailableError(text), *code) : absl::UnavailableError(text);
}

/// Why this build cannot use the card; empty if it can, or if the card does not tell its capability.
std::string LackOfCodeFor(const prover::Device& card) {
  const std::string text = card.identity().compute_capability;  // "8.9"
  Capability capability;
  if (std::sscanf(text.c_str(), "%d.%d", &capability.major, &capability.minor) != 2) return "";
  return LackOfCode(Build().architectures, card.name(), capability);
}

/// A card for which the build has code and that passes its self-test. One whose memory others hold is not judged.
StatusOr<std::unique_ptr<prover::Device>> OpenTested(CardDriver& driver, int ordinal, uint64_t memory_bytes,
                                                     ThreadPool& pool) {
  auto card = driver.Open(ordinal, memory_bytes, pool);
  if (!card.ok()) return Annotate(card.status(), StrCat("card ", ordinal, " cannot be used and is left out"));
  if (const std::string lack = LackOfCodeFor(**card); !lack.empty())
    return absl::UnavailableError(StrCat("card ", ordinal, " is left out: ", lack));
  const Status passed = driver.Test(**card, pool);
  if (passed.ok() || absl::IsResourceExhausted(passed)) return card;
  return Annotate(passed,
                  StrCat("card ", ordinal, ", ", (*card)->name(), ", does not pass its self-test and is left out"));
}

/// The cards that can be used, or why there is none.
StatusOr<std::vector<std::unique_ptr<prover::Device>>> Cards(CardDriver* driver, const DeviceWishes& wishes,
                                                             ThreadPool& pool, std::vector<LeftOut>& left_out) {
  if (driver == nullptr) return absl::UnavailableError(kNoBackEnd);
  StatusOr<int> count = driver->Count();
  if (!count.ok()) return Unavailable(count.status(), count.status().message());
  std::vector<std::string> uuids;
  for (int ordinal = 0; ordinal < *count; ++ordinal) uuids.push_back(driver->Uuid(ordinal));
  CUZK_ASSIGN_OR_RETURN(const std::vector<int> chosen, CardsToUse(wishes.cards, uuids));
  std::vector<std::unique_ptr<prover::Device>> cards;
  Status first;
  for (int ordinal : chosen) {
    auto card = OpenTested(*driver, ordinal, wishes.memory_bytes, pool);
    if (card.ok()) {
      cards.push_back(*std::move(card));
      continue;
    }
    if (first.ok()) first = card.status();
    left_out.push_back({ordinal, driver->Uuid(ordinal), std::string(card.status().message())});
  }
  if (!cards.empty()) return cards;
  return first.ok() ? prover::DriverError("cuDeviceGetCount", prover::kNoDevice) : first;
}

DeviceChoice CpuChoice(algebra::Arithmetic arithmetic, ThreadPool& pool, std::string_view why) {
  DeviceChoice choice;
  choice.devices.push_back(prover::MakeCpuDevice({.pool = &pool, .arithmetic = arithmetic}));
  choice.explanation = StrCat("proving on the CPU device, ", choice.devices[0]->name(), ", because ", why);
  return choice;
}

}  // namespace

StatusOr<std::vector<int>> CardsToUse(const std::vector<std::string>& wishes, const std::vector<std::string>& uuids) {
  std::set<int> chosen;
  std::string all;
  for (size_t i = 0; i < uuids.size(); ++i) {
    if (wishes.empty()) chosen.insert(static_cast<int>(i));
    all += StrCat(i == 0 ? "" : ", ", i, " (", uuids[i], ")");
  }
  for (const std::string& wish : wishes) {
    const auto found = std::ranges::find_if(
        uuids, [&](const std::string& uuid) { return wish == uuid || wish == StrCat(&uuid - uuids.data()); });
    if (wish.empty() || found == uuids.end()) {
      return absl::UnavailableError(
          StrCat("devices.cards: there is no card ", wish, "; there are ", all.empty() ? "none" : all));
    }
    chosen.insert(static_cast<int>(found - uuids.begin()));
  }
  return std::vector<int>(chosen.begin(), chosen.end());
}

StatusOr<std::vector<KindsOfCard>> ParseKinds(const std::vector<std::string>& rows) {
  std::vector<KindsOfCard> parsed;
  for (const std::string& row : rows) {
    const size_t equals = row.find('=');
    KindsOfCard card{.card = row.substr(0, equals), .kinds = {}};
    std::string rest = equals == row.npos ? "" : row.substr(equals + 1);
    for (size_t plus = 0; !rest.empty(); rest.erase(0, plus == rest.npos ? plus : plus + 1)) {
      plus = rest.find('+');
      const std::string name = rest.substr(0, plus);
      const auto kind = std::ranges::find_if(filecoin::Kinds(), [&](const auto& known) { return known.name == name; });
      if (kind == filecoin::Kinds().end()) {
        return absl::InvalidArgumentError(
            StrCat("\"", row, "\": there is no kind \"", name, "\"; the kinds are porep, window, winning and snap"));
      }
      card.kinds.insert(kind->kind);
    }
    if (card.card.empty() || card.kinds.empty()) {
      return absl::InvalidArgumentError(StrCat("\"", row, "\" is not CARD=KIND+KIND, such as 0=window+winning"));
    }
    parsed.push_back(std::move(card));
  }
  return parsed;
}

StatusOr<std::vector<std::set<filecoin::Kind>>> KindsOf(const std::vector<std::unique_ptr<prover::Device>>& devices,
                                                        const std::vector<KindsOfCard>& rows) {
  std::vector<std::set<filecoin::Kind>> kinds(devices.size());
  for (const KindsOfCard& row : rows) {
    std::string all;
    bool found = false;
    for (size_t i = 0; i < devices.size(); ++i) {
      const std::string number = devices[i]->ordinal() < 0 ? "cpu" : StrCat(devices[i]->ordinal());
      const std::string uuid = devices[i]->identity().uuid;
      all += StrCat(i == 0 ? "" : ", ", number, uuid.empty() ? "" : StrCat(" (", uuid, ")"));
      if (row.card != number && (uuid.empty() || row.card != uuid)) continue;
      kinds[i].insert(row.kinds.begin(), row.kinds.end());
      found = true;
    }
    if (!found) {
      return absl::UnavailableError(
          StrCat("devices.kinds: card ", row.card, " is not in use; the cards in use are ", all));
    }
  }
  return kinds;
}

DeviceSearch FindDevices(const DeviceWishes& wishes, const DeviceSources& sources, algebra::Arithmetic arithmetic,
                         ThreadPool& pool) {
  const std::vector<std::string> present = NvidiaCards(sources.pci);
  DeviceSearch search{.choice = absl::UnavailableError(""), .present = present.size()};
  if (wishes.use == "cpu") {
    search.choice = CpuChoice(arithmetic, pool, "devices.use is \"cpu\"");
    return search;
  }
  DeviceChoice choice;
  auto cards = Cards(sources.driver, wishes, pool, choice.left_out);
  if (cards.ok()) {
    choice.devices = *std::move(cards);
    choice.explanation = StrCat("proving on ", choice.devices.size(), " GPU");
    for (const auto& card : choice.devices) choice.explanation += StrCat(", ", card->name());
    choice.explanation += VisibleCards();
    search.choice = std::move(choice);
    return search;
  }
  if (wishes.use == "auto" && wishes.cards.empty() && present.empty() && choice.left_out.empty()) {
    search.choice = CpuChoice(arithmetic, pool, StrCat("the PCI bus shows no NVIDIA card: ", cards.status().message()));
    search.choice->fallback_to_cpu = true;
    return search;
  }
  const std::string found = StrCat("devices.use = \"", wishes.use, "\": this machine has ", CardsText(present),
                                   ", and none can be used", VisibleCards(), ": ", cards.status().message());
  const std::string cure = wishes.use == "auto" ? "; set devices.use = \"cpu\" to prove without a card" : "";
  search.choice = Unavailable(cards.status(), found + cure);
  search.may_come = !present.empty() && sources.driver != nullptr;
  return search;
}

std::vector<std::string> DeviceNotes(std::string_view use, const DeviceSources& sources) {
  if (use == "cpu") return {};
  const std::vector<std::string> present = NvidiaCards(sources.pci);
  if (use == "auto" && present.empty()) return {};
  std::string cause = kNoBackEnd;
  if (sources.driver != nullptr) {
    const StatusOr<int> count = sources.driver->Count();
    if (count.ok()) return {};
    cause = StrCat(count.status().message(), VisibleCards());
  }
  return {StrCat("devices.use = \"", use, "\": this machine has ", CardsText(present),
                 ", and none can be used, so the daemon will not start: ", cause)};
}

StatusOr<std::unique_ptr<groth16::BaseMultiplier>> CardMultiplier() {
#ifdef CUZK_HAVE_CUDA
  return gpu::MakeCardMultiplier({});
#else
  return absl::UnavailableError(kNoBackEnd);
#endif
}

}  // namespace cuzk::daemon
