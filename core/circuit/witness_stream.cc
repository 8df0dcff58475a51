#include "core/circuit/witness_stream.h"

#include <algorithm>

#include "core/circuit/stretch.h"

namespace cuzk::circuit {
namespace {

using r1cs::LeaseLayout;
using r1cs::Position;

template <class Spec>
Status Stream(const Spec& spec, const WitnessSource& source, const StreamOptions& options, const WitnessSink& sink,
              ThreadPool& pool) {
  using Writer = r1cs::WitnessWriter;
  const r1cs::Shape& shape = source.shape;
  const r1cs::Layout layout = options.layout;
  CUZK_ASSIGN_OR_RETURN(const auto* own, InputsFor(spec, source.inputs));
  const typename Kind<Spec>::template Circuit<Writer> circuit(spec, own);
  std::vector<std::byte> memory;
  std::vector<Fr> public_inputs;
  auto show = [&](const Position& begin, const Position& end) {
    const r1cs::WitnessView view(shape, layout, begin, end, memory.data());
    public_inputs.insert(public_inputs.end(), view.inputs().begin(), view.inputs().end());
    sink(view);
  };
  auto stretch = [&](const Position& begin, const Position& end) {
    const LeaseLayout planes = LeaseLayout::ForRange(shape, layout, begin, end);
    memory.resize(std::max<uint64_t>(memory.size(), planes.bytes));
    return internal::Stretch{shape, planes, begin, memory.data()};
  };
  const std::vector<Position>& blocks = shape.blocks;
  CUZK_ASSIGN_OR_RETURN(const auto head, internal::WriteHead<Writer>(circuit, stretch(Position{}, blocks.front())));
  show(Position{}, blocks.front());
  for (size_t first = 0; first + 1 < blocks.size();) {
    size_t last = first + 1;
    while (last + 1 < blocks.size() &&
           LeaseLayout::ForRange(shape, layout, blocks[first], blocks[last + 1]).bytes <= options.stretch_bytes) {
      ++last;
    }
    CUZK_RETURN_IF_ERROR(internal::WriteBlocks<Writer>(
        circuit, head, {first, last}, stretch(blocks[first], blocks[last]), {pool, options.arithmetic}));
    show(blocks[first], blocks[last]);
    first = last;
  }
  const Position end{shape.counts.inputs, shape.counts.aux, shape.counts.rows_with_inputs()};
  internal::WriteInputRows(stretch(blocks.back(), end), public_inputs);
  show(blocks.back(), end);
  return absl::OkStatus();
}

/// Hashes a vector that comes in pieces.
class VectorHash {
 public:
  explicit VectorHash(uint64_t chunk_elements) : chunk_elements_(chunk_elements) {}

  /// The next `count` elements, which `expand(offset, out)` gives.
  void Add(uint64_t count, const std::function<void(uint64_t, std::span<Fr>)>& expand) {
    constexpr uint64_t kPiece = 8192;
    for (uint64_t done = 0; done < count;) {
      const uint64_t room = chunk_elements_ - digest_.length % chunk_elements_;
      const uint64_t n = std::min({kPiece, count - done, room});
      elements_.resize(n);
      expand(done, elements_);
      bytes_.resize(n * Fr::kBytes);
      for (size_t i = 0; i < n; ++i) Put(elements_[i], bytes_.data() + i * Fr::kBytes);
      whole_.Update(bytes_);
      chunk_.Update(bytes_);
      done += n;
      digest_.length += n;
      if (n == room) EndChunk();
    }
  }
  VectorDigest Finish() {
    if (digest_.length % chunk_elements_ != 0) EndChunk();
    digest_.blake2s = whole_.Finish32();
    return std::move(digest_);
  }

 private:
  void EndChunk() {
    digest_.chunks.push_back(chunk_.Finish32());
    chunk_ = Hasher(HashKind::kBlake2s256);
  }
  /// Nearly every element is 0 or 1.
  static void Put(const Fr& x, uint8_t* out) {
    if (x.IsZero() || x.IsOne()) {
      std::memset(out, 0, Fr::kBytes);
      out[0] = x.IsOne();
    } else {
      const Fr::Canonical value = x.ToCanonical();
      std::memcpy(out, value.data(), Fr::kBytes);
    }
  }

  const uint64_t chunk_elements_;
  VectorDigest digest_;
  Hasher whole_{HashKind::kBlake2s256}, chunk_{HashKind::kBlake2s256};
  std::vector<Fr> elements_;
  std::vector<uint8_t> bytes_;
};

}  // namespace

Status StreamWitness(const WitnessSource& source, const StreamOptions& options, const WitnessSink& sink,
                     ThreadPool& pool) {
  CUZK_RETURN_IF_ERROR(CheckSpec(source.spec));
  return std::visit([&](const auto& one) { return Stream(one, source, options, sink, pool); }, source.spec);
}

StatusOr<WitnessDigest> DigestWitness(const WitnessSource& source, const WitnessDigestOptions& options,
                                      ThreadPool& pool) {
  WitnessDigest digest;
  const uint64_t chunk = options.chunk_elements;
  std::array<VectorHash, r1cs::kMatrixCount + 1> hashes = {VectorHash(chunk), VectorHash(chunk), VectorHash(chunk),
                                                           VectorHash(chunk)};
  auto sink = [&](const r1cs::WitnessView& view) {
    digest.inputs.insert(digest.inputs.end(), view.inputs().begin(), view.inputs().end());
    const Position begin = view.begin(), end = view.end();
    pool.ParallelFor(hashes.size(), 1, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) {
        if (i == r1cs::kMatrixCount) {
          hashes[i].Add(end.aux - begin.aux,
                        [&](uint64_t at, std::span<Fr> out) { view.ExpandAux(begin.aux + at, out); });
        } else {
          hashes[i].Add(end.rows - begin.rows, [&](uint64_t at, std::span<Fr> out) {
            view.ExpandRows(static_cast<r1cs::Matrix>(i), begin.rows + at, out);
          });
        }
      }
    });
    if (options.progress) options.progress(end.rows, source.shape.counts.rows_with_inputs());
  };
  CUZK_RETURN_IF_ERROR(StreamWitness(source, {.arithmetic = options.arithmetic}, sink, pool));
  for (size_t m = 0; m < r1cs::kMatrixCount; ++m) digest.rows[m] = hashes[m].Finish();
  digest.aux = hashes[r1cs::kMatrixCount].Finish();
  VectorHash inputs_hash(chunk);
  inputs_hash.Add(digest.inputs.size(), [&](uint64_t at, std::span<Fr> out) {
    std::copy_n(digest.inputs.begin() + static_cast<ptrdiff_t>(at), out.size(), out.begin());
  });
  digest.inputs_digest = inputs_hash.Finish();
  return digest;
}

}  // namespace cuzk::circuit
