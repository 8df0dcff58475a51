#pragma once
// The tables of the job store and what earlier programs wrote: each format is made from the one before by one step.

#include "core/base/status.h"
#include "core/store/database.h"

namespace cuzk::store {

/// The format that this program writes, kept in `user_version`.
inline constexpr int kFormat = 5;

/// Makes the tables of an empty database; brings one of an earlier format to this one, all or nothing. What an earlier
/// format had no digest of is taken as it is. FAILED_PRECONDITION for the format of a later program.
Status BringUpToDate(Database& database);

}  // namespace cuzk::store
