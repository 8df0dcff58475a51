#pragma once
// What the errors mean that NVIDIA's driver reports of its cards (Xid), as NVIDIA's catalogue has them.

#include <string_view>

namespace cuzk::daemon {

enum class XidVerdict {
  kProgram,  ///< a program's fault: the card is well
  kWarning,  ///< the card works and should be looked after
  kFatal     ///< the catalogue asks for a reset of the card or of the machine: no more work for it
};

struct XidRow {
  unsigned code = 0;
  XidVerdict verdict{};
  std::string_view meaning, advice;
};

/// The row of a code that a prover meets. For a code without a row: a warning that points to the catalogue.
const XidRow& XidRowOf(unsigned long long code);

}  // namespace cuzk::daemon
