#pragma once
// Temperature, power, clocks and bus of the cards, read through the driver's management library, which is found at run
// time.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "daemon/common/card_reading.h"

namespace cuzk::daemon {

class CardSensors {
 public:
  /// Reads the cards with these UUIDs every few seconds on a thread of its own, since a driver may hang. A card that
  /// the library does not know has no reading. NotFound without the library, Unavailable with its error if it does not
  /// start.
  static StatusOr<std::unique_ptr<CardSensors>> Start(const std::vector<std::string>& uuids);
  /// Waits for the reading in hand.
  ~CardSensors();
  CardSensors(const CardSensors&) = delete;
  CardSensors& operator=(const CardSensors&) = delete;

  /// What was read last; empty before the first reading has ended. Waits for nothing.
  std::vector<CardReading> Latest() const;

 private:
  struct Library;
  struct Card {
    std::string uuid;
    void* handle = nullptr;
  };
  explicit CardSensors(std::unique_ptr<const Library> library);
  void Run(const std::stop_token& stop);
  CardReading Read(const Card& card) const;

  const std::unique_ptr<const Library> library_;
  std::vector<Card> cards_;
  mutable Mutex mutex_;
  Condition wake_;
  std::vector<CardReading> latest_ ABSL_GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace cuzk::daemon
