#include "tests/device/partition_trials.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>

#include "core/base/bytes.h"
#include "core/circuit/row_stretches.h"
#include "core/filecoin/request_directory.h"
#include "core/filecoin/samples/made_request.h"
#include "gpu/params/section_maker.h"
#include "gpu/prover/circuit_tables.h"
#include "gpu/prover/witness_kernels.h"
#include "tests/device/disk_rate.h"

namespace cuzk::gpu::testing {
namespace {

using algebra::Fr;
using r1cs::Layout;
using r1cs::Matrix;

constexpr int kRuns = 5;

double Gigabytes(uint64_t bytes) { return static_cast<double>(bytes) / 1e9; }

StatusOr<filecoin::VanillaRequest> RequestOf(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) {
    CUZK_ASSIGN_OR_RETURN(auto read, filecoin::ReadRequestDirectory(text));
    return std::move(read.request);
  }
  CUZK_ASSIGN_OR_RETURN(const auto* circuit, filecoin::CircuitByNames(text.substr(0, colon), text.substr(colon + 1)));
  CUZK_ASSIGN_OR_RETURN(const auto* proof, filecoin::ProofToMake(*circuit));
  CUZK_ASSIGN_OR_RETURN(auto made, filecoin::MakeRequest(*proof, {}));
  return std::move(made.request);
}

StatusOr<Workload> WorkloadOf(const std::string& request) {
  Workload work;
  auto begin = Clock::now();
  CUZK_ASSIGN_OR_RETURN(auto vanilla, RequestOf(request));
  CUZK_ASSIGN_OR_RETURN(auto parsed, filecoin::ParseRequest(std::move(vanilla)));
  work.circuit = parsed.proof->circuit;
  work.partitions = std::move(parsed.partitions);
  std::printf("%s: %zu partitions read in %.2f s\n", work.circuit->id.c_str(), work.partitions.size(),
              Seconds(Clock::now() - begin));
  work.spec = filecoin::SpecOf(*work.circuit);
  begin = Clock::now();
  CUZK_ASSIGN_OR_RETURN(work.shape, circuit::MakeShape(work.spec));
  const r1cs::ShapeCounts& counts = work.shape->counts;
  std::printf(
      "shape in %.2f s: %llu rows, %u aux (%llu wide), %u inputs, domain 2^%u, lease %.3f GB narrow, %.3f plain\n",
      Seconds(Clock::now() - begin), static_cast<unsigned long long>(counts.rows_with_inputs()), counts.aux,
      static_cast<unsigned long long>(work.shape->wide_aux_count()), counts.inputs, counts.log2_domain(),
      Gigabytes(r1cs::LeaseLayout::For(*work.shape, Layout::kNarrow).bytes),
      Gigabytes(r1cs::LeaseLayout::For(*work.shape, Layout::kPlain).bytes));
  return work;
}

/// Runs `body` kRuns times after one for warming up; median seconds.
template <class Body>
StatusOr<double> Median(Body body) {
  std::vector<double> seconds;
  for (int i = 0; i <= kRuns; ++i) {
    const auto begin = Clock::now();
    CUZK_RETURN_IF_ERROR(body());
    if (i > 0) seconds.push_back(Seconds(Clock::now() - begin));
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[kRuns / 2];
}

/// Threads that write memory as fast as they can while this lives.
class BusyWriters {
 public:
  explicit BusyWriters(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      threads_.emplace_back([this](std::stop_token stop) {
        std::vector<uint64_t> memory(size_t{32} << 20);
        uint64_t value = 0, written = 0;
        while (!stop.stop_requested()) {
          for (size_t at = 0; at < memory.size() && !stop.stop_requested(); at += 1 << 17) {
            std::fill_n(memory.begin() + static_cast<ptrdiff_t>(at), 1 << 17, ++value);
            written += 8ull << 17;
          }
        }
        bytes_ += written;
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  /// Ends them; bytes written in all.
  uint64_t End() {
    for (auto& thread : threads_) thread.request_stop();
    threads_.clear();
    return bytes_.load();
  }

 private:
  std::atomic<uint64_t> bytes_{0};
  std::vector<std::jthread> threads_;
};

/// Writes a partition's plain witness with `threads` threads, again and again into the same memory, while this lives.
class BusySynthesis {
 public:
  BusySynthesis(const Workload& work, unsigned threads) : work_(work), pool_(threads) {
    thread_ = std::jthread([this](std::stop_token stop) {
      while (!stop.stop_requested() && status_.ok()) {
        const auto begin = Clock::now();
        status_ = KeptWitness::Write(work_, 0, Layout::kPlain, memory_, pool_).status();
        if (writings_++ == 0) continue;  // the first touches the memory
        seconds_ += Seconds(Clock::now() - begin);
      }
    });
    while (writings_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  /// Ends it; bytes written a second.
  StatusOr<double> End() {
    thread_.request_stop();
    thread_.join();
    CUZK_RETURN_IF_ERROR(status_);
    return memory_.size() * (writings_ - 1) / seconds_;
  }

 private:
  /// One piece of ordinary memory, given out again and again.
  class OnePiece final : public memory::HostAllocator {
   public:
    StatusOr<std::byte*> Allocate(size_t bytes) override {
      if (data_ == nullptr) {
        CUZK_ASSIGN_OR_RETURN(data_, system_.Allocate(bytes));
        size_ = bytes;
      }
      return data_;
    }
    void Free(std::byte*, size_t) noexcept override {}
    ~OnePiece() override {
      if (data_ != nullptr) system_.Free(data_, size_);
    }
    double size() const { return static_cast<double>(size_); }

   private:
    memory::AlignedAllocator system_;
    std::byte* data_ = nullptr;
    size_t size_ = 0;
  };
  const Workload& work_;
  ThreadPool pool_;
  OnePiece memory_;
  std::atomic<uint32_t> writings_{0};
  double seconds_ = 0;
  Status status_;
  std::jthread thread_;
};

}  // namespace

StatusOr<std::unique_ptr<Trials>> Trials::Make(const std::string& request) {
  std::unique_ptr<Trials> trials(new Trials);
  CUZK_ASSIGN_OR_RETURN(trials->work_, WorkloadOf(request));
  CUZK_ASSIGN_OR_RETURN(trials->card_, MakeCudaDevice({.pool = &trials->pool_}));
  CUZK_RETURN_IF_ERROR(trials->MakeScalars());
  CUZK_RETURN_IF_ERROR(trials->MakeParameters(*trials->card_, {}));
  return trials;
}

groth16::GeneratorInput Trials::Input() const {
  groth16::GeneratorInput input{.shape = work_.shape.get(), .waste = waste_, .arithmetic = algebra::BestArithmetic()};
  input.stretches = [this](const r1cs::OpenSink& open, ThreadPool& threads) {
    return circuit::StreamStretches(work_.spec, *work_.shape, open, threads);
  };
  return input;
}

Status Trials::MakeScalars() {
  const auto begin = Clock::now();
  CUZK_ASSIGN_OR_RETURN(auto scalars, groth16::SectionScalars::Make(Input(), system_, pool_));
  scalars_ = std::make_unique<groth16::SectionScalars>(std::move(scalars));
  std::printf("polynomials at tau: %.2f s on %zu threads\n", Seconds(Clock::now() - begin), pool_.size());
  return absl::OkStatus();
}

Status Trials::MakeParameters(CudaDevice& card, const prover::PlanOptions& plan) {
  parameters_.reset();
  planned_ = plan.layout;
  const auto begin = Clock::now();
  CUZK_ASSIGN_OR_RETURN(parameters_, card.MakeParameters(*scalars_, work_.shape, {.plan = plan}));
  uint64_t points = 0;
  for (auto q : groth16::kAllQueries) points += scalars_->counts()[q];
  const double seconds = Seconds(Clock::now() - begin);
  std::printf("points: %.2f s, %.1f million/s; %s\n", seconds, static_cast<double>(points) / seconds / 1e6,
              parameters_->plan().explanation.c_str());
  return absl::OkStatus();
}

StatusOr<KeptWitness*> Trials::Witness(Layout layout) {
  auto& kept = kept_[static_cast<size_t>(layout)];
  if (kept == nullptr) {
    const auto begin = Clock::now();
    CUZK_ASSIGN_OR_RETURN(kept, KeptWitness::Write(work_, 0, layout, card_->host_allocator(), pool_));
    std::printf("  kept witness, %.3f GB: %.2f s with page-locking\n", Gigabytes(kept->bytes().size()),
                Seconds(Clock::now() - begin));
  }
  return kept.get();
}

Status Trials::Report(const std::vector<Proved>& proved) {
  CUZK_RETURN_IF_ERROR(VerifyAll(work_, parameters_->verifying_key(), proved, pool_));
  PrintTimeline(proved);
  const LineTimes times = Measure(proved);
  std::printf("  %zu proofs verified; %.3f s in all, steady %.4f s a partition, busy %.2f %%\n", proved.size(),
              times.wall, times.steady_seconds, 100 * times.busy);
  return absl::OkStatus();
}

Status Trials::Pipeline(uint32_t times) {
  // With room for three of the largest witnesses.
  CUZK_ASSIGN_OR_RETURN(auto proved, ProveWhileWriting(*card_, parameters_, work_, times, 3, pool_));
  return Report(proved);
}

Status Trials::Kept(Layout layout, unsigned workers, uint32_t times) {
  if (layout != planned_) CUZK_RETURN_IF_ERROR(MakeParameters(*card_, {.layout = layout}));
  CUZK_ASSIGN_OR_RETURN(KeptWitness * kept, Witness(layout));
  CUZK_ASSIGN_OR_RETURN(auto proved, ProveAll(*card_, parameters_, workers, Repeated({kept}, times)));
  return Report(proved);
}

Status Trials::Pageable(uint32_t times) {
  for (Layout layout : {Layout::kNarrow, Layout::kPlain}) {
    CUZK_ASSIGN_OR_RETURN(auto kept, KeptWitness::Write(work_, 0, layout, system_, pool_));
    CUZK_ASSIGN_OR_RETURN(auto proved, ProveAll(*card_, parameters_, 2, Repeated({kept.get()}, times)));
    std::printf(" %s\n", std::string(r1cs::LayoutName(layout)).c_str());
    CUZK_RETURN_IF_ERROR(Report(proved));
  }
  return absl::OkStatus();
}

Status Trials::ReadLayout(Layout layout) {
  CUZK_ASSIGN_OR_RETURN(KeptWitness * kept, Witness(layout));
  CUZK_ASSIGN_OR_RETURN(Stream stream, Stream::Create());
  DeviceMemory memory;
  CUZK_ASSIGN_OR_RETURN(auto tables, CircuitTables::Make(work_.shape, memory, stream));
  CUZK_ASSIGN_OR_RETURN(auto lease, Buffer<std::byte>::Allocate(memory, kept->bytes().size()));
  const uint64_t size = uint64_t{1} << work_.shape->counts.log2_domain(), rows = work_.shape->counts.rows_with_inputs();
  CUZK_ASSIGN_OR_RETURN(auto vector, Buffer<Fr>::Allocate(memory, size));
  CUZK_ASSIGN_OR_RETURN(double copied, Median([&]() -> Status {
                          CUZK_CUDA(cudaMemcpyAsync(lease.data(), kept->bytes().data(), lease.bytes(),
                                                    cudaMemcpyHostToDevice, stream.get()));
                          return stream.view().Synchronize();
                        }));
  auto all_rows = [&](Matrix m) {
    const r1cs::PlanePair& planes = kept->layout().rows[static_cast<size_t>(m)];
    RowPiece piece{.wide = reinterpret_cast<const Fr*>(lease.data() + planes.wide.offset), .count = rows};
    if (layout == Layout::kNarrow) piece.narrow = reinterpret_cast<const int8_t*>(lease.data() + planes.narrow.offset);
    return piece;
  };
  CUZK_ASSIGN_OR_RETURN(double widened, Median([&]() -> Status {
                          for (Matrix m : {Matrix::kA, Matrix::kB, Matrix::kC}) {
                            CUZK_RETURN_IF_ERROR(WidenRows(all_rows(m), tables.wide_rows(m), vector.data(), stream));
                          }
                          return stream.view().Synchronize();
                        }));
  // What came out is what the host reads: three stretches of c.
  CUZK_ASSIGN_OR_RETURN(r1cs::Witness witness, kept->Lend());
  const size_t piece = std::min<uint64_t>(rows, 1 << 20);
  std::vector<Fr> expected(piece), got(piece);
  for (uint64_t at : {uint64_t{0}, (rows - piece) / 2, rows - piece}) {
    witness.ExpandRows(Matrix::kC, at, expected);
    CUZK_CUDA(cudaMemcpy(got.data(), vector.data() + at, piece * sizeof(Fr), cudaMemcpyDeviceToHost));
    if (got != expected) return absl::InternalError(StrCat("rows from ", at, " on differ"));
  }
  std::printf("  %-6s %.3f GB: copy %.2f ms (%.1f GB/s), widening a, b, c %.2f ms, together %.2f ms\n",
              std::string(r1cs::LayoutName(layout)).c_str(), Gigabytes(lease.bytes()), 1e3 * copied,
              Gigabytes(lease.bytes()) / copied, 1e3 * widened, 1e3 * (copied + widened));
  return absl::OkStatus();
}

Status Trials::Read() {
  for (Layout layout : {Layout::kNarrow, Layout::kPlain}) CUZK_RETURN_IF_ERROR(ReadLayout(layout));
  return absl::OkStatus();
}

Status Trials::Copies() {
  parameters_.reset();  // what is copied needs the room
  CUZK_ASSIGN_OR_RETURN(KeptWitness * kept, Witness(Layout::kPlain));
  const r1cs::Plane last = kept->layout().rows[2].wide;
  const uint64_t bytes = last.offset + last.bytes;  // a, b, c
  DeviceMemory memory;
  CUZK_ASSIGN_OR_RETURN(auto there, Buffer<std::byte>::Allocate(memory, bytes));
  std::vector<std::byte> pageable(std::min<uint64_t>(bytes, uint64_t{4} << 30), std::byte{1});
  std::vector<Stream> streams;
  for (int i = 0; i < 4; ++i) {
    CUZK_ASSIGN_OR_RETURN(Stream stream, Stream::Create());
    streams.push_back(std::move(stream));
  }
  // In as many parts at once as there are streams in use.
  auto copy = [&](const std::byte* from, uint64_t size, size_t parts) {
    return Median([&, from, size, parts]() -> Status {
      const uint64_t part = (size / parts + 255) / 256 * 256;
      for (size_t i = 0; i < parts; ++i) {
        const uint64_t at = i * part;
        CUZK_CUDA(cudaMemcpyAsync(there.data() + at, from + at, std::min(part, size - at), cudaMemcpyHostToDevice,
                                  streams[i].get()));
      }
      for (size_t i = 0; i < parts; ++i) CUZK_RETURN_IF_ERROR(streams[i].view().Synchronize());
      return absl::OkStatus();
    });
  };
  for (unsigned writers : {0u, 8u, 16u}) {
    const auto begin = Clock::now();
    BusyWriters busy(writers);
    std::printf("  %2u busy writers: page-locked %.1f GB at", writers, Gigabytes(bytes));
    for (size_t parts : {1u, 2u, 4u}) {
      CUZK_ASSIGN_OR_RETURN(double seconds, copy(kept->bytes().data(), bytes, parts));
      std::printf(" %.1f", Gigabytes(bytes) / seconds);
    }
    CUZK_ASSIGN_OR_RETURN(double ordinary, copy(pageable.data(), pageable.size(), 1));
    const double seconds = Seconds(Clock::now() - begin);
    std::printf(" GB/s by 1, 2, 4 streams; pageable %.1f GB at %.1f GB/s; %.0f GB/s written beside\n",
                Gigabytes(pageable.size()), Gigabytes(pageable.size()) / ordinary, Gigabytes(busy.End()) / seconds);
  }
  BusySynthesis busy(work_, 16);
  CUZK_ASSIGN_OR_RETURN(double beside, copy(kept->bytes().data(), bytes, 1));
  CUZK_ASSIGN_OR_RETURN(double written, busy.End());
  std::printf("  16 threads that write plain witnesses: page-locked %.1f GB at %.1f GB/s; %.1f GB/s written beside\n",
              Gigabytes(bytes), Gigabytes(bytes) / beside, written / 1e9);
  there = {};
  return MakeParameters(*card_, {});
}

StatusOr<CappedTrial> CappedTrial::Parse(const std::string& text) {
  CappedTrial trial;
  unsigned long long gigabytes = 0;
  if (std::sscanf(text.c_str(), "%llu,%u,%u", &gigabytes, &trial.workers, &trial.times) != 3) {
    return absl::InvalidArgumentError("capped=GIGABYTES,WORKERS,TIMES");
  }
  trial.gigabytes = gigabytes;
  return trial;
}

Status Trials::Capped(const CappedTrial& trial) {
  CUZK_ASSIGN_OR_RETURN(KeptWitness * kept, Witness(Layout::kNarrow));
  parameters_.reset();
  CUZK_ASSIGN_OR_RETURN(auto small, MakeCudaDevice({.pool = &pool_, .memory_cap = trial.gigabytes * 1'000'000'000}));
  CUZK_RETURN_IF_ERROR(MakeParameters(*small, {.workers = trial.workers}));
  const uint64_t before = small->copied_bytes();
  CUZK_ASSIGN_OR_RETURN(auto proved, ProveAll(*small, parameters_, trial.workers, Repeated({kept}, trial.times)));
  const double copied = Gigabytes(small->copied_bytes() - before) / trial.times;
  std::printf(
      "  device memory in use %.2f GB; over the bus %.2f GB a partition: at least %.3f s at 25 GB/s, %.3f at 12\n",
      Gigabytes(small->device_memory().used()), copied, copied / 25, copied / 12);
  CUZK_RETURN_IF_ERROR(Report(proved));
  parameters_.reset();
  return absl::OkStatus();
}

Status Trials::File(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  CUZK_ASSIGN_OR_RETURN(auto multiplier, MakeCardMultiplier({}));
  groth16::GeneratorInput input = Input();
  input.multiplier = multiplier.get();
  parameters_.reset();
  auto begin = Clock::now();
  CUZK_ASSIGN_OR_RETURN(
      auto made, groth16::WriteParameters(*scalars_, input,
                                          {.path = folder / work_.circuit->params_file(), .version = "bench"}, pool_));
  double seconds = Seconds(Clock::now() - begin);
  std::printf("  file of %.2f GB made in %.1f s\n", Gigabytes(made.bytes), seconds);
  multiplier.reset();
  CUZK_ASSIGN_OR_RETURN(double disk, DiskRate(made.params, pool_));
  ForgetCached(made.params);
  begin = Clock::now();
  CUZK_ASSIGN_OR_RETURN(auto file, groth16::ParameterFile::Open(made.params, groth16::SectionCounts::Of(*work_.shape)));
  CUZK_ASSIGN_OR_RETURN(parameters_, card_->Load(file, work_.shape, {}));
  seconds = Seconds(Clock::now() - begin);
  std::printf("  file to ready: %.2f s, %.2f GB/s; the disk alone %.2f GB/s: %.0f %%\n", seconds,
              Gigabytes(made.bytes) / seconds, disk, 100 * Gigabytes(made.bytes) / seconds / disk);
  begin = Clock::now();
  parameters_.reset();
  CUZK_ASSIGN_OR_RETURN(parameters_, card_->Load(file, work_.shape, {}));
  seconds = Seconds(Clock::now() - begin);
  std::printf("  again, from the page cache as far as it holds it: %.2f s, %.2f GB/s\n", seconds,
              Gigabytes(made.bytes) / seconds);
  CUZK_ASSIGN_OR_RETURN(KeptWitness * kept, Witness(Layout::kNarrow));
  CUZK_ASSIGN_OR_RETURN(auto proved, ProveAll(*card_, parameters_, 2, Repeated({kept}, 2)));
  CUZK_RETURN_IF_ERROR(Report(proved));
  std::filesystem::remove(made.params);
  return absl::OkStatus();
}

}  // namespace cuzk::gpu::testing
