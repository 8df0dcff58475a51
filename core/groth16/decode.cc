// Points of a parameter file into Montgomery memory form, a bounded piece at a time.

#include <algorithm>
#include <array>
#include <utility>

#include "core/algebra/curve/point_io.h"
#include "core/base/check.h"
#include "core/base/mutex.h"
#include "core/groth16/parameter_file.h"

namespace cuzk::groth16 {
namespace {

using algebra::Fp;
using algebra::Fp2;
using algebra::G1Affine;
using algebra::G2Affine;

/// Points between two looks at the stop token.
constexpr uint64_t kPiece = uint64_t{1} << 17;
/// Points that one thread reads and decodes at a time: their bytes stay in its cache.
constexpr uint64_t kRun = 512;

bool LoadFp(const uint8_t* bytes, Fp& out) {
  Fp::Canonical value;
  for (size_t i = 0; i < Fp::kLimbs; ++i) value[i] = LoadBe<uint64_t>(bytes + 8 * (Fp::kLimbs - 1 - i));
  if (!Fp::IsCanonical(value)) return false;
  out = Fp::FromCanonical(value);
  return true;
}
bool LoadCoordinate(const uint8_t* bytes, Fp& out) { return LoadFp(bytes, out); }
bool LoadCoordinate(const uint8_t* bytes, Fp2& out) {
  return LoadFp(bytes, out.c1) && LoadFp(bytes + Fp::kBytes, out.c0);
}

/// Reads without the curve equation. Set flag bits make a coordinate too large, so they are refused as well.
template <class Point>
Status ReadCanonical(ByteSpan bytes, std::span<Point> out, uint64_t first_index) {
  constexpr size_t kBytes = sizeof(Point);
  for (size_t i = 0; i < out.size(); ++i) {
    const uint8_t* at = bytes.data() + i * kBytes;
    const bool infinity = at[0] == 0x40;
    if (!infinity && LoadCoordinate(at, out[i].x) && LoadCoordinate(at + kBytes / 2, out[i].y) &&
        !out[i].IsInfinity()) {
      continue;
    }
    return absl::InvalidArgumentError(StrCat("point ", first_index + i, ": ",
                                             infinity ? "point is infinity" : "coordinate is not below the modulus"));
  }
  return absl::OkStatus();
}

Status Read(ByteSpan bytes, std::span<G1Affine> out, const algebra::ReadOptions& options, ThreadPool& pool) {
  return algebra::ReadG1Points(bytes, out, options, pool);
}
Status Read(ByteSpan bytes, std::span<G2Affine> out, const algebra::ReadOptions& options, ThreadPool& pool) {
  return algebra::ReadG2Points(bytes, out, options, pool);
}

/// Points [first, first + out.size()) of a section, in the calling thread.
template <class Point>
Status DecodeRun(const ParameterFile& file, Query query, uint64_t first, std::span<Point> out,
                 const DecodeOptions& options) {
  std::array<uint8_t, kRun * sizeof(Point)> buffer;
  const std::span<uint8_t> bytes = std::span(buffer).first(out.size() * sizeof(Point));
  CUZK_RETURN_IF_ERROR(file.ReadSection(query, first * sizeof(Point), bytes));
  if (options.policy == PointPolicy::kCanonical) return ReadCanonical(bytes, out, first);
  algebra::ReadOptions read;
  read.check = options.policy == PointPolicy::kSubgroup ? algebra::PointCheck::kFull : algebra::PointCheck::kCurveOnly;
  read.first_index = first;
  read.arithmetic = options.arithmetic;
  ThreadPool caller(1);
  return Read(bytes, out, read, caller);
}

/// The error of the lowest run, whichever thread comes first.
class LowestError {
 public:
  void Add(uint64_t at, Status status) {
    MutexLock lock(mutex_);
    if (at < at_) at_ = at, status_ = std::move(status);
  }
  Status status() const {
    MutexLock lock(mutex_);
    return status_;
  }

