// Whole proofs, parameter files and verification on the CPU device, with every answer checked.
//
//   cuzk_prover_bench [proof KIND...] [generator KIND...] [verify] [--threads N] [--peer PEERPROOF]
//
// Without words: all of it at 2 KiB. Proofs use the parameter files of the tests (made here if they are not there) and
// end with the recorded bytes; --peer runs another prover on the same request in the same run.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/circuit/row_stretches.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/request_directory.h"
#include "core/groth16/generator.h"
#include "core/groth16/identity.h"
#include "core/groth16/verifier.h"
#include "core/prover/cpu/cpu_device.h"

namespace cuzk {
namespace {

using algebra::Fr;

struct Settings {
  algebra::Arithmetic arithmetic = algebra::BestArithmetic();
  size_t threads = 0;
  std::string peer;
  std::set<std::string> proofs, generators;
  bool verify = false;
};

class Stopwatch {
 public:
  double Seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Highest resident memory of this process so far, in bytes.
uint64_t PeakMemory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

const char* RequestOf(const std::string& kind) {
  if (kind == "porep") return "porep/2KiB-v1_1-1000-84";
  if (kind == "snap") return "snap/2KiB-snap-1000-85";
  if (kind == "winning") return "winning/2KiB-winning-1000-a";
  return "window/2KiB-window-1000-1of3-part1";
}

/// A circuit at 2 KiB with its recorded setup.
struct Setup {
  const filecoin::Circuit* circuit;
  circuit::CircuitSpec spec;
  std::shared_ptr<const r1cs::Shape> shape;
  groth16::DevelopmentRecord record;

