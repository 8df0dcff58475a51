#include "daemon/app/cards/device_wait.h"

#include <utility>

namespace cuzk::daemon {

StatusOr<DeviceChoice> AwaitDevices(const DeviceWait& wait) {
  const auto end = wait.now() + wait.limit;
  bool waited = false;
  for (;;) {
    DeviceSearch search = wait.look();
    if (search.choice.ok() || !search.may_come) return std::move(search.choice);
    const Status cause = search.choice.status();
    if (wait.now() >= end) {
      if (!waited) return cause;
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait.limit).count();
      return Annotate(cause, StrCat("waited ", seconds, " s (devices.wait)"));
    }
    CUZK_RETURN_IF_ERROR(wait.tell(std::string(cause.message())));
    waited = true;
    if (!wait.pause()) return absl::CancelledError("the daemon is stopping");
  }
}

}  // namespace cuzk::daemon
