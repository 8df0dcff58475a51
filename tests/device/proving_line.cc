#include "tests/device/proving_line.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <map>
#include <thread>

#include "core/groth16/verifier.h"
#include "core/memory/budget.h"
#include "core/memory/pinned_pool.h"

namespace cuzk::gpu::testing {

using prover::TimelineEvent;

StatusOr<std::unique_ptr<KeptWitness>> KeptWitness::Write(const Workload& work, uint32_t partition, r1cs::Layout layout,
                                                          memory::HostAllocator& allocator, ThreadPool& pool) {
  std::unique_ptr<KeptWitness> kept(new KeptWitness(allocator));
  kept->shape_ = work.shape;
  kept->layout_ = r1cs::LeaseLayout::For(*work.shape, layout);
  kept->partition_ = partition;
  CUZK_ASSIGN_OR_RETURN(kept->data_, allocator.Allocate(kept->layout_.bytes));
  kept->size_ = kept->layout_.bytes;
  CUZK_ASSIGN_OR_RETURN(memory::Lease lease, memory::Lease::Standalone(kept->lender_, kept->size_));
  CUZK_ASSIGN_OR_RETURN(auto written, circuit::WriteWitness(work.spec, work.partitions[partition].inputs,
                                                            {work.shape, layout, std::move(lease)}, pool));
  return kept;
}

KeptWitness::~KeptWitness() {
  if (data_ != nullptr) allocator_.Free(data_, size_);
}

StatusOr<r1cs::Witness> KeptWitness::Lend() {
  CUZK_ASSIGN_OR_RETURN(memory::Lease lease, memory::Lease::Standalone(lender_, size_));
  return r1cs::Witness(shape_, layout_.layout, std::move(lease));
}

StatusOr<std::vector<Proved>> ProveAll(prover::Device& device,
                                       const std::shared_ptr<const prover::ResidentParameters>& parameters,
                                       unsigned workers, const WitnessSource& source) {
  std::mutex mutex;
  std::vector<Proved> all;
  Status failure;
  auto one = [&](unsigned worker) -> StatusOr<bool> {
    std::optional<NextWitness> next;
    Proved proved;
    {
      std::lock_guard lock(mutex);
      if (!failure.ok()) return false;
      CUZK_ASSIGN_OR_RETURN(next, source());
    }
    if (!next) return false;
    proved.partition = next->partition;
    proved.worker = worker;
    proved.taken = Clock::now();
    CUZK_ASSIGN_OR_RETURN(auto pending, device.Start(parameters, std::move(next->witness), {.worker = worker}));
    CUZK_ASSIGN_OR_RETURN(proved.sums, pending->Finish());
    proved.done = Clock::now();
    proved.timeline = pending->timeline();
    std::lock_guard lock(mutex);
    all.push_back(std::move(proved));
    return true;
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned worker = 0; worker < workers; ++worker) {
      threads.emplace_back([&, worker] {
        for (;;) {
          StatusOr<bool> more = one(worker);
          if (more.ok() && *more) continue;
          std::lock_guard lock(mutex);
          if (!more.ok() && failure.ok()) failure = more.status();
          return;
        }
      });
    }
  }
  CUZK_RETURN_IF_ERROR(failure);
  std::sort(all.begin(), all.end(), [](const Proved& a, const Proved& b) { return a.done < b.done; });
  return all;
}

WitnessSource Repeated(std::vector<KeptWitness*> kept, uint32_t times) {
  return [kept, times, turn = uint32_t{0}]() mutable -> StatusOr<std::optional<NextWitness>> {
    if (turn == times) return std::nullopt;
    KeptWitness& next = *kept[turn++ % kept.size()];
    CUZK_ASSIGN_OR_RETURN(r1cs::Witness witness, next.Lend());
    return NextWitness{next.partition(), std::move(witness)};
  };
}

