#include "core/groth16/generator.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/algebra/curve/point_io.h"
#include "core/algebra/msm/fixed_base.h"
#include "core/base/file.h"
#include "core/base/first_where.h"
#include "core/base/hash.h"
#include "core/groth16/identity.h"
#include "core/groth16/parameter_file.h"
#include "core/groth16/section_scalars.h"

namespace cuzk::groth16 {
namespace {

using algebra::Fp;
using algebra::Fp2;
using algebra::Fr;
using algebra::G1Affine;
using algebra::G2Affine;

auto WriteUncompressed(const G1Affine& p) { return algebra::WriteG1Uncompressed(p); }
auto WriteUncompressed(const G2Affine& p) { return algebra::WriteG2Uncompressed(p); }

/// Runs both, at once if the pool has a second thread.
template <class First, class Second>
void Both(ThreadPool& pool, First first, Second second) {
  pool.ParallelFor(2, 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) i == 0 ? first() : second();
  });
}

/// Appends to the file and to the hash, and counts points.
class Output {
 public:
  Output(AtomicFile file, uint64_t total_points, const GeneratorOptions& options, ThreadPool& pool)
      : file_(std::move(file)),
        hasher_(HashKind::kSha256),
        total_points_(total_points),
        options_(options),
        pool_(pool) {}

  /// Writes and hashes side by side.
  Status Append(ByteSpan bytes) {
    Status status;
    Both(
        pool_, [&] { status = file_.Append(bytes); }, [&] { hasher_.Update(bytes); });
    bytes_ += bytes.size();
    return status;
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
  ThreadPool& pool_;
  uint64_t points_ = 0, bytes_ = 0;
};

/// Multiplies on the processor.
class CpuMultiplier final : public BaseMultiplier {
 public:
  CpuMultiplier(const SectionCounts& counts, algebra::Arithmetic arithmetic, ThreadPool& pool)
      : g1_(algebra::G1Generator(), counts[Query::kH] + counts[Query::kL] + counts[Query::kA] + counts[Query::kBG1],
            pool, arithmetic),
        g2_(algebra::G2Generator(), counts[Query::kBG2], pool, arithmetic),
        pool_(pool) {}
  size_t points_at_a_time() const override { return size_t{1} << 16; }
  Status Multiply(std::span<const Fr> scalars, std::span<G1Affine> out) override {
    g1_.Multiply(scalars, out, pool_);
    return absl::OkStatus();
  }
  Status Multiply(std::span<const Fr> scalars, std::span<G2Affine> out) override {
    g2_.Multiply(scalars, out, pool_);
    return absl::OkStatus();
  }

 private:
  const algebra::FixedBase<Fp> g1_;
  const algebra::FixedBase<Fp2> g2_;
  ThreadPool& pool_;
};

/// Writes sections, one piece of points while the next is made.
class SectionWriter {
 public:
  SectionWriter(const SectionScalars& scalars, BaseMultiplier& multiplier, Output& output, ThreadPool& pool)
      : scalars_(scalars), multiplier_(multiplier), output_(output), pool_(pool) {}

  template <class Point>
  Status Write(Query query) {
    const uint64_t count = scalars_.counts()[query], most = multiplier_.points_at_a_time();
    CUZK_RETURN_IF_ERROR(output_.AppendCount(count));
    Pieces<Point> pieces;
    CUZK_RETURN_IF_ERROR(Make(query, 0, std::min(most, count), pieces));
    for (uint64_t done = 0; done < count;) {
      pieces.bytes.swap(pieces.ready);
      const uint64_t next = done + pieces.ready.size() / sizeof(Point);
      Status written, made;
      Both(
          pool_, [&] { written = output_.Append(pieces.ready); },
          [&] { made = Make(query, next, std::min(most, count - next), pieces); });
      CUZK_RETURN_IF_ERROR(written);
      CUZK_RETURN_IF_ERROR(output_.CountPoints(next - done));
      CUZK_RETURN_IF_ERROR(made);
      done = next;
    }
    return absl::OkStatus();
  }

