#pragma once
// The way of a job through the house: parsed on a synthesis thread, its partitions admitted one by one as memory
// allows, synthesised into leases, proved by two workers a device, assembled and verified by the finisher. Each
// thread's loop is in a file of its own: admission.cc (and relief.cc, for when memory is short), synthesis.cc,
// loader.cc, device_worker.cc, finisher.cc, recorder.cc. How a job ends is in endings.cc.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/engine/board.h"
#include "core/engine/engine.h"
#include "core/engine/parameter_source.h"
#include "core/engine/proof_work.h"
#include "core/engine/timeline.h"

namespace cuzk::engine {

/// What the pipeline works with. All must outlive it.
struct PipelineParts {
  const EngineOptions* options = nullptr;
  const EngineParts* engine = nullptr;
  ProofWork* work = nullptr;
  ParameterSource* parameters = nullptr;
  EventHub* events = nullptr;
  TimelineLog* timeline = nullptr;
  store::JobStore* store = nullptr;  ///< may be null
};

/// Thread-safe. The destructor stops every unfinished job and joins.
class Pipeline {
 public:
  explicit Pipeline(const PipelineParts& parts);
  ~Pipeline();

  Board& board() { return board_; }
  const Board& board() const { return board_; }
  TimePoint Now() const;

  /// A deadline, or none, within what the operator lets a job take from its submission. With the board locked.
  std::optional<TimePoint> WithinLimit(std::optional<TimePoint> deadline, TimePoint submitted) const;
  /// Takes up a job that was just added to the table. With the board locked.
  void Enter(Job& job);
  /// An equal request came in: the job takes the higher priority and the later deadline. With the board locked.
  void Join(Job& job, Priority priority, std::optional<TimePoint> deadline);
  /// Ends a job: at once, or where it is stored once that is written. `text` is the proof or the error. With the board
  /// locked. False if it was over before.
  bool End(BoardLock& lock, Job& job, JobState state, std::string text);
  /// Ends a job that was in work too often when its device was lost or the process died; `last` says how it went the
  /// last time. With the board locked.
  void GiveUp(BoardLock& lock, Job& job, std::string_view last);
  /// Stops every unfinished job: a stored one is kept for the next start, any other ends. With the board locked.
  /// Returns how many those were.
  uint32_t StopAll(BoardLock& lock, JobState state, const std::string& text);
  /// Why an Await of a stopped job that the store keeps has no result. With the board locked.
  Status Kept(const Job& job) const;
  /// The most that requests and their parsed forms may hold of the budget.
  uint64_t request_limit() const { return request_limit_; }
  /// Ends every load, for good.
  void StopLoading() { stop_.request_stop(); }
  std::stop_token loading_stop() const { return stop_.get_token(); }
  /// Whether every job has ended or was stopped for the next start. With the board locked.
  bool Drained() const;
  /// Somebody got the result. With the board locked.
  void Fetched(Job& job);
  /// The store need not keep a row any more; 0: there is none. With the board locked.
  void Forget(int64_t row);
  /// When the store took the oldest of what it has not answered, or got the oldest record that waits for it; by the
  /// steady clock. With the board locked; waits for nothing.
  std::optional<TimePoint> StoreAsked() const;
  /// UNAVAILABLE if it was asked something too long ago; records that wait their turn are no reason. Waits for nothing.
  Status StoreAnswers() const;
  /// Something that an operator should read: in the log and among the last errors. With the board locked.
  void Warn(BoardLock& lock, std::string text);
  /// The shape of a circuit, made on the first call. Blocks.
  StatusOr<std::shared_ptr<const r1cs::Shape>> ShapeOf(const filecoin::Circuit& circuit);
  /// What Watch tells about a job. With the board locked.
  JobProgress ProgressOf(Job& job) const;

