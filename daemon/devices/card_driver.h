#pragma once
// The daemon's boundary to NVIDIA's driver and to the cards behind it: what tests replace by cards that they make up.

#include <memory>
#include <string>

#include "core/base/status.h"
#include "core/base/thread_pool.h"
#include "core/prover/device/device.h"

namespace cuzk::daemon {

/// One thread at a time.
class CardDriver {
 public:
  virtual ~CardDriver() = default;
  /// How many cards the driver shows, at least one. Unavailable, with the driver's number and the cure where it has one
  /// (prover::DriverCodeOf), if it cannot be used. Asks anew each time: a driver may come up late.
  virtual StatusOr<int> Count() = 0;
  /// The name by which the driver's own tools know a card; empty if it does not tell.
  virtual std::string Uuid(int ordinal) = 0;
  /// The card of that number, from 0, ready to prove with at most so many bytes of its memory (0: all that is free).
  /// `pool` outlives the device. Unavailable, with the driver's
  /// number, if this card cannot be used; others may be.
  virtual StatusOr<std::unique_ptr<prover::Device>> Open(int ordinal, uint64_t memory_bytes, ThreadPool& pool) = 0;
  /// Has an opened card compute what the processor knows. DataLoss if the result is wrong; ResourceExhausted if others
  /// hold the card's memory, which says nothing about the card; other errors of the device.
  virtual Status Test(prover::Device& card, ThreadPool& pool) = 0;
};

/// The cards of this machine through CUDA; null in a build without its back end.
std::unique_ptr<CardDriver> MakeCardDriver();

}  // namespace cuzk::daemon