  static StatusOr<Setup> Of(const std::string& kind) {
    Setup out;
    CUZK_ASSIGN_OR_RETURN(out.circuit, filecoin::CircuitByNames(kind, "2KiB"));
    out.spec = filecoin::SpecOf(*out.circuit);
    CUZK_ASSIGN_OR_RETURN(out.shape, circuit::MakeShape(out.spec));
    const std::string name = StrCat(KindInfo(out.circuit->kind).r1cs_name, "-2KiB.json");
    CUZK_ASSIGN_OR_RETURN(std::string json, ReadFile(std::filesystem::path(CUZK_VECTORS) / "groth16" / name));
    CUZK_ASSIGN_OR_RETURN(out.record, groth16::DevelopmentRecord::FromJson(json));
    return out;
  }
  /// Into the folder, with the recorded SHA-256.
  StatusOr<std::filesystem::path> Generate(const std::filesystem::path& folder, const Settings& settings,
                                           ThreadPool& pool) const {
    std::filesystem::create_directories(folder);
    groth16::GeneratorInput input{.shape = shape.get(), .waste = *record.waste, .arithmetic = settings.arithmetic};
    input.stretches = [this](const r1cs::OpenSink& open, ThreadPool& threads) {
      return circuit::StreamStretches(spec, *shape, open, threads);
    };
    groth16::GeneratorOptions options{.path = folder / circuit->params_file(), .record_waste = true};
    CUZK_ASSIGN_OR_RETURN(auto made, GenerateParameters(input, options, pool));
    if (made.sha256 != record.sha256) return absl::InternalError("the file is not the recorded one");
    return made.params;
  }
};

Status BenchGenerator(const std::string& kind, const Settings& settings, ThreadPool& pool) {
  CUZK_ASSIGN_OR_RETURN(Setup setup, Setup::Of(kind));
  const auto folder = std::filesystem::path(CUZK_TEST_PARAMETERS) / "bench";
  Stopwatch watch;
  CUZK_ASSIGN_OR_RETURN(auto path, setup.Generate(folder, settings, pool));
  const double seconds = watch.Seconds();
  const double points = static_cast<double>(std::filesystem::file_size(path)) / 96;
  std::printf("generator %-8s %8.2f s  %7.0f thousand points/s, file and key as recorded\n", kind.c_str(), seconds,
              points / seconds / 1000);
  std::filesystem::remove_all(folder);
  return absl::OkStatus();
}

Status RunPeer(const std::string& kind, const Setup& setup, const Settings& settings) {
  if (settings.peer.empty() || (kind != "porep" && kind != "window")) return absl::OkStatus();
  const std::string command = StrCat("'", settings.peer, "' prove '", CUZK_VECTORS, "/filecoin/", RequestOf(kind),
                                     "' '", CUZK_TEST_PARAMETERS, "' | tail -5");
  std::printf("peer on the same request:\n");
  std::fflush(stdout);
  Stopwatch watch;
  if (std::system(command.c_str()) != 0) return absl::InternalError(StrCat("the peer failed on ", setup.circuit->id));
  std::printf("peer      %-8s %8.2f s in all\n", kind.c_str(), watch.Seconds());
  return absl::OkStatus();
}

Status BenchProof(const std::string& kind, const Settings& settings, ThreadPool& pool) {
  CUZK_ASSIGN_OR_RETURN(Setup setup, Setup::Of(kind));
  const std::filesystem::path folder = CUZK_TEST_PARAMETERS;
  if (!std::filesystem::exists(folder / setup.circuit->params_file())) {
    CUZK_RETURN_IF_ERROR(setup.Generate(folder, settings, pool).status());
  }
  auto device = prover::MakeCpuDevice({.pool = &pool, .arithmetic = settings.arithmetic});
  Stopwatch load;
  CUZK_ASSIGN_OR_RETURN(auto file, groth16::ParameterFile::Open(folder / setup.circuit->params_file(),
                                                                groth16::SectionCounts::Of(*setup.shape)));
  CUZK_ASSIGN_OR_RETURN(auto parameters, device->Load(file, setup.shape, {}));
  std::printf("load      %-8s %8.2f s  %7.0f MB/s, points on the curve\n", kind.c_str(), load.Seconds(),
              static_cast<double>(file->file().size()) / load.Seconds() / 1e6);
  CUZK_ASSIGN_OR_RETURN(
      auto request, filecoin::ReadRequestDirectory(std::filesystem::path(CUZK_VECTORS) / "filecoin" / RequestOf(kind)));
  const groth16::Verifier verifier(parameters->verifying_key());

  Stopwatch whole;
  CUZK_ASSIGN_OR_RETURN(auto parsed, filecoin::ParseRequest(std::move(request.request)));
  const filecoin::Partition& partition = parsed.partitions[0];
  CUZK_ASSIGN_OR_RETURN(auto lease,
                        memory::Lease::Standalone(device->host_allocator(),
                                                  r1cs::LeaseLayout::For(*setup.shape, r1cs::Layout::kNarrow).bytes));
  CUZK_ASSIGN_OR_RETURN(auto witness,
                        circuit::WriteWitness(setup.spec, partition.inputs,
                                              {setup.shape, r1cs::Layout::kNarrow, std::move(lease)}, pool));
  const double synthesis = whole.Seconds();
  CUZK_ASSIGN_OR_RETURN(auto pending, device->Start(parameters, std::move(witness), {}));
  CUZK_ASSIGN_OR_RETURN(auto sums, pending->Finish());
  const double proved = whole.Seconds();
  CUZK_ASSIGN_OR_RETURN(auto proof, Assemble(parameters->verifying_key(), sums, groth16::Blinding::Random()));
  const groth16::Statement statement{proof, partition.public_inputs};
  CUZK_ASSIGN_OR_RETURN(bool valid, verifier.Verify(statement, pool));
  if (!valid) return absl::InternalError("the proof does not verify");
  std::printf("proof     %-8s %8.2f s  verified; peak memory %llu MB\n", kind.c_str(), whole.Seconds(),
              static_cast<unsigned long long>(PeakMemory() >> 20));
  std::printf("            reading and synthesis %.3f s, device %.3f s, finish and verify %.3f s\n", synthesis,
              proved - synthesis, whole.Seconds() - proved);
  for (const prover::TimelineEvent& event : pending->timeline()) {
    std::printf("            %-12s %.3f s\n", std::string(event.stage).c_str(),
                std::chrono::duration<double>(event.end - event.begin).count());
  }
  return RunPeer(kind, setup, settings);
}

/// Ten proofs of a key whose secrets are known, with so many public inputs.
Status BenchVerify(size_t inputs, const Settings& settings, ThreadPool& pool) {
  Fr alpha = algebra::RandomFr(), beta = algebra::RandomFr(), gamma = algebra::RandomFr(), delta = algebra::RandomFr();
  auto g1 = [](const Fr& x) { return ToAffine(ScalarMul(algebra::G1Generator(), x)); };
  auto g2 = [](const Fr& x) { return ToAffine(ScalarMul(algebra::G2Generator(), x)); };
  groth16::VerifyingKey key{g1(alpha), g1(beta), g2(beta), g2(gamma), g1(delta), g2(delta), {}};
  std::vector<Fr> ic;
  for (size_t i = 0; i <= inputs; ++i) {
    ic.push_back(algebra::RandomFr());
    key.ic.push_back(g1(ic.back()));
  }
  std::vector<groth16::Statement> statements;
  for (int k = 0; k < 10; ++k) {
    Fr a = algebra::RandomFr(), b = algebra::RandomFr(), sum = ic[0];
    std::vector<Fr> values;
    for (size_t i = 1; i <= inputs; ++i) {
      values.push_back(algebra::RandomFr());
      sum += values.back() * ic[i];
    }
    statements.push_back({{g1(a), g2(b), g1((a * b - alpha * beta - sum * gamma) * delta.Inverse())}, values});
  }
  const groth16::Verifier verifier(key, settings.arithmetic);
  // The best of several rounds: whatever else the machine does only makes a round longer.
  double single = 1e9, batch = 1e9;
  for (int i = 0; i < 30; ++i) {
    Stopwatch one;
    if (!verifier.Verify(statements[i % 10], pool).value()) return absl::InternalError("a proof does not verify");
    single = std::min(single, one.Seconds());
    Stopwatch ten;
    if (!verifier.FindWrong(statements, pool).value().empty()) return absl::InternalError("a batch does not verify");
    batch = std::min(batch, ten.Seconds());
  }
  std::printf("verify    %5zu inputs: one %.2f ms, ten together %.2f ms (%.2f of one)\n", inputs, single * 1e3,
              batch * 1e3, batch / single);
  return absl::OkStatus();
}

Status Main(int argc, char** argv) {
  Settings settings;
  std::set<std::string>* kinds = nullptr;
  CUZK_ASSIGN_OR_RETURN(settings.arithmetic, algebra::ResolveArithmetic(std::getenv("CUZK_CPU_ARITHMETIC")));
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--threads" && i + 1 < argc) {
      settings.threads = std::strtoul(argv[++i], nullptr, 10);
    } else if (word == "--peer" && i + 1 < argc) {
      settings.peer = argv[++i];
    } else if (word == "proof" || word == "generator") {
      kinds = word == "proof" ? &settings.proofs : &settings.generators;
    } else if (word == "verify") {
      settings.verify = true;
    } else if (kinds != nullptr) {
      kinds->insert(word);
    } else {
      return absl::InvalidArgumentError(StrCat("what is ", word, "?"));
    }
  }
  if (settings.proofs.empty() && settings.generators.empty() && !settings.verify) {
    settings.proofs = {"porep", "snap", "window", "winning"};
    settings.generators = {"porep", "window"};
    settings.verify = true;
  }
  ThreadPool pool(settings.threads);
  std::printf("%zu threads, %s\n", pool.size(), std::string(ArithmeticName(settings.arithmetic)).c_str());
  for (const std::string& kind : settings.proofs) CUZK_RETURN_IF_ERROR(BenchProof(kind, settings, pool));
  for (const std::string& kind : settings.generators) CUZK_RETURN_IF_ERROR(BenchGenerator(kind, settings, pool));
  // Snap; 2 KiB PoRep; WinningPoSt; 32 GiB PoRep, which has ten partitions.
  for (size_t inputs : {4, 39, 132, 327}) {
    if (settings.verify) CUZK_RETURN_IF_ERROR(BenchVerify(inputs, settings, pool));
  }
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
