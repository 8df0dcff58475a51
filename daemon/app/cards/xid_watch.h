#pragma once
// The errors that NVIDIA's driver reports of its cards (Xid), heard through the driver's management library, which is
// found at run time: a build without CUDA and a machine without that library do without.

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/log.h"
#include "core/base/metrics/metrics.h"
#include "core/base/status.h"

namespace cuzk::daemon {

/// A card by the number that metrics call it, and by the driver's name of it ("GPU-...").
struct WatchedCard {
  int ordinal = 0;
  std::string uuid;
};

class XidWatch {
 public:
  /// Told of every Xid that NVIDIA's catalogue answers with a reset, from the listening thread.
  using OnFatal = std::function<void(const WatchedCard& card, const std::string& what)>;

  /// Counts every Xid of the cards in cuzk_gpu_xid_total and tells it in the log, from now on. A card has its series
  /// once the library listens for it; one that it cannot listen for (a part of a card, an old one) is named in the log.
  /// NotFound without the library, Unavailable with its error if it does not start. Logger and metrics must outlive it.
  static StatusOr<std::unique_ptr<XidWatch>> Start(const std::vector<WatchedCard>& cards, Metrics& metrics, Logger& log,
                                                   OnFatal on_fatal);
  /// Waits for the listening thread: half a second.
  ~XidWatch();

 private:
  struct Library;
  struct Card {
    WatchedCard name;
    void* handle = nullptr;
  };
  XidWatch(std::unique_ptr<const Library> library, Metrics& metrics, Logger& log, OnFatal on_fatal);
  Status Listen(const std::vector<WatchedCard>& cards);
  void Run(const std::stop_token& stop);
  void Report(void* handle, unsigned long long code);

  const std::unique_ptr<const Library> library_;
  Metrics& metrics_;
  Logger& log_;
  const OnFatal on_fatal_;
  void* events_ = nullptr;
  std::vector<Card> cards_;
  std::jthread thread_;
};

}  // namespace cuzk::daemon
