#include "core/circuit/circuit.h"

#include "core/circuit/kinds.h"

namespace cuzk::circuit {
namespace {

using r1cs::Position;
using r1cs::ShapeRecorder;
using r1cs::Stretch;

/// A row by its number, or the row that was made next after an aux variable.
struct Sought {
  bool aux;
  uint64_t number;
  uint64_t CountIn(const Position& position) const { return aux ? position.aux : position.rows; }
};

/// Keeps the name of the sought row.
class NameSink : public r1cs::RowSink {
 public:
  NameSink(const ShapeRecorder& recorder, const Sought& sought) : recorder_(recorder), sought_(sought) {}
  void OnRow(const r1cs::Row& row) override {
    if (!name_.empty()) return;
    const bool found = sought_.aux ? recorder_.position().aux > sought_.number : row.index == sought_.number;
    if (found) name_ = recorder_.names().Text();
  }
  const std::string& name() const { return name_; }

 private:
  const ShapeRecorder& recorder_;
  const Sought sought_;
  std::string name_;
};

/// A circuit's head and its first block, recorded. The other blocks are the first but for a shift of their own
/// variables and for the bits of the head that belong to them.
template <class Spec>
class Recording {
 public:
  using Circuit = typename Kind<Spec>::template Circuit<ShapeRecorder>;

  explicit Recording(const Spec& spec) : circuit_(spec, nullptr) {
    ShapeRecorder recorder;
    head_ = circuit_.MakeHead(recorder);
    head_stretch_ = std::move(recorder).Take();
    ShapeRecorder block(head_stretch_.end, head_stretch_.end);
    circuit_.MakeBlock(block, head_, 0);
    block_ = std::move(block).Take();
  }

  r1cs::Shape MakeShape() && {
    const auto own = circuit_.HeadBits(head_, 0);
    for (uint64_t i = 1; i < circuit_.BlockCount() && !own.empty(); ++i) {
      const auto others = circuit_.HeadBits(head_, i);
      for (size_t k = 0; k < own.size(); ++k) CopyDensity(own[k].bit().id.index(), others[k].bit().id.index());
    }
    r1cs::ShapeBuilder builder;
    builder.Append(head_stretch_);
    builder.Append(block_, circuit_.BlockCount());
    return std::move(builder).Finish();
  }

  /// Makes the head or the one block that the row is in once more. NOT_FOUND past the end.
  StatusOr<std::string> NameOf(const Sought& sought) const {
    const Position& head = head_stretch_.end;
    const uint64_t before = sought.CountIn(head);
    if (sought.number < before) {
      ShapeRecorder recorder;
      NameSink sink(recorder, sought);
      recorder.set_sink(&sink);
      circuit_.MakeHead(recorder);
      return sink.name();
    }
    const uint64_t index = (sought.number - before) / (sought.CountIn(block_.end) - before);
    if (index >= circuit_.BlockCount()) {
      return absl::NotFoundError(
          StrCat(sought.aux ? "aux " : "row ", sought.number, " is past the end of the circuit"));
    }
    ShapeRecorder recorder(head, BlockAt(index));
    NameSink sink(recorder, sought);
    recorder.set_sink(&sink);
    auto scope = recorder.Scope(Circuit::kBlockName, static_cast<int64_t>(index));
    circuit_.MakeBlock(recorder, head_, index);
    return sink.name();
  }

 private:
  Position BlockAt(uint64_t index) const {
    const Position &begin = block_.begin, &end = block_.end;
    return {static_cast<uint32_t>(begin.inputs + index * (end.inputs - begin.inputs)),
            static_cast<uint32_t>(begin.aux + index * (end.aux - begin.aux)),
            begin.rows + index * (end.rows - begin.rows)};
  }
  /// One bit of the head occurs where another does.
  void CopyDensity(uint32_t from, uint32_t to) {
    for (r1cs::BitList* list : {&block_.head_a_aux, &block_.head_b_aux}) {
      if (list->words()[from / 64] >> (from % 64) & 1) list->Set(to);
    }
  }

  const Circuit circuit_;
  typename Circuit::Head head_;
  Stretch head_stretch_, block_;
};

StatusOr<std::string> NameOf(const CircuitSpec& spec, const Sought& sought) {
  CUZK_RETURN_IF_ERROR(CheckSpec(spec));
  return std::visit([&](const auto& one) { return Recording(one).NameOf(sought); }, spec);
}

}  // namespace

StatusOr<std::shared_ptr<const r1cs::Shape>> MakeShape(const CircuitSpec& spec) {
  CUZK_RETURN_IF_ERROR(CheckSpec(spec));
  return std::visit([](const auto& one) { return std::make_shared<const r1cs::Shape>(Recording(one).MakeShape()); },
                    spec);
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

StatusOr<std::string> NameOfRow(const CircuitSpec& spec, uint64_t row) { return NameOf(spec, {false, row}); }
StatusOr<std::string> NameOfAux(const CircuitSpec& spec, uint64_t aux) { return NameOf(spec, {true, aux}); }

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
