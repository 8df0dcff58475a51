#pragma once
// The encodings of points in parameter files, keys and proofs (IETF pairing-friendly curves draft, appendix C):
// coordinates big-endian, 48 bytes each, Fp2 as c1 then c0. The top three bits of the first byte are flags: 0x80
// compressed, 0x40 infinity, 0x20 y is the larger of the two roots (compressed and finite only).
//
//   G1 uncompressed  96: x, y            G2 uncompressed 192: x.c1, x.c0, y.c1, y.c0
//   G1 compressed    48: x               G2 compressed    96: x.c1, x.c0

#include <array>
#include <cstdint>
#include <span>

#include "core/algebra/curve/curve.h"
#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/bytes.h"
#include "core/base/thread_pool.h"

namespace cuzk::algebra {

inline constexpr size_t kG1UncompressedBytes = 96, kG1CompressedBytes = 48;
inline constexpr size_t kG2UncompressedBytes = 192, kG2CompressedBytes = 96;

enum class PointCheck {
  kFull,       // canonical coordinates, on the curve, of order r
  kCurveOnly,  // all but the order
};

// Readers return InvalidArgument with one of these texts: "compression flag is set", "compression flag is missing",
// "sign flag is set on an uncompressed point", "flags of infinity, but other bits are set", "coordinate is not below
// the modulus", "point is not on the curve", "point is not in the subgroup", "wrong length". Infinity is read as
// such; callers that do not want it refuse it themselves.

StatusOr<G1Affine> ReadG1Uncompressed(ByteSpan bytes, PointCheck check);
StatusOr<G2Affine> ReadG2Uncompressed(ByteSpan bytes, PointCheck check);
StatusOr<G1Affine> ReadG1Compressed(ByteSpan bytes, PointCheck check = PointCheck::kFull);
StatusOr<G2Affine> ReadG2Compressed(ByteSpan bytes, PointCheck check = PointCheck::kFull);

std::array<uint8_t, kG1UncompressedBytes> WriteG1Uncompressed(const G1Affine& p);
std::array<uint8_t, kG2UncompressedBytes> WriteG2Uncompressed(const G2Affine& p);
std::array<uint8_t, kG1CompressedBytes> WriteG1Compressed(const G1Affine& p);
std::array<uint8_t, kG2CompressedBytes> WriteG2Compressed(const G2Affine& p);

/// Many uncompressed points one after another; bytes.size() is out.size() times the size of one. The error names the
/// lowest bad index ("point 17: ..."), counting from `first_index`. With `refuse_infinity` infinity is an error too
/// ("point is infinity").
struct ReadOptions {
  PointCheck check = PointCheck::kFull;
  bool refuse_infinity = true;
  uint64_t first_index = 0;
  Arithmetic arithmetic = Arithmetic::kScalar;
};
Status ReadG1Points(ByteSpan bytes, std::span<G1Affine> out, const ReadOptions& options, ThreadPool& pool);
Status ReadG2Points(ByteSpan bytes, std::span<G2Affine> out, const ReadOptions& options, ThreadPool& pool);

}  // namespace cuzk::algebra
