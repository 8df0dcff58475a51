#pragma once
// Whether the daemon makes progress: judged from the work that it did between two looks, not from a timer that runs.

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/engine/jobs/status.h"

namespace cuzk::daemon {

/// What one look saw.
struct LivenessSample {
  struct Device {
    std::string name;
    bool lost = false;          ///< or taken out
    bool busy = false;          ///< has a partition in work or waiting
    bool on_processor = false;  ///< computes in this process: then the processor time that it takes is work as well
    std::string work;           ///< differs whenever the device has done something
  };
  uint64_t scheduler_turns = 0;
  bool store_hangs = false;      ///< the job store does not answer
  double processor_seconds = 0;  ///< of the whole process
  std::vector<Device> devices;
};

LivenessSample MakeSample(const engine::EngineStatus& status);

/// Not thread-safe. The caller gives the times.
class Liveness {
 public:
  /// The scheduler, and every busy device, must do something once in `patience`. A device is not judged while the job
  /// store hangs, which may be what stops it: to end the process would not move the disk, and would lose what was
  /// proved.
  explicit Liveness(engine::Duration patience) : patience_(patience) {}

  /// To be called about once a second. Where the look before was kLongestPause ago or more, the whole process stood
  /// still, as when it is stopped or the machine is suspended: that time counts for nothing.
  void See(const LivenessSample& sample, engine::TimePoint now);
  /// Empty while the scheduler runs and at least one device works or is idle; otherwise what makes no progress.
  std::string Stuck(engine::TimePoint now) const;

 private:
  struct Mover {
    std::string work;
    engine::TimePoint moved{};
    bool lost = false;  ///< or taken out
  };
  /// So much of one core for the time between two looks counts as work of a device on the processor.
  static constexpr double kBusyShare = 0.2;
  /// Of `patience`, between two looks.
  static constexpr int kLongestPause = 2;

  const engine::Duration patience_;
  Mover scheduler_;
  std::map<std::string, Mover> devices_;
  engine::TimePoint looked_{};
  double processor_seconds_ = 0;
};

}  // namespace cuzk::daemon
