#pragma once
// Cards that are made up, behind the daemon's own boundary to the driver: each is a faulty device over the CPU device.

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/devices/card_driver.h"
#include "tests/doubles/faulty_device.h"

namespace cuzk::testing_support {

/// What the driver says is read from a file each time it is asked, so that a test changes it while the daemon runs. One
/// word stands for the driver or for each card:
///   802              the driver cannot be used, by that number of its own
///   cards ok 46 wrong full
///                    it shows four cards: a healthy one, one that cannot be opened (46), one that computes wrong, and
///                    one whose memory others hold
/// Cards have the numbers 0, 1, ... and the names GPU-double-0, GPU-double-1, ... Thread-safe.
class ScriptedCards final : public daemon::CardDriver {
 public:
  explicit ScriptedCards(std::filesystem::path script) : script_(std::move(script)) {}

  StatusOr<int> Count() override;
  std::string Uuid(int ordinal) override;
  StatusOr<std::unique_ptr<prover::Device>> Open(int ordinal, uint64_t memory_bytes, ThreadPool& pool) override;
  Status Test(prover::Device& card, ThreadPool& pool) override;

  /// The newest device of that number, null before it was opened. Lives as long as the daemon's.
  FaultyDevice* Opened(int ordinal) const;

 private:
  std::vector<std::string> Words() const;
  std::string WordOf(int ordinal) const;

  const std::filesystem::path script_;
  mutable std::mutex mutex_;
  std::vector<FaultyDevice*> opened_;  // by number; guarded by mutex_
};

}  // namespace cuzk::testing_support
