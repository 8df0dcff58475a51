#pragma once
// The trusted setup of one circuit, for development and tests: parameters from toxic waste that this process knows.
// Formulas: groth16.md section 4. g1 and g2 are the standard generators.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/algebra/fr.h"
#include "core/base/bytes.h"
#include "core/base/progress.h"
#include "core/base/status.h"
#include "core/base/thread_pool.h"

namespace cuzk::r1cs {
struct Shape;
class RowSink;
}  // namespace cuzk::r1cs

namespace cuzk::groth16 {

/// The secrets of a setup.
struct ToxicWaste {
  algebra::Fr alpha, beta, gamma, delta, tau;

  static ToxicWaste Random();
  /// An object with "alpha", "beta", "gamma", "delta", "tau": canonical, 32 bytes little-endian, in hex. Other keys are
  /// ignored. InvalidArgument names the key that is missing or malformed.
  static StatusOr<ToxicWaste> FromJson(std::string_view json);
};

/// Sends every row of the circuit to the sink, in order, without the rows of the inputs, which the generator adds.
/// Called once.
using RowSource = std::function<Status(r1cs::RowSink&)>;

struct GeneratorInput {
  const r1cs::Shape* shape = nullptr;
  RowSource rows;
  ToxicWaste waste;
};

struct GeneratorOutput {
  std::filesystem::path params;  ///< `.params`
  std::filesystem::path key;     ///< `.vk`
  /// Bytes of the parameter file and its SHA-256 in lower-case hex.
  uint64_t bytes = 0;
  std::string sha256;
};

struct GeneratorOptions {
  std::filesystem::path path;  ///< of the `.params`; the `.vk` is written beside it
  Progress progress;           ///< points written of all points
  std::stop_token stop;        ///< Cancelled; no file is left
};

/// Writes parameters and key; a file appears under its final name only when it is complete, the key last. Memory:
/// 96 bytes per variable and a few tens of MB. InvalidArgument: delta or gamma is zero, tau lies in the domain, or a
/// variable of l, or of a query by density, would be infinity ("unconstrained"). ResourceExhausted: the disk is full.
StatusOr<GeneratorOutput> GenerateParameters(const GeneratorInput& input, const GeneratorOptions& options,
                                             ThreadPool& pool);

}  // namespace cuzk::groth16