 private:
  template <class Point>
  struct Pieces {
    std::vector<Fr> scalars;
    std::vector<Point> points;
    std::vector<uint8_t> bytes, ready;
  };

  /// Points [begin, begin + n) of the section, encoded.
  template <class Point>
  Status Make(Query query, uint64_t begin, size_t n, Pieces<Point>& pieces) {
    pieces.scalars.resize(n), pieces.points.resize(n), pieces.bytes.resize(n * sizeof(Point));
    if (n == 0) return absl::OkStatus();
    scalars_.Fill(query, begin, pieces.scalars, pool_);
    CUZK_RETURN_IF_ERROR(multiplier_.Multiply(pieces.scalars, pieces.points));
    const uint64_t infinite = FirstWhere(n, 1024, pool_, [&](size_t i) {
      std::ranges::copy(WriteUncompressed(pieces.points[i]), pieces.bytes.data() + i * sizeof(Point));
      return pieces.points[i].IsInfinity();
    });
    if (infinite == n) return absl::OkStatus();
    return absl::InvalidArgumentError(
        StrCat("section ", QueryName(query), ": point ", begin + infinite, " is infinity"));
  }

  const SectionScalars& scalars_;
  BaseMultiplier& multiplier_;
  Output& output_;
  ThreadPool& pool_;
};

/// Writes the five sections behind the key.
Status WriteSections(const GeneratorInput& input, const SectionScalars& scalars, Output& output, ThreadPool& pool) {
  std::optional<CpuMultiplier> cpu;
  if (input.multiplier == nullptr) cpu.emplace(scalars.counts(), input.arithmetic, pool);
  SectionWriter writer(scalars, cpu ? *cpu : *input.multiplier, output, pool);
  for (Query query : {Query::kH, Query::kL, Query::kA, Query::kBG1}) {
    CUZK_RETURN_IF_ERROR(writer.Write<G1Affine>(query));
  }
  return writer.Write<G2Affine>(Query::kBG2);
}

/// Files without a development record were not made here (they may be the network's): they are never replaced.
Status CheckTarget(const std::filesystem::path& path) {
  if (std::filesystem::exists(DevelopmentRecordPath(path))) return absl::OkStatus();
  for (const std::filesystem::path& file : {path, std::filesystem::path(path).replace_extension(".vk")}) {
    if (!std::filesystem::exists(file)) continue;
    return absl::InvalidArgumentError(
        StrCat(file.string(), " is there and was not made as development parameters; move it away first"));
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<GeneratorOutput> GenerateParameters(const GeneratorInput& input, const GeneratorOptions& options,
                                             ThreadPool& pool) {
  // Before the work, not only before the file.
  CUZK_RETURN_IF_ERROR(CheckTarget(options.path));
  memory::AlignedAllocator system_memory;
  memory::HostAllocator& allocator = options.allocator ? *options.allocator : system_memory;
  CUZK_ASSIGN_OR_RETURN(const SectionScalars scalars, SectionScalars::Make(input, allocator, pool));
  return WriteParameters(scalars, input, options, pool);
}

StatusOr<GeneratorOutput> WriteParameters(const SectionScalars& scalars, const GeneratorInput& input,
                                          const GeneratorOptions& options, ThreadPool& pool) {
  CUZK_RETURN_IF_ERROR(CheckTarget(options.path));
  const std::vector<uint8_t> key = scalars.key().ToBytes();
  uint64_t points = 0;
  for (Query query : kAllQueries) points += scalars.counts()[query];

  GeneratorOutput made;
  made.params = options.path;
  made.key = options.path;
  made.key.replace_extension(".vk");
  made.record = DevelopmentRecordPath(options.path);
  CUZK_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(options.path));
  CUZK_RETURN_IF_ERROR(file.Reserve(scalars.counts().FileBytes()));
  Output output(std::move(file), points, options, pool);
  CUZK_RETURN_IF_ERROR(output.Append(key));
  CUZK_RETURN_IF_ERROR(WriteSections(input, scalars, output, pool));
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
