// Points of a parameter file into Montgomery memory form, a bounded piece at a time.

#include <algorithm>
#include <mutex>

#include "core/algebra/point_io.h"
#include "core/base/check.h"
#include "core/groth16/parameter_file.h"

namespace cuzk::groth16 {
namespace {

using algebra::Fp;
using algebra::Fp2;
using algebra::G1Affine;
using algebra::G2Affine;

/// Points between two looks at the stop token; a multiple of what one thread takes at a time.
constexpr uint64_t kPiece = uint64_t{1} << 17;

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
Status ReadCanonical(ByteSpan bytes, std::span<Point> out, uint64_t first_index, ThreadPool& pool) {
  constexpr size_t kBytes = sizeof(Point);
  std::mutex mutex;
  uint64_t bad = UINT64_MAX;
  bool infinity = false;
  pool.ParallelFor(out.size(), 1024, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const uint8_t* at = bytes.data() + i * kBytes;
      const bool encoded_infinity = at[0] == 0x40;
      if (!encoded_infinity && LoadCoordinate(at, out[i].x) && LoadCoordinate(at + kBytes / 2, out[i].y) &&
          !out[i].IsInfinity()) {
        continue;
      }
      std::lock_guard lock(mutex);
      if (i < bad) bad = i, infinity = encoded_infinity;
      return;
    }
  });
  if (bad == UINT64_MAX) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("point ", first_index + bad, ": ",
                                           infinity ? "point is infinity" : "coordinate is not below the modulus"));
}

Status Read(ByteSpan bytes, std::span<G1Affine> out, const algebra::ReadOptions& options, ThreadPool& pool) {
  return algebra::ReadG1Points(bytes, out, options, pool);
}
Status Read(ByteSpan bytes, std::span<G2Affine> out, const algebra::ReadOptions& options, ThreadPool& pool) {
  return algebra::ReadG2Points(bytes, out, options, pool);
}

template <class Point>
Status ReadByPolicy(ByteSpan bytes, std::span<Point> out, uint64_t first_index, const DecodeOptions& options,
                    ThreadPool& pool) {
  if (options.policy == PointPolicy::kCanonical) return ReadCanonical(bytes, out, first_index, pool);
  algebra::ReadOptions read;
  read.check = options.policy == PointPolicy::kSubgroup ? algebra::PointCheck::kFull : algebra::PointCheck::kCurveOnly;
  read.first_index = first_index;
  read.arithmetic = options.arithmetic;
  return Read(bytes, out, read, pool);
}

/// Calls `place(first, n)` for where each piece goes.
template <class Point, class Place>
Status DecodePieces(const ParameterFile& file, Query query, uint64_t begin, uint64_t count, ThreadPool& pool,
                    const DecodeOptions& options, Place place) {
  const ByteSpan section = file.section(query);
  if (begin > file.counts()[query] || count > file.counts()[query] - begin) {
    return absl::OutOfRangeError(StrCat("section ", QueryName(query), " has ", file.counts()[query], " points"));
  }
  for (uint64_t done = 0; done < count; done += kPiece) {
    if (options.stop.stop_requested()) return absl::CancelledError("cancelled while points were being read");
    const uint64_t n = std::min(kPiece, count - done);
    const ByteSpan bytes = section.subspan((begin + done) * sizeof(Point), n * sizeof(Point));
    Status status = ReadByPolicy<Point>(bytes, place(done, n), begin + done, options, pool);
    if (!status.ok()) return Annotate(status, StrCat("section ", QueryName(query)));
    file.Forget(bytes);
    if (options.progress) options.progress((done + n) * sizeof(Point), count * sizeof(Point));
  }
  return absl::OkStatus();
}

template <class Point>
Status CheckSection(const ParameterFile& file, Query query, ThreadPool& pool, const DecodeOptions& options) {
  const uint64_t count = file.counts()[query];
  std::vector<Point> scratch(std::min(count, kPiece));
  return DecodePieces<Point>(file, query, 0, count, pool, options,
                             [&](uint64_t, uint64_t n) { return std::span<Point>(scratch).first(n); });
}

}  // namespace

Status DecodeG1(const ParameterFile& file, Query query, uint64_t begin, std::span<G1Affine> out, ThreadPool& pool,
                const DecodeOptions& options) {
  CUZK_CHECK(query != Query::kBG2);
  return DecodePieces<G1Affine>(file, query, begin, out.size(), pool, options,
                                [&](uint64_t at, uint64_t n) { return out.subspan(at, n); });
}

Status DecodeG2(const ParameterFile& file, uint64_t begin, std::span<G2Affine> out, ThreadPool& pool,
                const DecodeOptions& options) {
  return DecodePieces<G2Affine>(file, Query::kBG2, begin, out.size(), pool, options,
                                [&](uint64_t at, uint64_t n) { return out.subspan(at, n); });
}

Status CheckPoints(const ParameterFile& file, ThreadPool& pool, const DecodeOptions& options) {
  uint64_t total = 0, before = 0;
  for (Query query : kAllQueries) total += file.section(query).size();
  for (Query query : kAllQueries) {
    DecodeOptions section = options;
    if (options.progress) section.progress = [&](uint64_t done, uint64_t) { options.progress(before + done, total); };
    CUZK_RETURN_IF_ERROR(query == Query::kBG2 ? CheckSection<G2Affine>(file, query, pool, section)
                                              : CheckSection<G1Affine>(file, query, pool, section));
    before += file.section(query).size();
  }
  return absl::OkStatus();
}

}  // namespace cuzk::groth16