 private:
  mutable Mutex mutex_;
  uint64_t at_ ABSL_GUARDED_BY(mutex_) = UINT64_MAX;
  Status status_ ABSL_GUARDED_BY(mutex_);
};

/// Points [begin, begin + count) of a section.
struct Part {
  const ParameterFile& file;
  Query query;
  uint64_t begin, count;
};

/// Calls `run(first, n)` in parallel over pieces of the part of at most kRun points.
template <class Point, class Run>
Status ForEachRun(const Part& part, ThreadPool& pool, const DecodeOptions& options, Run run) {
  const auto& [file, query, begin, count] = part;
  if (begin > file.counts()[query] || count > file.counts()[query] - begin) {
    return absl::OutOfRangeError(StrCat("section ", QueryName(query), " has ", file.counts()[query], " points"));
  }
  file.Announce(query, begin * sizeof(Point), kPiece * sizeof(Point));
  for (uint64_t done = 0; done < count; done += kPiece) {
    if (options.stop.stop_requested()) return absl::CancelledError("cancelled while points were being read");
    const uint64_t n = std::min(kPiece, count - done), first = begin + done;
    file.Announce(query, (first + n) * sizeof(Point), kPiece * sizeof(Point));
    LowestError error;
    pool.ParallelFor(n, kRun, [&](size_t from, size_t to) {
      for (size_t at = from; at < to; at += kRun) {
        Status status = run(first + at, std::min<uint64_t>(kRun, to - at));
        if (status.ok()) continue;
        error.Add(at, std::move(status));
        return;
      }
    });
    Status status = error.status();
    // Errors of the points say where in the section; those of the file name it themselves.
    if (absl::IsInvalidArgument(status)) return Annotate(status, StrCat("section ", QueryName(query)));
    CUZK_RETURN_IF_ERROR(status);
    if (options.progress) options.progress((done + n) * sizeof(Point), count * sizeof(Point));
  }
  return absl::OkStatus();
}

template <class Point>
Status DecodeTo(const Part& part, std::span<Point> out, ThreadPool& pool, const DecodeOptions& options) {
  return ForEachRun<Point>(part, pool, options, [&](uint64_t first, uint64_t n) {
    return DecodeRun(part.file, part.query, first, out.subspan(first - part.begin, n), options);
  });
}

template <class Point>
Status CheckSection(const ParameterFile& file, Query query, ThreadPool& pool, const DecodeOptions& options) {
  return ForEachRun<Point>({file, query, 0, file.counts()[query]}, pool, options, [&](uint64_t first, uint64_t n) {
    std::array<Point, kRun> scratch;
    return DecodeRun(file, query, first, std::span(scratch).first(n), options);
  });
}

}  // namespace

Status DecodeG1(const ParameterFile& file, PointPlace begin, std::span<G1Affine> out, ThreadPool& pool,
                const DecodeOptions& options) {
  CUZK_CHECK(begin.query != Query::kBG2);
  return DecodeTo(Part{file, begin.query, begin.index, out.size()}, out, pool, options);
}

Status DecodeG2(const ParameterFile& file, uint64_t begin, std::span<G2Affine> out, ThreadPool& pool,
                const DecodeOptions& options) {
  return DecodeTo(Part{file, Query::kBG2, begin, out.size()}, out, pool, options);
}

Status CheckPoints(const ParameterFile& file, ThreadPool& pool, const DecodeOptions& options) {
  uint64_t total = 0, before = 0;
  for (Query query : kAllQueries) total += file.section_bytes(query);
  for (Query query : kAllQueries) {
    DecodeOptions section = options;
    if (options.progress) section.progress = [&](uint64_t done, uint64_t) { options.progress(before + done, total); };
    CUZK_RETURN_IF_ERROR(query == Query::kBG2 ? CheckSection<G2Affine>(file, query, pool, section)
                                              : CheckSection<G1Affine>(file, query, pool, section));
    before += file.section_bytes(query);
  }
  return file.CheckUnchanged();
}

}  // namespace cuzk::groth16
