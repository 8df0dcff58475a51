#include "core/base/status.h"

namespace cuzk {

Status Annotate(Status status, std::string_view where) {
  if (status.ok()) return status;
  return Status(status.code(), StrCat(where, ": ", status.message()));
}

}  // namespace cuzk
