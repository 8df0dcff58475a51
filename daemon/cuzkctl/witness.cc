// witness: digests of a partition's witness, to compare with other implementations.

#include <algorithm>

#include "core/base/hash.h"
#include "core/base/thread_pool.h"
#include "core/circuit/circuit.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/request_directory.h"
#include "core/memory/host_allocator.h"
#include "daemon/cuzkctl/command.h"

namespace cuzk::daemon {
namespace {

using algebra::Fr;

constexpr uint64_t kChunk = uint64_t{1} << 20;  // elements

struct WitnessFlags {
  std::string request;
  uint32_t partition = 0;
};

std::string Quoted(ByteSpan bytes) { return StrCat("\"", ToHex(bytes), "\""); }

// An array of quoted texts, one a line, indented as the recorded files are.
std::string List(const std::vector<std::string>& items, std::string_view indent) {
  std::string out = "[";
  for (size_t i = 0; i < items.size(); ++i) out += StrCat(i == 0 ? "\n" : ",\n", indent, "  ", items[i]);
  return StrCat(out, items.empty() ? "]" : StrCat("\n", indent, "]"));
}

// Digests of `length` elements that `expand(begin, out)` yields.
template <class Expand>
std::string VectorDigest(uint64_t length, const Expand& expand) {
  Hasher whole(HashKind::kBlake2s256);
  std::vector<std::string> chunks;
  std::vector<Fr> elements;
  std::vector<uint8_t> bytes;
  for (uint64_t begin = 0; begin < length; begin += kChunk) {
    elements.resize(std::min(kChunk, length - begin));
    expand(begin, std::span<Fr>(elements));
    bytes.resize(elements.size() * Fr::kBytes);
    for (size_t i = 0; i < elements.size(); ++i) {
      Fr::Bytes le = elements[i].ToBytesLe();
      std::copy(le.begin(), le.end(), bytes.begin() + static_cast<std::ptrdiff_t>(i * Fr::kBytes));
    }
    whole.Update(bytes);
    chunks.push_back(Quoted(Blake2s256(bytes)));
  }
  return StrCat("{\n    \"blake2s\": ", Quoted(whole.Finish32()), ",\n    \"chunks\": ", List(chunks, "    "),
                ",\n    \"len\": ", length, "\n  }");
}

std::string RowsDigest(const r1cs::Witness& witness, r1cs::Matrix matrix) {
  return VectorDigest(witness.shape().counts.rows_with_inputs(),
                      [&](uint64_t begin, std::span<Fr> out) { witness.ExpandRows(matrix, begin, out); });
}

std::string WitnessJson(const r1cs::Witness& witness) {
  std::span<const Fr> inputs = witness.inputs();
  std::vector<std::string> public_inputs;
  for (const Fr& input : inputs.subspan(1)) public_inputs.push_back(Quoted(input.ToBytesLe()));
  std::string inputs_digest = VectorDigest(inputs.size(), [&](uint64_t begin, std::span<Fr> out) {
    std::copy_n(inputs.begin() + static_cast<std::ptrdiff_t>(begin), out.size(), out.begin());
  });
  std::string aux = VectorDigest(witness.shape().counts.aux,
                                 [&](uint64_t begin, std::span<Fr> out) { witness.ExpandAux(begin, out); });
  std::string json = StrCat("{\n  \"a\": ", RowsDigest(witness, r1cs::Matrix::kA), ",\n  \"aux\": ", aux);
  json += StrCat(",\n  \"b\": ", RowsDigest(witness, r1cs::Matrix::kB));
  json += StrCat(",\n  \"c\": ", RowsDigest(witness, r1cs::Matrix::kC), ",\n  \"chunk\": ", kChunk);
  json +=
      ",\n  \"encoding\": \"Blake2s-256 over canonical 32-byte little-endian elements; a, b, c include the input "
      "rows\"";
  json += StrCat(",\n  \"inputs\": ", inputs_digest, ",\n  \"public_inputs\": ", List(public_inputs, "  "), "\n}");
  return json;
}

StatusOr<ControlExit> RunWitness(const Session&, const WitnessFlags& flags) {
  CUZK_ASSIGN_OR_RETURN(filecoin::DirectoryRequest read, filecoin::ReadRequestDirectory(flags.request));
  CUZK_ASSIGN_OR_RETURN(filecoin::ParsedRequest parsed,
                        filecoin::ParseRequest(std::move(read.request), {.allow_non_interactive = true}));
  if (flags.partition >= parsed.partitions.size()) {
    return absl::InvalidArgumentError(
        StrCat("there is no partition ", flags.partition, ": the request has ", parsed.partitions.size()));
  }
  const filecoin::Partition& partition = parsed.partitions[flags.partition];
  circuit::CircuitSpec spec = filecoin::SpecOf(*parsed.proof->circuit);
  ThreadPool pool(0);
  CUZK_ASSIGN_OR_RETURN(std::shared_ptr<const r1cs::Shape> shape, circuit::MakeShape(spec, pool));
  constexpr r1cs::Layout kLayout = r1cs::Layout::kNarrow;
  memory::AlignedAllocator allocator;
  CUZK_ASSIGN_OR_RETURN(memory::Lease lease,
                        memory::Lease::Standalone(allocator, r1cs::LeaseLayout::For(*shape, kLayout).bytes));
  StatusOr<r1cs::Witness> witness =
      circuit::WriteWitness(spec, shape, kLayout, partition.inputs, std::move(lease), pool);
  if (!witness.ok()) return Annotate(witness.status(), StrCat("partition ", flags.partition));
  PrintLine(WitnessJson(*witness));
  return ControlExit::kOk;
}

}  // namespace

void AddWitness(CLI::App& program, Commands& commands) {
  auto flags = std::make_shared<WitnessFlags>();
  CLI::App* witness = program.add_subcommand("witness", "Print digests of a partition's witness as JSON");
  witness->add_option("--request", flags->request, "Request directory")->required();
  witness->add_option("--partition", flags->partition, "Partition, from 0")->required();
  commands.push_back({witness, [flags](const Session& session) { return RunWitness(session, *flags); }});
}

}  // namespace cuzk::daemon
