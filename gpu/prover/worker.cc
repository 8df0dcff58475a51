#include "gpu/prover/worker.h"

namespace cuzk::gpu {

StatusOr<std::unique_ptr<Worker>> Worker::Create(const CardContext& card) {
  CUZK_ASSIGN_OR_RETURN(Stream copy, Stream::Create());
  CUZK_ASSIGN_OR_RETURN(Stream compute, Stream::Create());
  CUZK_ASSIGN_OR_RETURN(Stream side, Stream::CreateUrgent());
  std::unique_ptr<Worker> worker(
      new Worker{std::move(copy), std::move(compute), std::move(side), PartialSums(*card.pinned)});
  // Page-locking takes its time and waits for the card: the first blocks are made here.
  CUZK_RETURN_IF_ERROR(worker->sums.AddPoint<algebra::Fp>(groth16::Query::kH).status());
  CUZK_RETURN_IF_ERROR(worker->sums.AddPoint<algebra::Fp2>(groth16::Query::kBG2).status());
  worker->sums.Clear();
  return worker;
}

}  // namespace cuzk::gpu
