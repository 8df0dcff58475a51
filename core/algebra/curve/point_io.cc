#include "core/algebra/curve/point_io.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "core/algebra/curve/points_ifma.h"
#include "core/base/check.h"

namespace cuzk::algebra {
namespace {

constexpr uint8_t kCompressed = 0x80, kInfinity = 0x40, kLarger = 0x20, kFlags = 0xe0;
constexpr size_t kFpBytes = 48;

Status Bad(std::string_view text) { return absl::InvalidArgumentError(AsAbslText(text)); }

/// 48 big-endian bytes less the bits of `mask` in the first; false if not below the modulus.
bool LoadFp(const uint8_t* bytes, uint8_t mask, Fp& out) {
  Fp::Canonical value;
  for (size_t i = 0; i < 6; ++i) value[i] = LoadBe<uint64_t>(bytes + 8 * (5 - i));
  value[5] &= ~(static_cast<uint64_t>(mask) << 56);
  if (!Fp::IsCanonical(value)) return false;
  out = Fp::FromCanonical(value);
  return true;
}
void StoreFp(const Fp& x, uint8_t* bytes) {
  Fp::Canonical value = x.ToCanonical();
  for (size_t i = 0; i < 6; ++i) StoreBe<uint64_t>(bytes + 8 * (5 - i), value[i]);
}

// One coordinate of either curve; the flags are in the first byte.
bool LoadCoordinate(const uint8_t* bytes, uint8_t mask, Fp& out) { return LoadFp(bytes, mask, out); }
bool LoadCoordinate(const uint8_t* bytes, uint8_t mask, Fp2& out) {
  return LoadFp(bytes, mask, out.c1) && LoadFp(bytes + kFpBytes, 0, out.c0);
}
void StoreCoordinate(const Fp& x, uint8_t* bytes) { StoreFp(x, bytes); }
void StoreCoordinate(const Fp2& x, uint8_t* bytes) {
  StoreFp(x.c1, bytes);
  StoreFp(x.c0, bytes + kFpBytes);
}

/// OK for flags of infinity followed by zeros.
Status CheckInfinity(ByteSpan bytes) {
  bool zero = (bytes[0] & ~(kCompressed | kInfinity)) == 0 &&
              std::all_of(bytes.begin() + 1, bytes.end(), [](uint8_t b) { return b == 0; });
  return zero ? absl::OkStatus() : Bad("flags of infinity, but other bits are set");
}

template <class F>
Status CheckMembership(const AffinePoint<F>& p, PointCheck check) {
  bool member = check == PointCheck::kCurveOnly || IsInSubgroup(p);
  // The points of G1's curve with x = 0 have order three; the ecosystem's reader never lets them pass.
  if constexpr (std::is_same_v<F, Fp>) member = member && !p.x.IsZero();
  return member ? absl::OkStatus() : Bad("point is not in the subgroup");
}

template <class F>
StatusOr<AffinePoint<F>> ReadUncompressed(ByteSpan bytes, PointCheck check) {
  if (bytes.size() != 2 * sizeof(F)) return Bad("wrong length");
  if (bytes[0] & kCompressed) return Bad("compression flag is set");
  if (bytes[0] & kInfinity) {
    CUZK_RETURN_IF_ERROR(CheckInfinity(bytes));
    return AffinePoint<F>::Infinity();
  }
  if (bytes[0] & kLarger) return Bad("sign flag is set on an uncompressed point");
  AffinePoint<F> p;
  if (!LoadCoordinate(bytes.data(), 0, p.x) || !LoadCoordinate(bytes.data() + sizeof(F), 0, p.y)) {
    return Bad("coordinate is not below the modulus");
  }
  // (0, 0) would pass for infinity in memory.
  if (p.IsInfinity() || !IsOnCurve(p)) return Bad("point is not on the curve");
  CUZK_RETURN_IF_ERROR(CheckMembership(p, check));
  return p;
}

template <class F>
StatusOr<AffinePoint<F>> ReadCompressed(ByteSpan bytes, PointCheck check) {
  if (bytes.size() != sizeof(F)) return Bad("wrong length");
  if (!(bytes[0] & kCompressed)) return Bad("compression flag is missing");
  if (bytes[0] & kInfinity) {
    CUZK_RETURN_IF_ERROR(CheckInfinity(bytes));
    return AffinePoint<F>::Infinity();
  }
  AffinePoint<F> p;
  if (!LoadCoordinate(bytes.data(), kFlags, p.x)) return Bad("coordinate is not below the modulus");
  auto y = Sqrt(p.x.Square() * p.x + CurveB<F>());
  if (!y) return Bad("point is not on the curve");
  bool larger = (bytes[0] & kLarger) != 0;
  p.y = IsLarger(*y) == larger ? *y : -*y;
  CUZK_RETURN_IF_ERROR(CheckMembership(p, check));
  return p;
}

template <class F>
std::array<uint8_t, 2 * sizeof(F)> WriteUncompressed(const AffinePoint<F>& p) {
  std::array<uint8_t, 2 * sizeof(F)> out{};
  if (p.IsInfinity()) {
    out[0] = kInfinity;
    return out;
  }
  StoreCoordinate(p.x, out.data());
  StoreCoordinate(p.y, out.data() + sizeof(F));
  return out;
}

template <class F>
std::array<uint8_t, sizeof(F)> WriteCompressed(const AffinePoint<F>& p) {
  std::array<uint8_t, sizeof(F)> out{};
  if (p.IsInfinity()) {
    out[0] = kCompressed | kInfinity;
    return out;
  }
  StoreCoordinate(p.x, out.data());
  out[0] |= kCompressed | (IsLarger(p.y) ? kLarger : 0);
  return out;
}

template <class F>
StatusOr<AffinePoint<F>> ReadListed(ByteSpan bytes, const ReadOptions& options) {
  CUZK_ASSIGN_OR_RETURN(AffinePoint<F> p, ReadUncompressed<F>(bytes, options.check));
  if (options.refuse_infinity && p.IsInfinity()) return Bad("point is infinity");
  return p;
}

/// Canonical words of one finite point with clean flags; false for anything else.
template <class F>
bool LoadWords(const uint8_t* bytes, AffinePoint<F>& out) {
  constexpr size_t kParts = 2 * sizeof(F) / kFpBytes;
  if ((bytes[0] & kFlags) != 0) return false;
  Fp* part = reinterpret_cast<Fp*>(&out);
  for (size_t k = 0; k < kParts; ++k) {
    Fp::Canonical value;
    for (size_t i = 0; i < 6; ++i) value[i] = LoadBe<uint64_t>(bytes + kFpBytes * k + 8 * (5 - i));
    if (!Fp::IsCanonical(value)) return false;
    // Serialised order is c1 first, order in memory c0 first.
    Fp& to = part[kParts == 2 ? k : k ^ 1];
    for (size_t i = 0; i < 6; ++i) to.limb[i] = value[i];
  }
  return true;
}

/// Eight points on lanes. False if any is not a plain good point; then nothing is said about which or why.
template <class F>
bool ReadEight(ByteSpan bytes, std::span<AffinePoint<F>, 8> out, PointCheck check) {
  EightPoints<F> points;
  for (size_t i = 0; i < 8; ++i) {
    if (!LoadWords(bytes.data() + 2 * sizeof(F) * i, points.point[i])) return false;
  }
  if (IfmaImportEight(points) != 0xff) return false;
  for (const AffinePoint<F>& p : points.point) {
    if (p.x.IsZero()) return false;
  }
  if (check == PointCheck::kFull) {
    EightPoints<F> image;
    int times = 0;
    if constexpr (std::is_same_v<F, Fp>) {
      times = 2;
      for (size_t i = 0; i < 8; ++i) image.point[i] = Phi(points.point[i]);
    } else {
      times = 1;
      for (size_t i = 0; i < 8; ++i) image.point[i] = Psi(points.point[i]);
    }
    if (IfmaIsNegatedMultiple(points, image, times).yes != 0xff) return false;
  }
  std::copy(std::begin(points.point), std::end(points.point), out.begin());
  return true;
}

template <class F>
Status ReadPoints(ByteSpan bytes, std::span<AffinePoint<F>> out, const ReadOptions& options, ThreadPool& pool) {
  constexpr size_t kSize = 2 * sizeof(F), kNone = std::numeric_limits<size_t>::max();
  CUZK_CHECK(bytes.size() == out.size() * kSize);
  std::atomic<size_t> first_bad{kNone};
  pool.ParallelFor(out.size(), 256, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end && i < first_bad.load(std::memory_order_relaxed); ++i) {
      if (options.arithmetic == Arithmetic::kIfma && end - i >= 8 &&
          ReadEight<F>(bytes.subspan(i * kSize, 8 * kSize), out.subspan(i).template first<8>(), options.check)) {
        i += 7;
        continue;
      }
      auto p = ReadListed<F>(bytes.subspan(i * kSize, kSize), options);
      if (p.ok()) {
        out[i] = *p;
        continue;
      }
      size_t seen = first_bad.load();
      while (i < seen && !first_bad.compare_exchange_weak(seen, i)) {
      }
      return;
    }
  });
  if (first_bad == kNone) return absl::OkStatus();
  size_t i = first_bad;
  return Annotate(ReadListed<F>(bytes.subspan(i * kSize, kSize), options).status(),
                  StrCat("point ", options.first_index + i));
}

}  // namespace

