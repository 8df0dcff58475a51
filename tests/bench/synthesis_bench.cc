// One thread writes the witness of one partition, and another prover does the same to the same request in the same run.
//
//   cuzk_synthesis_bench [--kind KIND] [--size SIZE] [--request DIR] [--partition N] [--peer PEERPROOF]
//
// Without --request a sector is made, in a folder that is removed at the end. The peer is called as `PEERPROOF synth
// DIR N` and reads a directory whose files are not compressed. Times are CPU time, user and system, of one thread.
// Every row of our witness is checked: a b = c, and the public inputs are those of the statement.

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "core/circuit/circuit.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/request_directory.h"
#include "core/filecoin/samples/made_request.h"
#include "core/memory/host_allocator.h"

namespace cuzk {
namespace {

using algebra::Fr;

struct Flags {
  std::string kind = "porep", size = "32GiB", request, peer;
  uint32_t partition = 0;
};

double Seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; }

/// CPU seconds and the peak of memory of this process, or of those that it waited for.
struct Usage {
  double user, system, peak_mb;
  static Usage Of(int who) {
    rusage usage{};
    getrusage(who, &usage);
    return {Seconds(usage.ru_utime), Seconds(usage.ru_stime), static_cast<double>(usage.ru_maxrss) / 1e3};
  }
  double all() const { return user + system; }
};

/// Runs a step and prints what it took.
template <class Step>
auto Timed(const char* name, Step&& step) {
  const Usage before = Usage::Of(RUSAGE_SELF);
  auto result = step();
  const Usage after = Usage::Of(RUSAGE_SELF);
  std::printf("  %-34s %8.3f s (%.3f of them in the system), peak of the process %.0f MB\n", name,
              after.all() - before.all(), after.system - before.system, after.peak_mb);
  return result;
}

/// a b = c in every row.
bool RowsHold(const r1cs::Witness& witness) {
  const uint64_t rows = witness.shape().counts.rows_with_inputs();
  constexpr uint64_t kPiece = 1 << 14;
  std::vector<Fr> a(kPiece), b(kPiece), c(kPiece);
  for (uint64_t begin = 0; begin < rows; begin += kPiece) {
    const uint64_t count = std::min(kPiece, rows - begin);
    witness.ExpandRows(r1cs::Matrix::kA, begin, std::span(a).first(count));
    witness.ExpandRows(r1cs::Matrix::kB, begin, std::span(b).first(count));
    witness.ExpandRows(r1cs::Matrix::kC, begin, std::span(c).first(count));
    for (uint64_t i = 0; i < count; ++i) {
      if (a[i] * b[i] != c[i]) return false;
    }
  }
  return true;
}

/// Ours; gives the CPU seconds of the second writing, into memory that is there, as it is in the daemon.
StatusOr<double> Write(const Flags& flags, algebra::Arithmetic arithmetic) {
  CUZK_ASSIGN_OR_RETURN(auto parsed, Timed("read and checked", [&]() -> StatusOr<filecoin::ParsedRequest> {
                          CUZK_ASSIGN_OR_RETURN(auto read, filecoin::ReadRequestDirectory(flags.request));
                          return filecoin::ParseRequest(std::move(read.request));
                        }));
  if (flags.partition >= parsed.partitions.size()) return absl::InvalidArgumentError("there is no such partition");
  const filecoin::Partition& partition = parsed.partitions[flags.partition];
  const circuit::CircuitSpec spec = filecoin::SpecOf(*parsed.proof->circuit);
  ThreadPool pool(1);
  CUZK_ASSIGN_OR_RETURN(auto shape, Timed("shape, once a circuit", [&] { return circuit::MakeShape(spec); }));
  const uint64_t bytes = r1cs::LeaseLayout::For(*shape, r1cs::Layout::kNarrow).bytes;
  memory::AlignedAllocator allocator;
  CUZK_ASSIGN_OR_RETURN(memory::Lease lease, memory::Lease::Standalone(allocator, bytes));
  double last = 0;
  for (const char* name : {"witness, into memory never touched", "witness, into memory that is there"}) {
    const double before = Usage::Of(RUSAGE_SELF).all();
    CUZK_ASSIGN_OR_RETURN(auto witness, Timed(name, [&] {
                            return circuit::WriteWitness(spec, partition.inputs,
                                                         {shape, r1cs::Layout::kNarrow, std::move(lease)}, pool,
                                                         arithmetic);
                          }));
    last = Usage::Of(RUSAGE_SELF).all() - before;
    if (!std::ranges::equal(witness.inputs().subspan(1), partition.public_inputs)) {
      return absl::InternalError("the public inputs are not those of the statement");
    }
    if (!RowsHold(witness)) return absl::InternalError("a row does not hold");
    lease = std::move(witness).TakeLease();
  }
  std::printf("  %s partition %u: %llu rows, lease of %.0f MB, %.0f M rows/s, %.1f GB/s\n",
              std::string(parsed.proof->circuit->id).c_str(), flags.partition,
              static_cast<unsigned long long>(shape->counts.rows), static_cast<double>(bytes) / 1e6,
              static_cast<double>(shape->counts.rows) / last / 1e6, static_cast<double>(bytes) / last / 1e9);
  return last;
}

StatusOr<double> RunPeer(const Flags& flags) {
  const std::string command = StrCat("'", flags.peer, "' synth '", flags.request, "' ", flags.partition);
  const double before = Usage::Of(RUSAGE_CHILDREN).all();
  std::fflush(stdout);
  if (std::system(command.c_str()) != 0) return absl::InternalError("the peer failed");
  const Usage after = Usage::Of(RUSAGE_CHILDREN);
  std::printf("  peer: %.1f CPU seconds in all, peak of %.0f MB\n", after.all() - before, after.peak_mb);
  return after.all() - before;
}

Status Main(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--kind") {
      flags.kind = value;
    } else if (name == "--size") {
      flags.size = value;
    } else if (name == "--request") {
      flags.request = value;
    } else if (name == "--peer") {
      flags.peer = value;
    } else if (name == "--partition") {
      flags.partition = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    } else {
      return absl::InvalidArgumentError(StrCat("what is ", name, "?"));
    }
  }
  CUZK_ASSIGN_OR_RETURN(auto arithmetic, algebra::ResolveArithmetic(std::getenv("CUZK_CPU_ARITHMETIC")));
  std::filesystem::path made_folder;
  if (flags.request.empty()) {
    CUZK_ASSIGN_OR_RETURN(const filecoin::Circuit* circuit, filecoin::CircuitByNames(flags.kind, flags.size));
    CUZK_ASSIGN_OR_RETURN(const filecoin::RegisteredProof* proof, filecoin::ProofToMake(*circuit));
    CUZK_ASSIGN_OR_RETURN(filecoin::MadeRequest made, filecoin::MakeRequest(*proof, {.seed = 1}));
    made_folder = std::filesystem::temp_directory_path() / StrCat("cuzk-synthesis-", getpid());
    CUZK_RETURN_IF_ERROR(filecoin::WriteRequestDirectory(made, made_folder));
    flags.request = made_folder.string();
  }
  std::printf("%s, one thread, %s\n", flags.request.c_str(), std::string(ArithmeticName(arithmetic)).c_str());
  StatusOr<double> ours = Write(flags, arithmetic);
  StatusOr<double> peer = ours.ok() && !flags.peer.empty() ? RunPeer(flags) : StatusOr<double>(0);
  if (!made_folder.empty()) std::filesystem::remove_all(made_folder);
  if (!ours.ok()) return ours.status();
  if (!peer.ok()) return peer.status();
  if (!flags.peer.empty()) std::printf("  peer / ours: %.0f\n", *peer / *ours);
  return absl::OkStatus();
}

}  // namespace
}  // namespace cuzk

int main(int argc, char** argv) {
  cuzk::Status status = cuzk::Main(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
