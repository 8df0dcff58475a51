#include "gpu/prover/circuit_tables.h"

namespace cuzk::gpu {
namespace {

template <class T>
StatusOr<Buffer<T>> Upload(const std::vector<T>& values, DeviceMemory& memory, StreamView stream) {
  CUZK_ASSIGN_OR_RETURN(auto buffer, Buffer<T>::Allocate(memory, values.size()));
  CUZK_CUDA(cudaMemcpyAsync(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice, stream.get()));
  CUZK_RETURN_IF_ERROR(stream.Synchronize());
  return buffer;
}

}  // namespace

StatusOr<CircuitTables::Set> CircuitTables::UploadSet(const r1cs::IndexSet& set, DeviceMemory& memory,
                                                      StreamView stream) {
  Set out;
  CUZK_ASSIGN_OR_RETURN(out.words, Upload(set.words(), memory, stream));
  CUZK_ASSIGN_OR_RETURN(out.ranks, Upload(prover::WordRanks(set.words()), memory, stream));
  return out;
}

StatusOr<CircuitTables> CircuitTables::Make(std::shared_ptr<const r1cs::Shape> shape, DeviceMemory& memory,
                                            StreamView stream) {
  CircuitTables tables;
  tables.index_ = std::make_unique<const prover::QueryIndex>(shape);
  for (size_t m = 0; m < r1cs::kMatrixCount; ++m) {
    CUZK_ASSIGN_OR_RETURN(tables.wide_rows_[m], UploadSet(shape->wide[m], memory, stream));
  }
  CUZK_ASSIGN_OR_RETURN(tables.boolean_, UploadSet(shape->boolean_aux, memory, stream));
  for (Terms t : {Terms::kA, Terms::kB}) {
    const size_t k = static_cast<size_t>(t);
    CUZK_ASSIGN_OR_RETURN(tables.members_[k], UploadSet(*tables.index_->members(t), memory, stream));
    CUZK_ASSIGN_OR_RETURN(tables.term_ranks_[k], Upload(tables.index_->term_ranks(t), memory, stream));
    CUZK_ASSIGN_OR_RETURN(tables.input_lists_[k], Upload(tables.index_->inputs(t), memory, stream));
  }
  return tables;
}

TermTables CircuitTables::terms(Terms t) const {
  const size_t k = static_cast<size_t>(t);
  TermTables r{.boolean = boolean_.view()};
  if (t == Terms::kL) return r;
  r.members = members_[k].view();
  r.term_ranks = term_ranks_[k].data();
  r.input_list = input_lists_[k].data();
  r.inputs = static_cast<uint32_t>(index_->inputs(t).size());
  return r;
}

}  // namespace cuzk::gpu