StatusOr<std::vector<Proved>> ProveWhileWriting(prover::Device& device,
                                                const std::shared_ptr<const prover::ResidentParameters>& parameters,
                                                const Workload& work, uint32_t times, unsigned leases,
                                                ThreadPool& pool) {
  const uint64_t bytes = r1cs::LeaseLayout::For(*work.shape, r1cs::Layout::kNarrow).bytes;
  const uint64_t slabs = leases * memory::PinnedPool::SlabBytes(bytes);
  memory::Budget budget(slabs);
  memory::PinnedPool leases_pool(device.host_allocator(), budget, slabs);
  {
    // Page-locking happens once in a daemon's life; it stays out of the times.
    std::vector<memory::Lease> first(leases);
    for (memory::Lease& lease : first) {
      CUZK_ASSIGN_OR_RETURN(lease, leases_pool.TryAcquire(bytes));
    }
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<NextWitness> ready;
  Status writing;
  bool ended = false;
  std::stop_source stop;
  auto write = [&](uint32_t i) -> Status {
    const uint32_t partition = i % static_cast<uint32_t>(work.partitions.size());
    CUZK_ASSIGN_OR_RETURN(memory::Lease lease, leases_pool.Acquire(bytes, stop.get_token()));
    const auto begin = Clock::now();
    CUZK_ASSIGN_OR_RETURN(auto witness,
                          circuit::WriteWitness(work.spec, work.partitions[partition].inputs,
                                                {work.shape, r1cs::Layout::kNarrow, std::move(lease)}, pool));
    std::printf("  partition %u written in %.3f s\n", partition, Seconds(Clock::now() - begin));
    std::lock_guard lock(mutex);
    ready.push_back({partition, std::move(witness)});
    changed.notify_one();
    return absl::OkStatus();
  };
  std::jthread writer([&] {
    Status status;
    for (uint32_t i = 0; i < times && status.ok(); ++i) status = write(i);
    std::lock_guard lock(mutex);
    writing = status;
    ended = true;
    changed.notify_all();
  });
  auto proved = ProveAll(device, parameters, 2, [&]() -> StatusOr<std::optional<NextWitness>> {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ended || !ready.empty(); });
    if (ready.empty()) return std::nullopt;
    NextWitness next = std::move(ready.front());
    ready.pop_front();
    return next;
  });
  stop.request_stop();
  writer.join();
  ready.clear();
  if (proved.ok()) CUZK_RETURN_IF_ERROR(writing);
  return proved;
}

Status VerifyAll(const Workload& work, const groth16::VerifyingKey& key, const std::vector<Proved>& proved,
                 ThreadPool& pool) {
  std::vector<groth16::Statement> statements;
  for (const Proved& p : proved) {
    CUZK_ASSIGN_OR_RETURN(auto proof, groth16::Assemble(key, p.sums, groth16::Blinding::Random()));
    statements.push_back({proof, work.partitions[p.partition].public_inputs});
  }
  CUZK_ASSIGN_OR_RETURN(auto wrong, groth16::Verifier(key).FindWrong(statements, pool));
  if (wrong.empty()) return absl::OkStatus();
  return absl::InternalError(StrCat(wrong.size(), " of ", proved.size(),
                                    " proofs do not verify, the first is of partition ",
                                    proved[wrong.front()].partition));
}

namespace {

bool Computes(const TimelineEvent& event) {
  return event.stage != prover::stage::kHostToDevice && event.stage != prover::stage::kLeaseWait &&
         event.stage != prover::stage::kDeviceToHost;
}

}  // namespace

LineTimes Measure(const std::vector<Proved>& proved) {
  LineTimes times;
  if (proved.empty()) return times;
  Clock::time_point first_taken = proved.front().taken;
  for (const Proved& p : proved) first_taken = std::min(first_taken, p.taken);
  times.wall = Seconds(proved.back().done - first_taken);
  if (proved.size() < 3) return times;
  const Clock::time_point begin = proved[1].done, end = proved.back().done;
  times.steady_seconds = Seconds(end - begin) / static_cast<double>(proved.size() - 2);
  std::vector<std::pair<Clock::time_point, Clock::time_point>> stretches;
  for (const Proved& p : proved) {
    for (const TimelineEvent& event : p.timeline) {
      if (Computes(event)) stretches.emplace_back(std::max(event.begin, begin), std::min(event.end, end));
    }
  }
  std::sort(stretches.begin(), stretches.end());
  Clock::time_point covered = begin;
  double busy = 0;
  for (const auto& [from, to] : stretches) {
    if (to > covered) {
      busy += Seconds(to - std::max(from, covered));
      covered = to;
    }
  }
  times.busy = busy / Seconds(end - begin);
  return times;
}

void PrintTimeline(const std::vector<Proved>& proved) {
  std::map<std::string_view, double> sums;
  std::vector<std::string_view> order;
  Clock::time_point origin = proved.empty() ? Clock::time_point() : proved.front().taken;
  for (const Proved& p : proved) origin = std::min(origin, p.taken);
  Clock::time_point computed{};
  for (const Proved& p : proved) {
    std::printf("  %8.1f ms worker %u partition %u:", 1e3 * Seconds(p.taken - origin), p.worker, p.partition);
    Clock::time_point from{}, to{};
    for (const TimelineEvent& event : p.timeline) {
      const double ms = 1e3 * Seconds(event.end - event.begin);
      std::printf(" %.*s %.1f", static_cast<int>(event.stage.size()), event.stage.data(), ms);
      if (!sums.contains(event.stage)) order.push_back(event.stage);
      sums[event.stage] += ms;
      if (!Computes(event)) continue;
      if (from == Clock::time_point{}) from = event.begin;
      to = event.end;
    }
    if (computed != Clock::time_point{}) std::printf(" | idle before %.2f", 1e3 * Seconds(from - computed));
    computed = to;
    std::printf("\n");
  }
  std::printf("  mean ms:");
  for (std::string_view stage : order) {
    std::printf(" %.*s %.1f", static_cast<int>(stage.size()), stage.data(),
                sums[stage] / static_cast<double>(proved.size()));
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace cuzk::gpu::testing
