#include "core/groth16/generator.h"

#include <algorithm>
#include <vector>

#include "core/algebra/fixed_base.h"
#include "core/algebra/point_io.h"
#include "core/base/check.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/groth16/identity.h"
#include "core/groth16/parameter_file.h"
#include "core/groth16/query_scalars.h"

namespace cuzk::groth16 {
namespace {

using algebra::Fp;
using algebra::Fp2;
using algebra::Fr;
using algebra::G1Affine;
using algebra::G2Affine;

/// Points made at a time.
constexpr uint64_t kPiece = uint64_t{1} << 16;

auto WriteUncompressed(const G1Affine& p) { return algebra::WriteG1Uncompressed(p); }
auto WriteUncompressed(const G2Affine& p) { return algebra::WriteG2Uncompressed(p); }

/// Appends to the file and to the hash, and counts points.
class Output {
 public:
  Output(AtomicFile file, uint64_t total_points, const GeneratorOptions& options)
      : file_(std::move(file)), hasher_(HashKind::kSha256), total_points_(total_points), options_(options) {}

  Status Append(ByteSpan bytes) {
    CUZK_RETURN_IF_ERROR(file_.Append(bytes));
    hasher_.Update(bytes);
    bytes_ += bytes.size();
    return absl::OkStatus();
  }
  Status AppendCount(uint64_t count) {
    uint8_t bytes[4];
    StoreBe(bytes, static_cast<uint32_t>(count));
    return Append(bytes);
  }
  /// Tells how far it is; Cancelled if that was asked for.
  Status CountPoints(uint64_t n) {
    points_ += n;
    if (options_.progress) options_.progress(points_, total_points_);
    if (options_.stop.stop_requested()) return absl::CancelledError("cancelled while parameters were being made");
    return absl::OkStatus();
  }
  std::string Sha256() { return ToHex(hasher_.Finish32()); }
  uint64_t bytes() const { return bytes_; }
  Status Commit() { return file_.Commit(); }

 private:
  AtomicFile file_;
  Hasher hasher_;
  const uint64_t total_points_;
  const GeneratorOptions& options_;
  uint64_t points_ = 0, bytes_ = 0;
};

/// Writes one section. `next(out)` fills the scalars of the next out.size() points of `count`.
template <class F>
class SectionWriter {
 public:
  SectionWriter(const algebra::FixedBase<F>& base, ThreadPool& pool) : base_(base), pool_(pool) {}

  template <class Next>
  Status Write(Query query, uint64_t count, Output& output, Next next) {
    constexpr size_t kBytes = sizeof(algebra::AffinePoint<F>);
    CUZK_RETURN_IF_ERROR(output.AppendCount(count));
    for (uint64_t done = 0; done < count; done += kPiece) {
      const size_t n = std::min(kPiece, count - done);
      scalars_.resize(n), points_.resize(n), bytes_.resize(n * kBytes);
      next(std::span<Fr>(scalars_));
      base_.Multiply(scalars_, points_, pool_);
      for (size_t i = 0; i < n; ++i) {
        if (points_[i].IsInfinity()) {
          return absl::InvalidArgumentError(StrCat("section ", QueryName(query), ": point ", done + i, " is infinity"));
        }
      }
      pool_.ParallelFor(n, 1024, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)
          std::ranges::copy(WriteUncompressed(points_[i]), bytes_.data() + i * kBytes);
      });
      CUZK_RETURN_IF_ERROR(output.Append(bytes_));
      CUZK_RETURN_IF_ERROR(output.CountPoints(n));
    }
    return absl::OkStatus();
  }

 private:
  const algebra::FixedBase<F>& base_;
  ThreadPool& pool_;
  std::vector<Fr> scalars_;
  std::vector<algebra::AffinePoint<F>> points_;
  std::vector<uint8_t> bytes_;
};

/// Walks the scalars of the members of a query: the inputs in `inputs` (all of them if it is null), then the aux.
class Gather {
 public:
  Gather(std::span<const Fr> scalars, size_t input_count, const r1cs::IndexSet* inputs, const r1cs::IndexSet& aux)
      : scalars_(scalars), input_count_(input_count), inputs_(inputs), aux_(aux) {}

  void operator()(std::span<Fr> out) {
    for (Fr& x : out) {
      while (!IsMember(at_)) ++at_;
      x = scalars_[at_++];
    }
  }

 private:
  bool IsMember(size_t i) const {
    return i < input_count_ ? !inputs_ || inputs_->Contains(i) : aux_.Contains(i - input_count_);
  }
  std::span<const Fr> scalars_;
  const size_t input_count_;
  const r1cs::IndexSet* inputs_;
  const r1cs::IndexSet& aux_;
  size_t at_ = 0;
};

VerifyingKey MakeKey(const ToxicWaste& waste, std::span<const Fr> input_ext) {
  const G1Affine& g1 = algebra::G1Generator();
  const G2Affine& g2 = algebra::G2Generator();
  VerifyingKey key;
  key.alpha_g1 = ToAffine(ScalarMul(g1, waste.alpha));
  key.beta_g1 = ToAffine(ScalarMul(g1, waste.beta));
  key.beta_g2 = ToAffine(ScalarMul(g2, waste.beta));
  key.gamma_g2 = ToAffine(ScalarMul(g2, waste.gamma));
  key.delta_g1 = ToAffine(ScalarMul(g1, waste.delta));
  key.delta_g2 = ToAffine(ScalarMul(g2, waste.delta));
  const Fr gamma_inverse = waste.gamma.Inverse();
  std::vector<algebra::G1> ic;
  for (const Fr& ext : input_ext) ic.push_back(ScalarMul(g1, ext * gamma_inverse));
  key.ic.resize(ic.size());
  algebra::BatchToAffine(ic, key.ic);
  return key;
}

