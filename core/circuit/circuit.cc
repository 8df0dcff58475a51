#include "core/circuit/circuit.h"

#include "core/circuit/kinds.h"

namespace cuzk::circuit {
namespace {

using r1cs::Position;
using r1cs::ShapeRecorder;
using r1cs::Stretch;

template <class Spec>
std::shared_ptr<const r1cs::Shape> ShapeOf(const Spec& spec, ThreadPool& pool) {
  using Circuit = typename Kind<Spec>::template Circuit<ShapeRecorder>;
  const Circuit circuit(spec, nullptr);
  ShapeRecorder recorder;
  const auto head = circuit.MakeHead(recorder);
  const Position head_end = recorder.position();
  r1cs::ShapeBuilder builder;
  builder.Append(std::move(recorder).Take());

  auto record = [&](const Position& begin, uint64_t index) {
    ShapeRecorder block(head_end, begin);
    circuit.MakeBlock(block, head, index);
    return std::move(block).Take();
  };
  const Stretch first = record(head_end, 0);
  const uint64_t count = circuit.BlockCount();
  if constexpr (Circuit::kBlocksAreShifts) {
    builder.Append(first, count);
  } else {
    std::vector<Stretch> blocks(count);
    blocks[0] = first;
    pool.ParallelFor(count - 1, 1, [&](size_t begin, size_t end) {
      for (size_t i = begin + 1; i <= end; ++i) {
        const Position at{static_cast<uint32_t>(head_end.inputs + i * (first.end.inputs - head_end.inputs)),
                          static_cast<uint32_t>(head_end.aux + i * (first.end.aux - head_end.aux)),
                          head_end.rows + i * (first.end.rows - head_end.rows)};
        blocks[i] = record(at, i);
      }
    });
    for (const Stretch& block : blocks) builder.Append(block);
  }
  return std::make_shared<const r1cs::Shape>(std::move(builder).Finish());
}

/// Keeps the name of one row.
class NameSink : public r1cs::RowSink {
 public:
  NameSink(const ShapeRecorder& recorder, uint64_t row) : recorder_(recorder), row_(row) {}
  void OnRow(const r1cs::Row& row) override {
    if (row.index == row_) name_ = recorder_.names().Text();
  }
  const std::string& name() const { return name_; }

 private:
  const ShapeRecorder& recorder_;
  const uint64_t row_;
  std::string name_;
};

template <class Spec>
StatusOr<std::string> NameIn(const Spec& spec, uint64_t row) {
  using Circuit = typename Kind<Spec>::template Circuit<ShapeRecorder>;
  const Circuit circuit(spec, nullptr);
  ShapeRecorder recorder;
  NameSink sink(recorder, row);
  recorder.set_sink(&sink);
  const auto head = circuit.MakeHead(recorder);
  for (uint64_t i = 0; i < circuit.BlockCount() && recorder.position().rows <= row; ++i) {
    auto scope = recorder.Scope(Circuit::kBlockName, static_cast<int64_t>(i));
    circuit.MakeBlock(recorder, head, i);
  }
  if (recorder.position().rows <= row) {
    return absl::NotFoundError(StrCat("the circuit has ", recorder.position().rows, " rows"));
  }
  return sink.name();
}

}  // namespace

StatusOr<std::shared_ptr<const r1cs::Shape>> MakeShape(const CircuitSpec& spec, ThreadPool& pool) {
  CUZK_RETURN_IF_ERROR(CheckSpec(spec));
  return std::visit([&](const auto& one) { return ShapeOf(one, pool); }, spec);
}

Status RecordCircuit(const CircuitSpec& spec, ShapeRecorder& recorder) {
  CUZK_RETURN_IF_ERROR(CheckSpec(spec));
  std::visit(
      [&](const auto& one) {
        using Spec = std::decay_t<decltype(one)>;
        MakeAll(typename Kind<Spec>::template Circuit<ShapeRecorder>(one, nullptr), recorder);
      },
      spec);
  return absl::OkStatus();
}

Status StreamRows(const CircuitSpec& spec, r1cs::RowSink& sink) {
  ShapeRecorder recorder;
  recorder.set_sink(&sink);
  return RecordCircuit(spec, recorder);
}

StatusOr<std::string> NameOfRow(const CircuitSpec& spec, uint64_t row) {
  CUZK_RETURN_IF_ERROR(CheckSpec(spec));
  return std::visit([&](const auto& one) { return NameIn(one, row); }, spec);
}

Status CheckSatisfied(const CircuitSpec& spec, const PartitionInputs& inputs) {
  CUZK_RETURN_IF_ERROR(CheckSpec(spec));
  return std::visit(
      [&](const auto& one) -> Status {
        using Spec = std::decay_t<decltype(one)>;
        CUZK_ASSIGN_OR_RETURN(const auto* own, InputsFor(one, inputs));
        r1cs::Checker checker;
        MakeAll(typename Kind<Spec>::template Circuit<r1cs::Checker>(one, own), checker);
        return checker.status();
      },
      spec);
}

}  // namespace cuzk::circuit
