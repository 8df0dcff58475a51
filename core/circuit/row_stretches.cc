#include "core/circuit/row_stretches.h"

#include "core/base/check.h"
#include "core/circuit/kinds.h"

namespace cuzk::circuit {
namespace {

using r1cs::Position;
using r1cs::RowStretch;
using r1cs::ShapeRecorder;

template <class Spec>
void Stream(const Spec& spec, const r1cs::Shape& shape, const r1cs::OpenSink& open, ThreadPool& pool) {
  using Circuit = typename Kind<Spec>::template Circuit<ShapeRecorder>;
  const Circuit circuit(spec, nullptr);
  const std::vector<Position>& blocks = shape.blocks;
  CUZK_CHECK(blocks.size() == circuit.BlockCount() + 1);
  typename Circuit::Head head;
  {
    const Position begin{1, 0, 0};
    auto sink = open(RowStretch{begin, begin, blocks.front()});
    ShapeRecorder recorder;
    recorder.set_sink(sink.get());
    head = circuit.MakeHead(recorder);
    CUZK_CHECK(recorder.position() == blocks.front());
  }
  pool.ParallelFor(circuit.BlockCount(), 1, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      auto sink = open(RowStretch{blocks.front(), blocks[i], blocks[i + 1]});
      ShapeRecorder recorder(blocks.front(), blocks[i]);
      recorder.set_sink(sink.get());
      circuit.MakeBlock(recorder, head, i);
      CUZK_CHECK(recorder.position() == blocks[i + 1]);
    }
  });
}

}  // namespace

Status StreamStretches(const CircuitSpec& spec, const r1cs::Shape& shape, const r1cs::OpenSink& open,
                       ThreadPool& pool) {
  CUZK_RETURN_IF_ERROR(CheckSpec(spec));
  std::visit([&](const auto& one) { Stream(one, shape, open, pool); }, spec);
  return absl::OkStatus();
}

}  // namespace cuzk::circuit