/// Writes the five sections behind the key.
Status WriteSections(const GeneratorInput& input, const QueryScalars& scalars, const LagrangeAt& lagrange,
                     Output& output, ThreadPool& pool) {
  const r1cs::Shape& shape = *input.shape;
  const SectionCounts counts = SectionCounts::Of(shape);
  const size_t inputs = shape.counts.inputs;
  const Fr delta_inverse = input.waste.delta.Inverse();
  const algebra::FixedBase<Fp> g1(algebra::G1Generator(),
                                  counts[Query::kH] + counts[Query::kL] + counts[Query::kA] + counts[Query::kBG1], pool,
                                  input.arithmetic);
  SectionWriter<Fp> write_g1(g1, pool);

  Fr power = lagrange.vanishing() * delta_inverse;
  CUZK_RETURN_IF_ERROR(write_g1.Write(Query::kH, counts[Query::kH], output, [&](std::span<Fr> out) {
    for (Fr& x : out) {
      x = power;
      power *= input.waste.tau;
    }
  }));
  size_t aux = inputs;
  CUZK_RETURN_IF_ERROR(write_g1.Write(Query::kL, counts[Query::kL], output, [&](std::span<Fr> out) {
    for (Fr& x : out) x = scalars.ext[aux++] * delta_inverse;
  }));
  CUZK_RETURN_IF_ERROR(
      write_g1.Write(Query::kA, counts[Query::kA], output, Gather(scalars.u.span(), inputs, nullptr, shape.a_aux)));
  const Gather b(scalars.v.span(), inputs, &shape.b_input, shape.b_aux);
  CUZK_RETURN_IF_ERROR(write_g1.Write(Query::kBG1, counts[Query::kBG1], output, Gather(b)));
  const algebra::FixedBase<Fp2> g2(algebra::G2Generator(), counts[Query::kBG2], pool, input.arithmetic);
  return SectionWriter<Fp2>(g2, pool).Write(Query::kBG2, counts[Query::kBG2], output, Gather(b));
}

Status CheckInput(const GeneratorInput& input) {
  CUZK_CHECK(input.shape && input.rows);
  if (input.waste.gamma.IsZero()) return absl::InvalidArgumentError("gamma is zero");
  if (input.waste.delta.IsZero()) return absl::InvalidArgumentError("delta is zero");
  if (input.waste.alpha.IsZero()) return absl::InvalidArgumentError("alpha is zero");
  if (input.waste.beta.IsZero()) return absl::InvalidArgumentError("beta is zero");
  return absl::OkStatus();
}

/// Files without a development record were not made here (they may be the network's): they are never replaced.
Status CheckTarget(const std::filesystem::path& path) {
  if (std::filesystem::exists(DevelopmentRecordPath(path))) return absl::OkStatus();
  for (std::filesystem::path file : {path, std::filesystem::path(path).replace_extension(".vk")}) {
    if (!std::filesystem::exists(file)) continue;
    return absl::InvalidArgumentError(
        StrCat(file.string(), " is there and was not made as development parameters; move it away first"));
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<GeneratorOutput> GenerateParameters(const GeneratorInput& input, const GeneratorOptions& options,
                                             ThreadPool& pool) {
  CUZK_RETURN_IF_ERROR(CheckInput(input));
  CUZK_RETURN_IF_ERROR(CheckTarget(options.path));
  const r1cs::Shape& shape = *input.shape;
  const SectionCounts counts = SectionCounts::Of(shape);
  uint64_t points = 0;
  for (Query query : kAllQueries) points += counts[query];

  memory::AlignedAllocator system_memory;
  memory::HostAllocator& allocator = options.allocator ? *options.allocator : system_memory;
  CUZK_ASSIGN_OR_RETURN(LagrangeAt lagrange, LagrangeAt::Make(shape.counts.log2_domain(), input.waste.tau));
  CUZK_ASSIGN_OR_RETURN(QueryScalars scalars, EvaluateAtTau(input, lagrange, allocator, pool));
  const std::vector<uint8_t> key = MakeKey(input.waste, scalars.ext.span().first(shape.counts.inputs)).ToBytes();

  GeneratorOutput made;
  made.params = options.path;
  made.key = options.path;
  made.key.replace_extension(".vk");
  made.record = DevelopmentRecordPath(options.path);
  CUZK_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(options.path));
  Output output(std::move(file), points, options);
  CUZK_RETURN_IF_ERROR(output.Append(key));
  CUZK_RETURN_IF_ERROR(WriteSections(input, scalars, lagrange, output, pool));
  made.bytes = output.bytes();
  made.sha256 = output.Sha256();

  DevelopmentRecord record{made.sha256, options.version, {}};
  if (options.record_waste) record.waste = input.waste;
  CUZK_RETURN_IF_ERROR(WriteFile(made.record, AsBytes(record.ToJson())));
  CUZK_RETURN_IF_ERROR(WriteFile(made.key, key));
  CUZK_RETURN_IF_ERROR(output.Commit());
  return made;
}

}  // namespace cuzk::groth16
