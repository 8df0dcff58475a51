#pragma once
// Row bytes of the reference digest (circuit-counts §4), and a digest that is fed by a recorder.

#include <string>
#include <vector>

#include "core/base/hash.h"
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

/// Hashes rows as they come: the whole stream, and each chunk of `chunk_rows` for itself.
class DigestSink : public r1cs::RowSink {
 public:
  /// `name` gives the namespace path of the row being made. `counts` go before the rows. Rows at and after
  /// `max_chunks` chunks (0: no limit) are dropped, and then there is no whole digest.
  DigestSink(const r1cs::ShapeCounts& counts, uint64_t chunk_rows, const DigestOptions& options,
             std::function<std::string()> name, ThreadPool& pool);

  void OnRow(const r1cs::Row& row) override;
  /// Whether nothing more is wanted.
  bool full() const { return max_rows_ != 0 && rows_ >= max_rows_; }
  /// Spends the sink.
  CircuitDigest Finish();

 private:
  void Drain();
  void EndChunk();

  CircuitDigest digest_;
  const uint64_t max_rows_;
  const Progress progress_;
  const std::function<std::string()> name_;
  ThreadPool& pool_;
  CoefficientBytes coefficients_;
  Hasher whole_;
  Hasher chunk_;
  uint64_t rows_ = 0;
  std::vector<uint8_t> pending_;
  size_t filled_ = 0;
  /// Where in pending_ a chunk ends, in order.
  std::vector<size_t> chunk_ends_;
  std::vector<Bytes32> finished_;
};

}  // namespace cuzk::circuit
