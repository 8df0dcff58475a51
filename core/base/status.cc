#include "core/base/status.h"

namespace cuzk {

Status Annotate(Status status, std::string_view where) {
  if (status.ok()) return status;
  Status annotated(status.code(), StrCat(where, ": ", status.message()));
  status.ForEachPayload(
      [&](absl::string_view type, const absl::Cord& payload) { annotated.SetPayload(type, payload); });
  return annotated;
}

}  // namespace cuzk
