// The recorder: an end is on disk before anybody hears of it, so that after a crash nobody hears another.

#include <utility>

#include "core/engine/pipeline.h"

namespace cuzk::engine {

void Pipeline::Write(StoreRecord record) {
  board_.records.push_back(std::move(record));
  board_.recorder_wake.notify_one();
}

void Pipeline::RunRecorder() {
  for (;;) {
    StoreRecord record;
    {
      BoardLock lock(board_);
      board_.recorder_wake.wait(lock.get(), [this] { return board_.stopping || !board_.records.empty(); });
      if (board_.records.empty()) return;
      record = std::move(board_.records.front());
      board_.records.pop_front();
      board_.recording = record.since;
    }
    Record(record);
  }
}

void Pipeline::Record(const StoreRecord& record) {
  Status status;
  switch (record.what) {
    case StoreRecord::What::kEnd:
      status = parts_.store->Finish(record.stored);
      break;
    case StoreRecord::What::kFetched:
      status = parts_.store->Fetched(record.stored.row);
      break;
    case StoreRecord::What::kForget:
      status = parts_.store->Forget(record.stored.row);
      break;
    case StoreRecord::What::kChange:
      status = parts_.store->ChangePriority(record.stored.row, record.stored.priority);
      break;
  }
  BoardLock lock(board_);
  board_.recording.reset();
  if (!status.ok()) {
    board_.counters.store_errors_total++;
    Warn(lock, std::string(status.message()));
  }
  if (record.what == StoreRecord::What::kEnd) {
    Ending ending = *record.job->ending;
    Conclude(lock, *record.job, ending.state, std::move(ending.text));
  }
}

}  // namespace cuzk::engine