StatusOr<G1Affine> ReadG1Uncompressed(ByteSpan bytes, PointCheck check) { return ReadUncompressed<Fp>(bytes, check); }
StatusOr<G2Affine> ReadG2Uncompressed(ByteSpan bytes, PointCheck check) { return ReadUncompressed<Fp2>(bytes, check); }
StatusOr<G1Affine> ReadG1Compressed(ByteSpan bytes, PointCheck check) { return ReadCompressed<Fp>(bytes, check); }
StatusOr<G2Affine> ReadG2Compressed(ByteSpan bytes, PointCheck check) { return ReadCompressed<Fp2>(bytes, check); }

std::array<uint8_t, kG1UncompressedBytes> WriteG1Uncompressed(const G1Affine& p) { return WriteUncompressed(p); }
std::array<uint8_t, kG2UncompressedBytes> WriteG2Uncompressed(const G2Affine& p) { return WriteUncompressed(p); }
std::array<uint8_t, kG1CompressedBytes> WriteG1Compressed(const G1Affine& p) { return WriteCompressed(p); }
std::array<uint8_t, kG2CompressedBytes> WriteG2Compressed(const G2Affine& p) { return WriteCompressed(p); }

Status ReadG1Points(ByteSpan bytes, std::span<G1Affine> out, const ReadOptions& options, ThreadPool& pool) {
  return ReadPoints<Fp>(bytes, out, options, pool);
}
Status ReadG2Points(ByteSpan bytes, std::span<G2Affine> out, const ReadOptions& options, ThreadPool& pool) {
  return ReadPoints<Fp2>(bytes, out, options, pool);
}

}  // namespace cuzk::algebra
