#pragma once
// What NVIDIA's driver answers when it or a card cannot be used: its own numbers, with the cause and the cure of each.
// A table of numbers, which builds without CUDA read as well.

#include <optional>
#include <span>
#include <string_view>

#include "core/base/status.h"

namespace cuzk::prover {

struct DriverErrorRow {
  int code = 0;           ///< the same number in the driver's library (CUresult) and in the runtime (cudaError_t)
  std::string_view name;  ///< "SystemNotReady"
  std::string_view cause;
  std::string_view cure;
};

/// The number for a driver that shows no card.
inline constexpr int kNoDevice = 100;

/// One row a number, ascending.
std::span<const DriverErrorRow> DriverErrors();
/// Null for a number that the table does not have.
const DriverErrorRow* FindDriverError(int code);

/// Unavailable: "cuInit: 802 (SystemNotReady): the fabric manager is not up; start nvidia-fabricmanager". `call` is
/// what was asked; `said`, if it is not empty, what the driver calls the error. A number that the table does not have
/// is told without cause and cure.
Status DriverError(std::string_view call, int code, std::string_view said = "");
/// The number of an error of DriverError; Annotate keeps it. Nothing for other statuses.
std::optional<int> DriverCodeOf(const Status& status);
/// The same status with the number.
Status WithDriverCode(Status status, int code);

}  // namespace cuzk::prover
