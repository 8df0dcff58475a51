#pragma once
#include "core/base/status.h"
#include "core/prover/device/card_limits.h"

namespace cuzk::gpu {

/// What the current card has. The bus's rate is not asked for. An error of the runtime where there is no card.
StatusOr<prover::CardLimits> CurrentCardLimits();

}  // namespace cuzk::gpu
