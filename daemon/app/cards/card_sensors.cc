#include "daemon/app/cards/card_sensors.h"

#include <dlfcn.h>

#include <chrono>
#include <utility>

#include "core/base/thread.h"
#include "daemon/common/loaded_library.h"

namespace cuzk::daemon {
namespace {

constexpr std::chrono::seconds kPause{2};

// Numbers of the library's interface: handles are pointers, 0 is success.
constexpr int kCore = 0;                    // of temperatures
constexpr int kSmClock = 1, kMemClock = 2;  // of clocks
constexpr int kSent = 0, kReceived = 1;     // of the bus

}  // namespace

/// A function is null if the library is older than it.
struct CardSensors::Library {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*card_by_uuid)(const char*, void**) = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*temperature)(void*, int, unsigned*) = nullptr;
  int (*clock)(void*, int, unsigned*) = nullptr;
  int (*throughput)(void*, int, unsigned*) = nullptr;
  int (*power)(void*, unsigned*) = nullptr;
  int (*power_limit)(void*, unsigned*) = nullptr;
  int (*generation)(void*, unsigned*) = nullptr;
  int (*width)(void*, unsigned*) = nullptr;

  /// What a call tells; nothing if it fails.
  static std::optional<unsigned> Ask(int (*function)(void*, unsigned*), void* card) {
    unsigned value = 0;
    if (function == nullptr || function(card, &value) != 0) return std::nullopt;
    return value;
  }
  static std::optional<unsigned> Ask(int (*function)(void*, int, unsigned*), void* card, int which) {
    unsigned value = 0;
    if (function == nullptr || function(card, which, &value) != 0) return std::nullopt;
    return value;
  }
};

CardSensors::CardSensors(std::unique_ptr<const Library> library) : library_(std::move(library)) {}

StatusOr<std::unique_ptr<CardSensors>> CardSensors::Start(const std::vector<std::string>& uuids) {
  constexpr char kName[] = "libnvidia-ml.so.1";
  void* opened = dlopen(kName, RTLD_NOW | RTLD_LOCAL);  // never closed: it lives as long as the process
  if (opened == nullptr) return absl::NotFoundError(StrCat(kName, " was not found"));
  auto library = std::make_unique<Library>();
  const bool whole = FindFunction(opened, "nvmlInit_v2", library->init) &&
                     FindFunction(opened, "nvmlShutdown", library->shutdown) &&
                     FindFunction(opened, "nvmlDeviceGetHandleByUUID", library->card_by_uuid) &&
                     FindFunction(opened, "nvmlErrorString", library->error_text);
  if (!whole) return absl::UnavailableError(StrCat(kName, " lacks a function; the driver is too old"));
  FindFunction(opened, "nvmlDeviceGetTemperature", library->temperature);
  FindFunction(opened, "nvmlDeviceGetClockInfo", library->clock);
  FindFunction(opened, "nvmlDeviceGetPcieThroughput", library->throughput);
  FindFunction(opened, "nvmlDeviceGetPowerUsage", library->power);
  FindFunction(opened, "nvmlDeviceGetEnforcedPowerLimit", library->power_limit);
  FindFunction(opened, "nvmlDeviceGetCurrPcieLinkGeneration", library->generation);
  FindFunction(opened, "nvmlDeviceGetCurrPcieLinkWidth", library->width);
  if (int error = library->init(); error != 0) {
    return absl::UnavailableError(StrCat("nvmlInit: ", library->error_text(error), " (", error, ")"));
  }
  std::unique_ptr<CardSensors> sensors(new CardSensors(std::move(library)));
  for (const std::string& uuid : uuids) {
    Card card{.uuid = uuid};
    if (sensors->library_->card_by_uuid(uuid.c_str(), &card.handle) == 0) sensors->cards_.push_back(std::move(card));
  }
  CUZK_ASSIGN_OR_RETURN(
      sensors->thread_,
      StartThread("the cards' sensors", [s = sensors.get()](const std::stop_token& stop) { s->Run(stop); }));
  return sensors;
}

CardSensors::~CardSensors() {
  thread_ = {};
  library_->shutdown();
}

std::vector<CardReading> CardSensors::Latest() const {
  MutexLock lock(mutex_);
  return latest_;
}

void CardSensors::Run(const std::stop_token& stop) {
  while (!stop.stop_requested() && !cards_.empty()) {
    std::vector<CardReading> readings;
    for (const Card& card : cards_) readings.push_back(Read(card));
    const TimePoint next = std::chrono::steady_clock::now() + kPause;
    MutexLock lock(mutex_);
    latest_ = std::move(readings);
    while (!stop.stop_requested() && wake_.WaitUntil(mutex_, next, stop)) {
    }
  }
}

CardReading CardSensors::Read(const Card& card) const {
  const Library& library = *library_;
  CardReading reading{.uuid = card.uuid};
  reading.temperature_celsius = Library::Ask(library.temperature, card.handle, kCore);
  reading.sm_clock_mhz = Library::Ask(library.clock, card.handle, kSmClock);
  reading.memory_clock_mhz = Library::Ask(library.clock, card.handle, kMemClock);
  // Milliwatts, and KiB a second.
  if (auto power = Library::Ask(library.power, card.handle)) reading.power_watts = *power / 1000.0;
  if (auto limit = Library::Ask(library.power_limit, card.handle)) reading.power_limit_watts = *limit / 1000.0;
  if (auto sent = Library::Ask(library.throughput, card.handle, kSent)) {
    reading.pcie_sent_bytes_per_second = uint64_t{*sent} << 10;
  }
  if (auto received = Library::Ask(library.throughput, card.handle, kReceived)) {
    reading.pcie_received_bytes_per_second = uint64_t{*received} << 10;
  }
  reading.pcie_generation = Library::Ask(library.generation, card.handle);
  reading.pcie_width = Library::Ask(library.width, card.handle);
  return reading;
}

}  // namespace cuzk::daemon
