// The trusted setup of a chain of LOG2-sized length, and a proof of it that the made key accepts.
//
//   cuzk_setup_bench [LOG2] [--threads N]
//
// Row i of the circuit is x_i (x_i + i) = x_(i+1), so that every variable is in every query.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/groth16/generator.h"
#include "core/groth16/parameter_file.h"
#include "core/groth16/verifier.h"
#include "core/prover/cpu/cpu_device.h"
#include "tests/doubles/small_circuits.h"

namespace cuzk {
namespace {

using algebra::Fr;

class Chain final : public testing_support::BothReadings<Chain> {
 public:
  explicit Chain(uint64_t rows) : rows_(rows) {}

  template <class Cs>
  void Build(Cs& cs) const {
    auto x = cs.AllocateNum(r1cs::Given<Cs>([] { return Fr::FromU64(3); }));
    for (uint64_t i = 0; i < rows_; ++i) {
      const auto added = r1cs::Given<Cs>([&] { return Fr::FromU64(i); });
      auto next = cs.AllocateNum(x.value * (x.value + added));
      typename Cs::Lc left, right, product;
      left.Add(x, 1);
      right.Add(x, 1);
      right.AddOne(static_cast<int64_t>(i));
      product.Add(next, 1);
      cs.Enforce(std::move(left), std::move(right), std::move(product));
      x = next;
    }
  }

 private:
  const uint64_t rows_;
};

Status Prove(const Chain& chain, const groth16::GeneratorOutput& made, std::shared_ptr<const r1cs::Shape> shape,
             ThreadPool& pool) {
  auto device = prover::MakeCpuDevice({.pool = &pool, .arithmetic = algebra::BestArithmetic()});
  CUZK_ASSIGN_OR_RETURN(auto file, groth16::ParameterFile::Open(made.params, groth16::SectionCounts::Of(*shape)));
  CUZK_ASSIGN_OR_RETURN(auto parameters, device->Load(file, shape, {}));
  CUZK_ASSIGN_OR_RETURN(auto pending, device->Start(parameters, chain.MakeWitness(shape, r1cs::Layout::kPlain), {}));
  CUZK_ASSIGN_OR_RETURN(auto sums, pending->Finish());
  CUZK_ASSIGN_OR_RETURN(auto proof, Assemble(parameters->verifying_key(), sums, groth16::Blinding::Random()));
  const groth16::Verifier verifier(parameters->verifying_key());
  CUZK_ASSIGN_OR_RETURN(bool valid, verifier.Verify({proof, chain.PublicInputs()}, pool));
  return valid ? absl::OkStatus() : absl::InternalError("a proof with the made parameters does not verify");
}

Status Main(int argc, char** argv) {
  unsigned log2 = 16;
  size_t threads = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--threads" && i + 1 < argc) {
      threads = std::strtoul(argv[++i], nullptr, 10);
    } else {
      log2 = static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10));
    }
  }
  if (log2 < 1 || log2 > 24) return absl::InvalidArgumentError("LOG2 is 1 to 24");
  CUZK_ASSIGN_OR_RETURN(auto arithmetic, algebra::ResolveArithmetic(std::getenv("CUZK_CPU_ARITHMETIC")));
  ThreadPool pool(threads);
  const Chain chain(uint64_t{1} << log2);
  const auto shape = chain.MakeShape();
  groth16::GeneratorInput input{.shape = shape.get(),
                                .rows = [&](r1cs::RowSink& sink) { return chain.Stream(sink); },
                                .waste = groth16::ToxicWaste::Random(),
                                .arithmetic = arithmetic};
  const auto folder = std::filesystem::temp_directory_path() / StrCat("cuzk-setup-bench-", getpid());
  std::filesystem::create_directories(folder);
  const auto begin = std::chrono::steady_clock::now();
  auto made = GenerateParameters(input, {.path = folder / "chain.params"}, pool);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Status status = made.ok() ? Prove(chain, *made, shape, pool) : made.status();
  std::filesystem::remove_all(folder);
  CUZK_RETURN_IF_ERROR(status);
  std::printf("setup 2^%u rows, %zu threads, %s: %.3f s; a proof verifies\n", log2, pool.size(),
              std::string(ArithmeticName(arithmetic)).c_str(), seconds);
  return absl::OkStatus();
}

}  // namespace
}  // namespace cuzk

int main(int argc, char** argv) {
  const cuzk::Status status = cuzk::Main(argc, argv);
  if (!status.ok()) std::fprintf(stderr, "cuzk_setup_bench: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
