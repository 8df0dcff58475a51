#include "daemon/app/cards/xid_watch.h"

#include <dlfcn.h>

#include <chrono>
#include <utility>

#include "core/base/thread.h"
#include "daemon/common/loaded_library.h"
#include "daemon/common/xid.h"

namespace cuzk::daemon {
namespace {

// As the library's interface declares them: handles are pointers, 0 is success.
constexpr int kTimeout = 10, kCardLost = 15;
constexpr unsigned long long kXidEvent = 8;
struct Event {
  void* card;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

}  // namespace

struct XidWatch::Library {
  int (*init)();
  int (*shutdown)();
  int (*card_by_uuid)(const char*, void**);
  int (*make_events)(void**);
  int (*free_events)(void*);
  int (*listen)(void*, unsigned long long, void*);
  int (*wait)(void*, Event*, unsigned);
  const char* (*error_text)(int);

  Status Error(std::string_view call, int error) const {
    return absl::UnavailableError(StrCat(call, ": ", error_text(error), " (", error, ")"));
  }
};

XidWatch::XidWatch(std::unique_ptr<const Library> library, Metrics& metrics, Logger& log, OnFatal on_fatal)
    : library_(std::move(library)), metrics_(metrics), log_(log), on_fatal_(std::move(on_fatal)) {}

StatusOr<std::unique_ptr<XidWatch>> XidWatch::Start(const std::vector<WatchedCard>& cards, Metrics& metrics,
                                                    Logger& log, OnFatal on_fatal) {
  constexpr char kName[] = "libnvidia-ml.so.1";
  void* opened = dlopen(kName, RTLD_NOW | RTLD_LOCAL);  // never closed: it lives as long as the process
  if (opened == nullptr) return absl::NotFoundError(StrCat(kName, " was not found"));
  auto library = std::make_unique<Library>();
  const bool whole = FindFunction(opened, "nvmlInit_v2", library->init) &&
                     FindFunction(opened, "nvmlShutdown", library->shutdown) &&
                     FindFunction(opened, "nvmlDeviceGetHandleByUUID", library->card_by_uuid) &&
                     FindFunction(opened, "nvmlEventSetCreate", library->make_events) &&
                     FindFunction(opened, "nvmlEventSetFree", library->free_events) &&
                     FindFunction(opened, "nvmlDeviceRegisterEvents", library->listen) &&
                     FindFunction(opened, "nvmlEventSetWait_v2", library->wait) &&
                     FindFunction(opened, "nvmlErrorString", library->error_text);
  if (!whole) return absl::UnavailableError(StrCat(kName, " lacks a function; the driver is too old"));
  if (int error = library->init(); error != 0) return library->Error("nvmlInit", error);
  std::unique_ptr<XidWatch> watch(new XidWatch(std::move(library), metrics, log, std::move(on_fatal)));
  CUZK_RETURN_IF_ERROR(watch->Listen(cards));
  CUZK_ASSIGN_OR_RETURN(watch->thread_, StartThread("the driver's events",
                                                    [w = watch.get()](const std::stop_token& stop) { w->Run(stop); }));
  return watch;
}

XidWatch::~XidWatch() {
  thread_ = {};
  if (events_ != nullptr) library_->free_events(events_);
  library_->shutdown();
}

Status XidWatch::Listen(const std::vector<WatchedCard>& cards) {
  if (int error = library_->make_events(&events_); error != 0) return library_->Error("nvmlEventSetCreate", error);
  for (const WatchedCard& name : cards) {
    Card card{.name = name};
    int error = library_->card_by_uuid(name.uuid.c_str(), &card.handle);
    if (error == 0) error = library_->listen(card.handle, kXidEvent, events_);
    if (error != 0) {
      log_.Warning("the driver does not report Xid errors of this card",
                   {{"gpu", StrCat(name.ordinal)}, {"err", library_->error_text(error)}});
      continue;
    }
    metrics_.Increment(MetricId::kDeviceXids, {StrCat(name.ordinal), name.uuid}, 0);
    cards_.push_back(std::move(card));
  }
  return absl::OkStatus();
}

void XidWatch::Run(const std::stop_token& stop) {
  constexpr unsigned kWaitMilliseconds = 500;
  while (!stop.stop_requested() && !cards_.empty()) {
    Event event{};
    const int error = library_->wait(events_, &event, kWaitMilliseconds);
    if (error == 0) {
      if (event.type == kXidEvent) Report(event.card, event.data);
    } else if (error == kCardLost) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kWaitMilliseconds));  // the others are still there
    } else if (error != kTimeout) {
      log_.Warning("the driver no longer reports Xid errors", {{"err", library_->error_text(error)}});
      return;
    }
  }
}

void XidWatch::Report(void* handle, unsigned long long code) {
  for (const Card& card : cards_) {
    if (card.handle != handle) continue;
    metrics_.Increment(MetricId::kDeviceXids, {StrCat(card.name.ordinal), card.name.uuid});
    log_.Error("the driver reports an error of this card",
               {{"gpu", StrCat(card.name.ordinal)}, {"gpu_uuid", card.name.uuid}, {"xid", StrCat(code)}});
    const XidRow& row = XidRowOf(code);
    if (row.verdict == XidVerdict::kFatal) on_fatal_(card.name, StrCat("Xid ", code, ", ", row.meaning));
  }
}

}  // namespace cuzk::daemon
