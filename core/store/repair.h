#pragma once
// What the disk has changed in the job store: noticed by digests when the store is opened, and dealt with job by job.

#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/store/database.h"
#include "core/store/payload.h"

namespace cuzk::store {

/// A damaged job becomes unfinished again where its request is whole; otherwise it has failed. Returns one line for
/// people about each.
StatusOr<std::vector<std::string>> RepairRows(Database& database, const PayloadFiles& payloads, const Clock& clock);

}  // namespace cuzk::store
