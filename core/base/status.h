#pragma once
// Every boundary returns absl::Status or absl::StatusOr; nothing throws. The package of Abseil has no propagation
// macros, so the two are here.

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/text.h"

namespace cuzk {

using absl::Status;
using absl::StatusOr;

/// The same code and payloads, with `where` and ": " before the message. OK stays OK.
Status Annotate(Status status, std::string_view where);

}  // namespace cuzk

#define CUZK_CONCAT_INNER(a, b) a##b
#define CUZK_CONCAT(a, b) CUZK_CONCAT_INNER(a, b)

/// Returns the status from the enclosing function unless it is OK.
#define CUZK_RETURN_IF_ERROR(expr)               \
  do {                                           \
    ::absl::Status cuzk_status_ = (expr);        \
    if (!cuzk_status_.ok()) return cuzk_status_; \
  } while (false)

/// `CUZK_ASSIGN_OR_RETURN(auto x, F())`: the value, or the error returned from the enclosing function.
#define CUZK_ASSIGN_OR_RETURN(lhs, expr) CUZK_ASSIGN_OR_RETURN_IMPL(CUZK_CONCAT(cuzk_or_, __LINE__), lhs, expr)
#define CUZK_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                               \
  if (!tmp.ok()) return std::move(tmp).status();   \
  lhs = *std::move(tmp)
