#pragma once
// The sectors of a PoSt whose vanilla proofs do not hold. One error names all of them, for people and for programs.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"

namespace cuzk::circuit {

struct BadSector {
  uint64_t number = 0;  ///< the sector's number
  uint32_t item = 0;    ///< its place in the request, counted from 0
  std::string what;     ///< "challenge 4: root is not comm_r_last"
};

/// The longest text of an error of BadSectorsError.
inline constexpr size_t kBadSectorsText = 1900;

/// InvalidArgument for at least one bad sector. A single one reads "sector 149 (item 1), challenge 4: root is not
/// comm_r_last"; several read "3 sectors are bad: 57, 100-101; sector 57 (item 3), ...". The numbers come before the
/// causes, and what does not fit in kBadSectorsText bytes is counted instead. Of several entries with the same number
/// the first is kept.
Status BadSectorsError(std::vector<BadSector> sectors);

/// The numbers of an error of BadSectorsError, complete and ascending; Annotate keeps them. Empty for other statuses.
std::vector<uint64_t> BadSectorsOf(const Status& status);

}  // namespace cuzk::circuit
