// Makes the parameter files that tests share, once per build folder: KIND SIZE pairs into FOLDER, under the names that
// filecoin-proofs would use, from the recorded toxic waste; each must have the recorded SHA-256 and key.
//
//   cuzk_test_parameters FOLDER KIND SIZE [KIND SIZE ...]

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/algebra/cpu_arithmetic.h"
#include "core/base/file.h"
#include "core/circuit/row_stretches.h"
#include "core/filecoin/partition.h"
#include "core/groth16/generator.h"
#include "core/groth16/identity.h"
#include "core/groth16/parameter_file.h"

namespace cuzk {
namespace {

/// Whether the file is there from an earlier run: whole, of this circuit, and with its record.
bool IsThere(const std::filesystem::path& path, const r1cs::Shape& shape, const std::string& sha256) {
  auto record = groth16::ReadDevelopmentRecord(path);
  return record.ok() && *record && (*record)->sha256 == sha256 &&
         groth16::ParameterFile::Open(path, groth16::SectionCounts::Of(shape)).ok();
}

Status Make(const std::filesystem::path& folder, const std::string& kind, const std::string& size,
            algebra::Arithmetic arithmetic, ThreadPool& pool) {
  CUZK_ASSIGN_OR_RETURN(const filecoin::Circuit* circuit, filecoin::CircuitByNames(kind, size));
  const std::filesystem::path recorded =
      std::filesystem::path(CUZK_VECTORS) / "groth16" / StrCat(KindInfo(circuit->kind).r1cs_name, "-", size, ".json");
  CUZK_ASSIGN_OR_RETURN(std::string json, ReadFile(recorded));
  CUZK_ASSIGN_OR_RETURN(groth16::DevelopmentRecord record, groth16::DevelopmentRecord::FromJson(json));
  const circuit::CircuitSpec spec = filecoin::SpecOf(*circuit);
  CUZK_ASSIGN_OR_RETURN(auto shape, circuit::MakeShape(spec));
  const std::filesystem::path path = folder / circuit->params_file();
  if (IsThere(path, *shape, record.sha256)) {
    std::printf("%s %s: there already\n", kind.c_str(), size.c_str());
    return absl::OkStatus();
  }
  groth16::GeneratorInput input{.shape = shape.get(), .waste = *record.waste, .arithmetic = arithmetic};
  input.stretches = [&](const r1cs::OpenSink& open, ThreadPool& threads) {
    return circuit::StreamStretches(spec, *shape, open, threads);
  };
  CUZK_ASSIGN_OR_RETURN(
      groth16::GeneratorOutput made,
      groth16::GenerateParameters(input, {.path = path, .version = "test", .record_waste = true}, pool));
  CUZK_ASSIGN_OR_RETURN(std::string key, ReadFile(made.key));
  std::filesystem::path recorded_key_path = recorded;
  CUZK_ASSIGN_OR_RETURN(std::string recorded_key, ReadFile(recorded_key_path.replace_extension(".vk")));
  if (made.sha256 != record.sha256 || key != recorded_key) {
    std::filesystem::remove(made.params);
    return absl::InternalError(StrCat("made a file with SHA-256 ", made.sha256, ", recorded is ", record.sha256));
  }
  std::printf("%s %s: %llu bytes, SHA-256 as recorded\n", kind.c_str(), size.c_str(),
              static_cast<unsigned long long>(made.bytes));
  return absl::OkStatus();
}

Status Main(int argc, char** argv) {
  if (argc < 4 || argc % 2 != 0) return absl::InvalidArgumentError("usage: cuzk_test_parameters FOLDER KIND SIZE ...");
  CUZK_ASSIGN_OR_RETURN(algebra::Arithmetic arithmetic, algebra::ResolveArithmetic(std::getenv("CUZK_CPU_ARITHMETIC")));
  std::filesystem::create_directories(argv[1]);
  ThreadPool pool(0);
  for (int i = 2; i < argc; i += 2) {
    Status status = Make(argv[1], argv[i], argv[i + 1], arithmetic, pool);
    if (!status.ok()) return Annotate(status, StrCat(argv[i], " ", argv[i + 1]));
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
