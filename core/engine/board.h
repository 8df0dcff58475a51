#pragma once
// The state that the engine's threads share, and its one mutex. The mutex is held for bookkeeping only: nothing is
// parsed, proved, loaded, reserved or reported under it.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/estimator.h"
#include "core/engine/job_record.h"
#include "core/engine/job_table.h"
#include "core/engine/scheduler.h"
#include "core/engine/status.h"
#include "core/engine/wake_signal.h"
#include "core/groth16/verifier.h"
#include "core/memory/pinned_pool.h"
#include "core/prover/device.h"
#include "core/r1cs/witness.h"
#include "core/store/job_store.h"

namespace cuzk::engine {

/// Counts a partition from its admission until whatever came of it was dealt with. Move-only.
class Passage {
 public:
  Passage() = default;
  Passage(std::atomic<int>& count, WakeSignal& signal) : count_(&count), signal_(&signal) { ++*count_; }
  Passage(Passage&& other) noexcept : count_(std::exchange(other.count_, nullptr)), signal_(other.signal_) {}
  Passage& operator=(Passage&& other) noexcept {
    std::swap(count_, other.count_);
    std::swap(signal_, other.signal_);
    return *this;
  }
  ~Passage() {
    if (count_ == nullptr) return;
    --*count_;
    signal_->Notify();
  }

 private:
  std::atomic<int>* count_ = nullptr;
  WakeSignal* signal_ = nullptr;
};

struct DeviceLine;

/// One partition on its way. Members are destroyed from the last to the first, so the passage ends after all is freed.
struct PartitionTask {
  Passage passage;
  std::shared_ptr<Job> job;
  std::shared_ptr<const ParsedJob> parsed;
  uint32_t index = 0;
  DeviceLine* line = nullptr;
  memory::Reservation host_memory;  ///< what the device needs beside the lease
  std::shared_ptr<const prover::ResidentParameters> parameters;
  TimePoint began{};  ///< of the present stage
};
/// Without a partition (no parameters): the request is to be parsed.
struct SynthesisTask {
  PartitionTask task;
  memory::Lease lease;
};
struct DeviceTask {
  PartitionTask task;
  std::optional<r1cs::Witness> witness;
  uint32_t passed = 0;  ///< by partitions that came to the device's queue later
};
struct FinishTask {
  PartitionTask task;
  groth16::MsmResults results;
};

struct WorkerState {
  std::shared_ptr<Job> job;  ///< null: idle
  uint32_t partition = 0;
  TimePoint since{};
  Duration busy{};  ///< finished partitions
};

/// One device with its queue, workers and loaders.
struct DeviceLine {
  DeviceLine(unsigned index, prover::Device* device, memory::Budget& budget, uint64_t pinned_bytes)
      : index(index), device(device), pool(device->host_allocator(), budget, pinned_bytes) {}

  const unsigned index;
  prover::Device* const device;
  memory::PinnedPool pool;  ///< has a lock of its own

  // Guarded by the board's mutex.
  Status lost;                   ///< not OK once the device is lost
  std::set<uint64_t> lost_jobs;  ///< that were on it then
  prover::MemoryInfo memory;     ///< as last seen
  TimePoint memory_seen{};       ///< when
  std::deque<DeviceTask> queue;  ///< in the order of arrival; who goes next: Pipeline::NextTask
  std::condition_variable wake;  ///< of the workers
  unsigned underway = 0;         ///< admitted for this device, not yet queued
  std::vector<WorkerState> workers;
  uint64_t partitions_total = 0;
  unsigned proving = 0;                             ///< workers that have a partition
  TimePoint proving_since{};                        ///< while there are any
  Duration busy{};                                  ///< before that
  std::map<std::string_view, Duration> stage_time;  ///< of ended partitions, by prover::stage
};

/// Parameters of one circuit on one device.
struct LoadedParameters {
  std::weak_ptr<const prover::ResidentParameters> loaded;   ///< alive while somebody uses them
  std::shared_ptr<const prover::ResidentParameters> fresh;  ///< held from loading to the first use
  bool loading = false;
  std::stop_source stop;  ///< of the load that goes on
  Status failed;          ///< of the last attempt
  std::shared_ptr<const prover::ResidentParameters> Lock() const { return fresh ? fresh : loaded.lock(); }
};

/// One circuit that jobs asked for.
struct CircuitDesk {
  const filecoin::Circuit* circuit = nullptr;
  std::shared_ptr<const r1cs::Shape> shape;
  uint64_t lease_bytes = 0;
  std::shared_ptr<const groth16::Verifier> verifier;
  std::vector<LoadedParameters> lines;  ///< by DeviceLine::index
};

/// Something for the job store.
struct StoreRecord {
  enum class What { kEnd, kFetched, kForget, kChange } what{};
  std::shared_ptr<Job> job;  ///< kEnd
  store::StoredJob stored;   ///< kEnd, kChange; the others have the row alone
  TimePoint since = std::chrono::steady_clock::now();
};

struct ErrorNote {
  std::string text;
  TimePoint when{};
};

struct Board {
  explicit Board(Retention retention, uint32_t overtakes) : jobs(retention), scheduler(overtakes) {}

  mutable std::mutex mutex;  ///< guards everything below that has no lock of its own
  JobTable jobs;
  Scheduler scheduler;
  Estimator estimator;
  EngineCounters counters;
  std::map<filecoin::Kind, KindStatus> kinds;  ///< the totals
  std::deque<ErrorNote> last_errors;           ///< newest first
  std::map<std::string, CircuitDesk> circuits;
  std::vector<std::unique_ptr<DeviceLine>> lines;
  std::deque<SynthesisTask> synthesis;
  unsigned synthesis_idle = 0;  ///< threads that wait for a task
  std::deque<FinishTask> finishing;
  std::deque<StoreRecord> records;     ///< for the recorder
  std::optional<TimePoint> recording;  ///< when the record came that it has in hand
  bool draining = false;
  bool stopping = false;
  std::string refusing;                  ///< why nothing is accepted, if no device is left
  std::chrono::seconds max_job_time{0};  ///< from submission; 0: no limit

  std::condition_variable_any ended;  ///< some job ended
  std::condition_variable synthesis_wake, finisher_wake, loader_wake, recorder_wake;

  // With locks of their own. Memory that belongs neither to those counted here nor to a job in the table is idle.
  WakeSignal admission;
  std::atomic<int> in_flight = 0;  ///< partitions, requests that are being parsed or taken in, remains of ended jobs
  std::atomic<int> loads = 0;      ///< of parameters
};

/// The board's mutex, held from construction to destruction; what was put off runs after it was let go.
class BoardLock {
 public:
  explicit BoardLock(const Board& board) : lock_(board.mutex) {}
  ~BoardLock() {
    lock_.unlock();
    for (auto& call : after_) call();
  }
  BoardLock(const BoardLock&) = delete;
  BoardLock& operator=(const BoardLock&) = delete;
  /// Reports, and destruction of what is large.
  void After(std::function<void()> call) { after_.push_back(std::move(call)); }
  std::unique_lock<std::mutex>& get() { return lock_; }

 private:
  std::unique_lock<std::mutex> lock_;
  std::vector<std::function<void()>> after_;
};

}  // namespace cuzk::engine
