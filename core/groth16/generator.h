#pragma once
// The trusted setup of one circuit, for development and tests: parameters from toxic waste that this process knows.
// Formulas: docs/FORMATS.md, Parameter files. g1 and g2 are the standard generators.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/algebra/curve/curve.h"
#include "core/algebra/field/fr.h"
#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/bytes.h"
#include "core/base/progress.h"
#include "core/base/status.h"
#include "core/base/thread_pool.h"
#include "core/memory/host_allocator.h"
#include "core/r1cs/row_stretch.h"
#include "core/r1cs/shape.h"
#include "core/r1cs/variable.h"

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
/// The same, stretch by stretch, several at once by the threads of the pool.
using StretchSource = std::function<Status(const r1cs::OpenSink&, ThreadPool&)>;

/// Computes multiples of the two standard generators, for example on a card. One thread at a time.
class BaseMultiplier {
 public:
  virtual ~BaseMultiplier() = default;
  /// The preferred number of points in a call.
  virtual size_t points_at_a_time() const = 0;
  /// out[i] = scalars[i] times the generator; spans equally long. Zero gives infinity.
  virtual Status Multiply(std::span<const algebra::Fr> scalars, std::span<algebra::G1Affine> out) = 0;
  virtual Status Multiply(std::span<const algebra::Fr> scalars, std::span<algebra::G2Affine> out) = 0;
};

struct GeneratorInput {
  const r1cs::Shape* shape = nullptr;
  RowSource rows;  ///< used if there are no `stretches`
  ToxicWaste waste;
  algebra::Arithmetic arithmetic = algebra::Arithmetic::kScalar;
  StretchSource stretches;
  BaseMultiplier* multiplier = nullptr;  ///< null: the processor, with `arithmetic`
};

struct GeneratorOptions {
  std::filesystem::path path;                  ///< of the `.params`; the other two files are written beside it
  std::string version;                         ///< of the program, for the development record
  bool record_waste = false;                   ///< put the waste into the record: only if it was given, never if random
  Progress progress;                           ///< points written of all points
  std::stop_token stop;                        ///< Cancelled; no file is left
  memory::HostAllocator* allocator = nullptr;  ///< of the large arrays; null: the system's
};

struct GeneratorOutput {
  std::filesystem::path params;  ///< NAME.params
  std::filesystem::path key;     ///< NAME.vk
  std::filesystem::path record;  ///< NAME.development.json, see identity.h
  uint64_t bytes = 0;            ///< of the parameter file
  std::string sha256;            ///< of the parameter file, lower-case hex
};

/// Writes the development record, the key and the parameters, in this order. Each file gets its final name only when it
/// is complete, so a parameter file is always complete and has the other two beside it. Memory: 96 bytes a variable and
/// some tens of MB. InvalidArgument: a secret is zero, tau lies in the domain, an aux is unconstrained, or a density
/// bit and the rows disagree (so a point would be infinity or missing); or there are files without a development
/// record, because only development files are replaced. ResourceExhausted: memory, or the disk is full.
StatusOr<GeneratorOutput> GenerateParameters(const GeneratorInput& input, const GeneratorOptions& options,
                                             ThreadPool& pool);

class SectionScalars;

/// As GenerateParameters, from given scalars (section_scalars.h); of the input, only waste, arithmetic and multiplier
/// are used.
StatusOr<GeneratorOutput> WriteParameters(const SectionScalars& scalars, const GeneratorInput& input,
                                          const GeneratorOptions& options, ThreadPool& pool);

}  // namespace cuzk::groth16
