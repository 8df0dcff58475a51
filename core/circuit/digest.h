#pragma once
// Row bytes of the digest (docs/FORMATS.md, Digest of a circuit), and a digest that is fed by a recorder.

#include <array>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/base/mutex.h"
#include "core/circuit/circuit.h"

namespace cuzk::circuit {

/// Canonical big-endian bytes of coefficients, remembered: circuits use few different ones.
class CoefficientBytes {
 public:
  CoefficientBytes() : slots_(kSlots) {}
  /// Writes 32 bytes.
  void Write(const Fr& coefficient, uint8_t* out);

 private:
  static constexpr size_t kSlots = size_t{1} << 14;
  struct Slot {
    Fr coefficient = Fr::Zero();
    Fr::Bytes bytes{};
  };
  std::vector<Slot> slots_;
};

/// Hashes rows as they arrive: the whole stream, and each chunk of `chunk_rows` by itself. The hashes run in the
/// threads that call Help(), beside the recorder; if no thread does, the recorder's thread computes them itself. At
/// most three threads find work; the longest of their tasks is the hash of the whole stream, which is sequential.
class DigestSink : public r1cs::RowSink {
 public:
  /// `name` gives the namespace path of the row being made. `counts` go before the rows. Rows at and after
  /// `max_chunks` chunks (0: no limit) are dropped, and then there is no whole digest.
  DigestSink(const r1cs::ShapeCounts& counts, uint64_t chunk_rows, const DigestOptions& options,
             std::function<std::string()> name);

  void OnRow(const r1cs::Row& row) override;
  /// Whether nothing more is wanted.
  bool full() const { return max_rows_ != 0 && rows_ >= max_rows_; }
  /// Hashes what the recorder has made, until End was called and everything is hashed. From any thread but the
  /// recorder's.
  void Help();
  /// After the last row, from the recorder's thread: works off what is left.
  void End();
  /// When End and every Help have returned. Spends the sink.
  CircuitDigest Finish();

 private:
  /// Row bytes that wait to be hashed, and where in them chunks end.
  struct Buffer {
    std::vector<uint8_t> bytes;
    size_t filled = 0;
    std::vector<size_t> chunk_ends;
  };
  enum Lane : size_t { kWhole, kChunks, kLanes };
  static constexpr size_t kBuffers = 4;

  Buffer& current() { return buffers_[produced_ % kBuffers]; }
  /// Gives the recorder's buffer to the lanes and waits for a free one.
  void Seal();
  /// A lane that has data to hash and no thread, or kLanes.
  Lane Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Hashes the lane's next buffer; the mutex is free while it does.
  void Work(Lane lane) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Hash(Lane lane, const Buffer& buffer);
  bool Hashed(uint64_t buffers) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return done_[kWhole] >= buffers && done_[kChunks] >= buffers;
  }

  CircuitDigest digest_;
  const uint64_t max_rows_;
  const Progress progress_;
  const std::function<std::string()> name_;
  CoefficientBytes coefficients_;
  uint64_t rows_ = 0;
  std::array<Buffer, kBuffers> buffers_;

  Mutex mutex_;
  Condition changed_;
  uint64_t produced_ = 0;  // buffers given to the lanes; written by the recorder under mutex_
  std::array<uint64_t, kLanes> done_ ABSL_GUARDED_BY(mutex_){};  // buffers that a lane has hashed
  std::array<bool, kLanes> busy_ ABSL_GUARDED_BY(mutex_){};
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;

  // Each belongs to the thread that works on its lane.
  Hasher whole_, chunk_;
  std::vector<Bytes32> finished_;
};

}  // namespace cuzk::circuit