 private:
  // pipeline.cc, all with the board locked
  void Refresh(Job& job);
  void Publish(Job& job);
  void ReturnPartition(Job& job, uint32_t index);
  void LoseDevice(BoardLock& lock, DeviceLine& line, const Status& why);
  void Note(std::string text);
  CircuitDesk& Desk(const filecoin::Circuit& circuit);
  bool Live(const CircuitDesk& desk) const;
  // pipeline.cc, with or without the lock
  void Draw(const PartitionTask& task, std::string_view name, const std::string& track, TimePoint begin);
  // pipeline.cc, without the lock
  void Measured(const Job& job, Stage stage, Duration duration);

  // endings.cc, all with the board locked but for Report
  void StopWork(BoardLock& lock, Job& job);
  void Conclude(BoardLock& lock, Job& job, JobState state, std::string text);
  std::vector<std::shared_ptr<Job>> Unfinished() const;
  void Report(Job& job, const JobResult& result);

  // admission.cc
  struct Wanted;
  void RunAdmission();
  void Tick();
  bool Turn();
  bool MayGo(uint64_t key) const;
  DeviceLine* ChooseLine(const Job& job, uint32_t index) const;
  bool Pick(Wanted* wanted);
  Status Provide(Wanted& wanted);
  bool Dispatch(Wanted wanted);

  // relief.cc
  bool Refused(const Wanted& wanted, const Status& status);
  bool Relieve();
  bool SetAside(BoardLock& lock, const Job* favoured);
  std::vector<std::shared_ptr<const prover::ResidentParameters>> TakeFresh(const std::string& except);

  // synthesis.cc
  void RunSynthesis(unsigned thread);
  void Parse(PartitionTask task, const std::string& track);
  void Synthesize(SynthesisTask synthesis, const std::string& track);
  void Queue(DeviceTask task);

  // loader.cc
  /// What a loader takes on: any circuit, or one whose parameters the store has and nobody uses. That one takes no
  /// time, and has a loader of its own so that it never waits behind gigabytes.
  enum class Loader { kAny, kAtHand };
  void RunLoader(DeviceLine& line, Loader loader);
  Job* NextToLoad(DeviceLine& line, Loader loader);
  void Load(DeviceLine& line, const filecoin::Circuit& circuit, std::stop_source stop);
  void StopUnwantedLoads(const Job& over);
  StatusOr<std::shared_ptr<const prover::ResidentParameters>> Fetch(DeviceLine& line, const filecoin::Circuit& circuit,
                                                                    std::stop_token stop);
  void LoadFailed(BoardLock& lock, DeviceLine& line, CircuitDesk& desk, const Status& status);

  // device_worker.cc
  void RunWorker(DeviceLine& line, unsigned worker);
  void Prove(DeviceLine& line, unsigned worker, DeviceTask task);
  std::deque<DeviceTask>::iterator NextTask(DeviceLine& line, unsigned worker) const;
  DeviceTask TakeNext(DeviceLine& line, unsigned worker);
  StatusOr<groth16::MsmResults> RunOnDevice(DeviceLine& line, unsigned worker, DeviceTask& task);
  void DeviceError(DeviceLine& line, PartitionTask task, const Status& status);
  void DeviceLost(DeviceLine& line, const PartitionTask& task, const Status& why);

  // finisher.cc
  void RunFinisher();
  void FinishPartition(FinishTask task);
  void FinishJob(const PartitionTask& task);
  bool ProveAgain(BoardLock& lock, Job& job, uint32_t index, const std::string& what);

  // recorder.cc
  void Write(StoreRecord record);  // with the board locked
  void RunRecorder();
  void Record(const StoreRecord& record);

  const PipelineParts parts_;
  const EngineOptions& options_;
  memory::Budget& budget_;
  const uint64_t request_limit_;  // of the budget, for requests
  const unsigned synthesis_threads_;
  Board board_;
  std::stop_source stop_;       // of loading
  std::mutex shape_mutex_;      // one shape is made at a time
  memory::Reservation held_;    // of admission: host memory of a partition whose lease is not there yet
  bool lease_missing_ = false;  // of admission: the latest turn waits for a lease
  memory::Registration budget_listener_;
  std::vector<std::jthread> threads_;  // last: joined first
};

}  // namespace cuzk::engine
