#include "core/circuit/digest.h"

#include <bit>

#include "core/circuit/kinds.h"

namespace cuzk::circuit {
namespace {

/// What the recorder makes before it is hashed.
constexpr size_t kBufferBytes = size_t{8} << 20;
/// 'I' or 'A', index, coefficient.
constexpr size_t kTermBytes = 1 + 8 + 32;

void Append64(uint8_t*& out, uint64_t value) {
  StoreBe<uint64_t>(out, value);
  out += 8;
}

}  // namespace

void CoefficientBytes::Write(const Fr& coefficient, uint8_t* out) {
  const uint64_t mixed = (coefficient.limb[0] ^ coefficient.limb[2]) * 0x9e3779b97f4a7c15ull;
  Slot& slot = slots_[mixed >> 50];
  static_assert(kSlots == size_t{1} << 14);
  if (slot.coefficient != coefficient) slot = {coefficient, coefficient.ToBytesBe()};
  std::memcpy(out, slot.bytes.data(), slot.bytes.size());
}

DigestSink::DigestSink(const r1cs::ShapeCounts& counts, uint64_t chunk_rows, const DigestOptions& options,
                       std::function<std::string()> name)
    : max_rows_(options.max_chunks * chunk_rows),
      progress_(options.progress),
      name_(std::move(name)),
      whole_(HashKind::kBlake2s256),
      chunk_(HashKind::kBlake2s256) {
  for (Buffer& buffer : buffers_) buffer.bytes.resize(kBufferBytes);
  digest_.counts = counts;
  digest_.chunk_rows = chunk_rows;
  std::array<uint8_t, 24> header;
  uint8_t* out = header.data();
  Append64(out, counts.inputs);
  Append64(out, counts.aux);
  Append64(out, counts.rows);
  whole_.Update(header);
}

void DigestSink::OnRow(const r1cs::Row& row) {
  if (full()) return;
  size_t bytes = 0;
  for (const auto& side : row.sides) bytes += 8 + side.size() * kTermBytes;
  if (current().filled + bytes > current().bytes.size()) Seal();
  Buffer& buffer = current();
  if (bytes > buffer.bytes.size()) buffer.bytes.resize(bytes);
  if (rows_ % digest_.chunk_rows == 0) digest_.chunks.push_back({row.index, {}, name_()});
  uint8_t* out = buffer.bytes.data() + buffer.filled;
  for (const auto& side : row.sides) {
    Append64(out, side.size());
    for (const r1cs::Term& term : side) {
      *out++ = term.variable.is_aux() ? 'A' : 'I';
      Append64(out, term.variable.index());
      coefficients_.Write(term.coefficient, out);
      out += 32;
    }
  }
  buffer.filled += bytes;
  ++rows_;
  if (rows_ % digest_.chunk_rows == 0) buffer.chunk_ends.push_back(buffer.filled);
}

void DigestSink::Seal() {
  {
    MutexLock lock(mutex_);
    ++produced_;
    changed_.NotifyAll();
    // The buffer that comes next was last used kBuffers ago.
    while (produced_ >= kBuffers && !Hashed(produced_ - kBuffers + 1)) {
      const Lane lane = Take();
      lane == kLanes ? changed_.Wait(mutex_) : Work(lane);
    }
    current().filled = 0;
    current().chunk_ends.clear();
  }
  if (progress_) progress_(rows_, max_rows_ == 0 ? digest_.counts.rows : std::min(max_rows_, digest_.counts.rows));
}

DigestSink::Lane DigestSink::Take() {
  for (const Lane lane : {kWhole, kChunks}) {
    if (!busy_[lane] && done_[lane] < produced_) return lane;
  }
  return kLanes;
}

void DigestSink::Work(Lane lane) {
  busy_[lane] = true;
  const Buffer& buffer = buffers_[done_[lane] % kBuffers];
  mutex_.Unlock();
  Hash(lane, buffer);
  mutex_.Lock();
  busy_[lane] = false;
  ++done_[lane];
  changed_.NotifyAll();
}

void DigestSink::Hash(Lane lane, const Buffer& buffer) {
  const ByteSpan bytes(buffer.bytes.data(), buffer.filled);
  if (lane == kWhole) {
    if (max_rows_ == 0) whole_.Update(bytes);
    return;
  }
  size_t begin = 0;
  for (size_t end : buffer.chunk_ends) {
    chunk_.Update(bytes.subspan(begin, end - begin));
    finished_.push_back(chunk_.Finish32());
    chunk_ = Hasher(HashKind::kBlake2s256);
    begin = end;
  }
  chunk_.Update(bytes.subspan(begin));
}

void DigestSink::Help() {
  MutexLock lock(mutex_);
  while (!(ended_ && Hashed(produced_))) {
    const Lane lane = Take();
    lane == kLanes ? changed_.Wait(mutex_) : Work(lane);
  }
}

void DigestSink::End() {
  if (rows_ % digest_.chunk_rows != 0) current().chunk_ends.push_back(current().filled);
  Seal();
  {
    MutexLock lock(mutex_);
    ended_ = true;
    changed_.NotifyAll();
  }
  Help();
}

CircuitDigest DigestSink::Finish() {
  if (max_rows_ == 0) digest_.blake2s = whole_.Finish32();
  CUZK_CHECK(finished_.size() == digest_.chunks.size());
  for (size_t i = 0; i < finished_.size(); ++i) digest_.chunks[i].blake2s = finished_[i];
  return std::move(digest_);
}

uint64_t ChunkRowsFor(uint64_t rows) { return std::bit_ceil(std::max<uint64_t>(rows / 512, 256)); }

namespace {

template <class Spec>
CircuitDigest Digest(const Spec& spec, const r1cs::ShapeCounts& counts, const DigestOptions& options,
                     ThreadPool& pool) {
  using Circuit = typename Kind<Spec>::template Circuit<r1cs::ShapeRecorder>;
  const Circuit circuit(spec, nullptr);
  r1cs::ShapeRecorder recorder;
  DigestSink sink(counts, ChunkRowsFor(counts.rows), options, [&recorder] { return recorder.names().Text(); });
  recorder.set_sink(&sink);
  auto record = [&] {
    const auto head = circuit.MakeHead(recorder);
    for (uint64_t i = 0; i < circuit.BlockCount() && !sink.full(); ++i) {
      auto scope = recorder.Scope(Circuit::kBlockName, static_cast<int64_t>(i));
      circuit.MakeBlock(recorder, head, i);
    }
    sink.End();
  };
  // The first piece is taken first, so that whoever helps has somebody to help.
  pool.ParallelFor(3, 1, [&](size_t first, size_t last) {
    for (size_t task = first; task < last; ++task) task == 0 ? record() : sink.Help();
  });
  return sink.Finish();
}

}  // namespace

StatusOr<CircuitDigest> DigestCircuit(const CircuitSpec& spec, const DigestOptions& options, ThreadPool& pool) {
  CUZK_ASSIGN_OR_RETURN(const std::shared_ptr<const r1cs::Shape> shape, MakeShape(spec));
  return std::visit([&](const auto& one) { return Digest(one, shape->counts, options, pool); }, spec);
}

}  // namespace cuzk::circuit
