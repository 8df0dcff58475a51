#pragma once
// A job as the store keeps it. The store knows what lies in a row, not what may become of a job.

#include <cstdint>
#include <string>

#include "core/base/bytes.h"
#include "core/filecoin/types/registry.h"
#include "core/filecoin/types/request.h"

namespace cuzk::store {

/// The numbers are those of the column `state`.
enum class RowState : int64_t { kUnfinished = 0, kCompleted = 2, kFailed = 3, kCancelled = 4 };
inline bool HasEnded(RowState state) { return state != RowState::kUnfinished; }

/// Milliseconds that a job spent in each stage, a column each. Sums over partitions may exceed the total.
struct StageTimes {
  uint64_t queue_wait_ms = 0, srs_load_ms = 0, synthesis_ms = 0, gpu_compute_ms = 0, total_ms = 0;
};

/// Milliseconds by stage. Partitions overlap, so that the stages may add up to more than the total.
struct JobTimes {
  uint64_t queued_ms = 0, parsing_ms = 0, loading_ms = 0, synthesis_ms = 0, waiting_ms = 0, device_ms = 0,
           finishing_ms = 0, verifying_ms = 0, total_ms = 0;
};

/// What a request says that it is about, as far as people ask for it. It decides nothing.
struct Subject {
  uint64_t miner = 0;      ///< 0: not said
  uint64_t sector = 0;     ///< of a PoRep or a snap
  uint32_t partition = 0;  ///< of a WindowPoSt
};

/// Times of day are milliseconds since 1970.
struct StoredJob {
  int64_t row = 0;  ///< given by Accept, ascending; never 0
  std::string id;
  filecoin::Kind kind{};
  uint8_t priority = 0;  ///< as in the request message, 1 to 4
  Bytes32 digest{};      ///< PayloadDigest of the request
  int64_t submitted_ms = 0;
  RowState state = RowState::kUnfinished;
  uint64_t registered_proof = 0;  ///< the request's
  uint64_t payload_bytes = 0;     ///< the request's
  Subject subject;                ///< the request's
  std::string proof, error;       ///< of a job that ended: one of them
  StageTimes times;               ///< of a completed job
  uint32_t losses = 0;            ///< how often it was in work when its device was lost or the process died
  bool fetched = false;           ///< a caller has received the result
  int64_t finished_ms = 0;
};

}  // namespace cuzk::store
