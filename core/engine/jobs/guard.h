#pragma once
// The name by which Clang's thread-safety analysis knows the engine's mutex. Every object of one engine is guarded by
// the same mutex (EngineState::mutex, held through a StateLock), whichever class it is a member of.

#include "absl/base/thread_annotations.h"

namespace cuzk::engine {

struct ABSL_LOCKABLE EngineStateGuard {};
inline constexpr EngineStateGuard kEngineState;

}  // namespace cuzk::engine
